"""Audit of complete labels: is the labelled share of records everywhere what it is elsewhere?

Complete labels mean that an unlabelled record belongs to no labelled cluster. That is false for
records that were not labelled at all: those after the date of a reference, or of one value of a
column. Hardly any of them has a label, although the same blocks have labelled records elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supclust.data.block import IntArray
from supclust.data.records.columns import TypedColumn
from supclust.data.records.dates import date_order, is_plausible, parse_date
from supclust.data.records.table import UNKNOWN, Records

_MOST_VALUES = 60  # of a column that is not a date
_COLLAPSED = 0.2  # labelled records, as a share of those expected
_EXPECTED = {"date": 20.0, "text": 100.0, "code": 100.0}  # labelled records; kinds looked at
_SPREAD = 10.0  # blocks, or entities of a table without blocks, that the expected records are of


@dataclass(frozen=True)
class Collapse:
    """A part of the table where hardly anything is labelled.

    Attributes:
        column: along which.
        values: years or values where it is so.
        records: number of records there.
        labelled: of them.
        expected: labelled records if the share were that of the rest of each block.
        where: condition that leaves these records out.
    """

    column: str
    values: tuple[str, ...]
    records: int
    labelled: int
    expected: float
    where: str

    def __str__(self) -> str:
        """The warning."""
        shown = ", ".join(self.values[:4]) + (", ..." if len(self.values) > 4 else "")
        return (
            f"{self.column} {shown}: {self.labelled:,} of {self.records:,} records have a label "
            f"where {self.expected:,.0f} were to be expected; the labels are not complete there. "
            f"Leave these records out with --where '{self.where}'"
        )


def audit_labels(records: Records) -> list[Collapse]:
    """Where the labelled share of records collapses along a column.

    Args:
        records: with labels that are taken to be complete.

    Complexity: O(n) per column.
    """
    if (records.labels != UNKNOWN).all():
        return []
    block = np.full(records.n, UNKNOWN)
    for number, rows in enumerate(records.rows_by_block.values()):
        block[rows] = number
    findings = []
    for column in records.columns:
        if column.kind in _EXPECTED:
            findings += _collapses(column, records.labels, block)
    return findings


def _collapses(column: TypedColumn, labels: IntArray, block: IntArray) -> list[Collapse]:
    """Collapses along a column; a few large entities without a label are none."""
    bins = _years(column.values) if column.kind == "date" else _values(column)
    used = [value is not None for value in bins]
    names = sorted({value for value in bins if value is not None})
    if not 2 <= len(names) <= max(_MOST_VALUES, 400 * (column.kind == "date")):
        return []
    position = {name: k for k, name in enumerate(names)}
    rows = np.flatnonzero(np.array(used) & (block != UNKNOWN))
    bin_of = np.array([position[str(bins[row])] for row in rows.tolist()], np.int64)
    shape = (int(block.max()) + 1, len(names))
    sizes, hits = np.zeros(shape), np.zeros(shape)
    np.add.at(sizes, (block[rows], bin_of), 1)
    np.add.at(hits, (block[rows], bin_of), labels[rows] != UNKNOWN)
    rest_sizes, rest_hits = sizes.sum(1, keepdims=True) - sizes, hits.sum(1, keepdims=True) - hits
    expected = sizes * rest_hits / np.maximum(rest_sizes, 1)  # as in the rest of the block
    total, spread = expected.sum(0), np.minimum(expected, 1).sum(0)
    if shape[0] == 1:  # no blocks: in entities, by the records that an entity has of a value
        known = labels[rows] != UNKNOWN
        parts = len(np.unique(labels[rows][known] * len(names) + bin_of[known]))
        spread = total * parts / max(1, known.sum())
    several = spread >= (_SPREAD if shape[0] == 1 else min(_SPREAD, shape[0]))
    low = (total >= _EXPECTED[column.kind]) & several & (hits.sum(0) < _COLLAPSED * total)
    if not low.any() or low.mean() > 0.5:
        return []
    if column.kind != "date":
        return [
            _collapse(column.name, names, [k], sizes, hits, expected, f"{column.name}!={names[k]}")
            for k in np.flatnonzero(low).tolist()
        ]
    first, last = int(np.flatnonzero(low)[0]), int(np.flatnonzero(low)[-1])
    if low[first:].all() or (last == len(names) - 1 and low[first:].sum() == last - first + 1):
        where = f"{column.name}<{names[first]}"
    elif low[: last + 1].all():
        where = f"{column.name}>{names[last]}"
    else:
        where = f"{column.name}!={names[first]}"
    members = np.flatnonzero(low).tolist()
    return [_collapse(column.name, names, members, sizes, hits, expected, where)]


def _collapse(
    column: str,
    names: Sequence[str],
    members: list[int],
    sizes: NDArray[np.float64],
    hits: NDArray[np.float64],
    expected: NDArray[np.float64],
    where: str,
) -> Collapse:
    total, labelled, wanted = (float(part[:, members].sum()) for part in (sizes, hits, expected))
    values = tuple(names[k] for k in members)
    return Collapse(column, values, int(total), int(labelled), wanted, where)


def _years(values: Sequence[str | None]) -> list[str | None]:
    order = date_order([value for value in set(values) if value])
    known = {value: parse_date(value, order) for value in set(values) if value}
    years = {
        value: f"{date[0]:04d}" for value, date in known.items() if date and is_plausible(date)
    }
    return [years.get(value) if value else None for value in values]


def _values(column: TypedColumn) -> Sequence[str | None]:
    return column.values if column.distinct <= _MOST_VALUES else [None] * len(column.values)
