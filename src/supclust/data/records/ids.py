"""Ids that several records have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple


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


def repeated_ids(ids: Iterable[Any]) -> RepeatedIds | None:
    """Ids that occur more than once, if any; missing ones (null, blank, NaN) do not count.

    >>> str(repeated_ids(["a", "b", None, "a"]))
    "the id 'a' occurs 2 times"
    """
    counts = Counter(str(id).strip() for id in ids if id is not None and id == id)
    several = [(id, count) for id, count in counts.items() if count > 1 and id]
    return RepeatedIds(len(several), *several[0]) if several else None
