"""Which rows have a key: the keys of all segments, sorted, by rule."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from supclust.resolve.blocking.keys import Keys
from supclust.store.folder.segments import SCHEMAS

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Sorted(NamedTuple):
    """Keys of a rule in one segment, ascending, and the row of each."""

    keys: Ints
    rows: NDArray[np.int32]


def keys_table(keys: list[Keys], first: int) -> Any:
    """The keys of the rows from ``first`` on, of every rule, as a table of a segment."""
    rules, items, rows = [], [], []
    for rule, one in enumerate(keys):
        owner = first + np.repeat(np.arange(len(one.starts) - 1), np.diff(one.starts))
        order = np.argsort(one.items, kind="stable")
        rules.append(np.full(len(order), rule, np.int16))
        items.append(one.items[order])
        rows.append(owner[order])
    return _as_table(rules, items, rows)


def _as_table(rules: list[NDArray[np.int16]], keys: list[Ints], rows: list[Ints]) -> Any:
    nothing = np.empty(0, np.int64)
    return pa.table(
        [
            np.concatenate([nothing.astype(np.int16), *rules]),
            np.concatenate([nothing, *keys]),
            np.concatenate([nothing, *rows]).astype(np.int32),
        ],
        schema=SCHEMAS["keys"],
    )


class KeyIndex:
    """Keys of a store.

    Args:
        rules: number of rules.
    """

    def __init__(self, rules: int) -> None:
        self.parts: list[list[Sorted]] = [[] for _ in range(rules)]

    def add(self, table: Any) -> None:
        """Add the keys of a segment."""
        rule, key, row = (column.to_numpy() for column in table.columns)
        bounds = np.searchsorted(rule, np.arange(len(self.parts) + 1))
        for k, parts in enumerate(self.parts):
            here = slice(bounds[k], bounds[k + 1])
            if bounds[k] < bounds[k + 1]:
                parts.append(Sorted(key[here], row[here]))

    def table(self, place: Ints) -> Any:
        """All keys as a table of one segment.

        Args:
            place: new number of every row; negative: its keys are left out.
        """
        rules, keys, rows = [], [], []
        for rule, parts in enumerate(self.parts):
            key = np.concatenate([np.empty(0, np.int64), *(part.keys for part in parts)])
            row = place[np.concatenate([np.empty(0, np.int64), *(part.rows for part in parts)])]
            key, row = key[row >= 0], row[row >= 0]
            order = np.lexsort((row, key))
            rules.append(np.full(len(order), rule, np.int16))
            keys.append(key[order])
            rows.append(row[order])
        return _as_table(rules, keys, rows)

    def sizes(self, rule: int, keys: Ints, alive: Bools) -> Ints:
        """Number of rows that are there, of every key."""
        sizes = np.zeros(len(keys), np.int64)
        for part in self.parts[rule]:
            before = np.concatenate([[0], np.cumsum(alive[part.rows])])
            sizes += before[np.searchsorted(part.keys, keys, "right")]
            sizes -= before[np.searchsorted(part.keys, keys, "left")]
        return sizes

    def members(self, rule: int, keys: Ints, alive: Bools) -> tuple[Ints, Ints]:
        """Positions in ``keys`` and the rows that have these, of the rows that are there."""
        owners, rows = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for part in self.parts[rule]:
            low = np.searchsorted(part.keys, keys, "left")
            counts = np.searchsorted(part.keys, keys, "right") - low
            owner = np.repeat(np.arange(len(keys)), counts)
            within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
            selected = part.rows[low[owner] + within]
            here = alive[selected]
            owners.append(owner[here])
            rows.append(selected[here])
        return np.concatenate(owners), np.concatenate(rows)

    def of_rows(self, rule: int, rows: Ints, n: int) -> tuple[Ints, Ints]:
        """Positions in ``rows`` (ascending) and the keys of these, of n rows in all."""
        is_selected = np.zeros(n, np.bool_)
        is_selected[rows] = True
        owners, keys = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for part in self.parts[rule]:
            here = is_selected[part.rows]
            owners.append(np.searchsorted(rows, part.rows[here]))
            keys.append(part.keys[here])
        return np.concatenate(owners), np.concatenate(keys)


def as_keys(owner: Ints, items: Ints, n: int) -> Keys:
    """Keys of n records from one entry per record and key, in any order."""
    order = np.lexsort((items, owner))
    counts = np.bincount(owner, minlength=n)
    return Keys(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), items[order])
