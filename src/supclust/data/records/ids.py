"""Ids that occur more than once, found in 8 bytes per record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from supclust.data.block import IntArray


class RepeatedIds(NamedTuple):
    """Ids of several records.

    Attributes:
        ids: how many there are.
        example: the first in the table.
        records: that have the example.
    """

    ids: int
    example: str
    records: int

    def __str__(self) -> str:
        if self.ids == 1:
            return f"the id {self.example!r} occurs {self.records:,} times"
        return (
            f"{self.ids:,} ids occur more than once, as {self.example!r} ({self.records:,} times)"
        )


class IdCounter:
    """Counts ids, batch by batch; it keeps their hashes, not the ids.

    >>> counter = IdCounter()
    >>> counter.add(["a", "b", None, "a"])
    >>> str(counter.repeated(["a", "b", None, "a"]))
    "the id 'a' occurs 2 times"
    """

    def __init__(self) -> None:
        self._hashes: list[IntArray] = []

    def add(self, ids: Iterable[Any]) -> None:
        """Count some ids; missing ones do not count."""
        self._hashes.append(np.fromiter(map(hash, _texts(ids)), np.int64))

    def repeated(self, ids: Iterable[Any]) -> RepeatedIds | None:
        """Which ids occurred more than once, if any.

        Args:
            ids: all of them once more, which are read up to the first that is repeated.
        """
        hashes = np.sort(np.concatenate([np.empty(0, np.int64), *self._hashes]))
        again = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
        if not len(again):
            return None
        known = set(again.tolist())
        example = next(text for text in _texts(ids) if hash(text) in known)
        first, stop = (np.searchsorted(hashes, hash(example), side) for side in ("left", "right"))
        return RepeatedIds(len(again), example, int(stop - first))


def repeated_ids(ids: Iterable[Any]) -> RepeatedIds | None:
    """Ids that occur more than once in a sequence."""
    counter = IdCounter()
    counter.add(ids)
    return counter.repeated(ids)


def _texts(ids: Iterable[Any]) -> Iterator[str]:
    """Ids as text, without those that are missing: null, blank or NaN."""
    return (text for id in ids if id is not None and id == id and (text := str(id).strip()))
