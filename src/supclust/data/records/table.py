"""A table of records read whole: columns by kind, labels, blocks, ids, records to keep apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.block import ONE_BLOCK, IntArray, encode_labels
from supclust.data.errors import DataError
from supclust.data.records.columns import TypedColumn, compared, read_columns, type_columns
from supclust.data.records.features import ColumnKind
from supclust.data.records.where import Where
from supclust.data.tables.cast import Kind
from supclust.data.tables.reader import RecordTable, open_table

UNKNOWN = -1
"""Code of a record without a label, or without a value that keeps it apart."""


@dataclass(frozen=True)
class ColumnChoice:
    """Which columns of a table mean what.

    Attributes:
        label: cluster of a record, empty where it is not known; ``None``: no column of labels.
        block: block of a record; ``None``: one block.
        id: id of a record, never compared; default: ``id`` where there is such a column.
        columns: to compare; default: all others.
        ignore: not to compare.
        text: to be read as text although they hold numbers (zip codes, phone numbers).
        kinds: of columns, where they are not to be inferred.
        distinct: records that share a value of this column are never of one cluster.
        where: only the records that meet this condition are read.
    """

    label: str | None = None
    block: str | None = None
    id: str | None = None
    columns: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    kinds: Mapping[str, ColumnKind] = field(default_factory=dict)
    distinct: str | None = None
    where: Where | None = None

    @property
    def chosen_kinds(self) -> dict[str, ColumnKind]:
        """Kinds that are not inferred."""
        return {**dict.fromkeys(self.text, "text"), **self.kinds}

    @property
    def special(self) -> list[str]:
        """Columns that mean something and are not compared, apart from the id."""
        return [name for name in (self.label, self.block, self.distinct) if name is not None]


@dataclass(frozen=True, eq=False)
class Records:
    """Records of a table.

    Attributes:
        path: of the table.
        choice: of columns, with the id filled in.
        columns: those to compare, with their kinds; some are left out (`notes`).
        labels: (n,) cluster of every record, `UNKNOWN` where there is none.
        label_names: of the clusters.
        blocks: (n,) block of every record, ``None`` where it is empty.
        ids: (n,) of the records; counted from 1 where there is no column.
        distinct: (n,) records that share a code are different, `UNKNOWN`: nothing is said.
    """

    path: Path
    choice: ColumnChoice
    columns: tuple[TypedColumn, ...]
    labels: IntArray
    label_names: tuple[str, ...]
    blocks: Sequence[str | None]
    ids: Sequence[str]
    distinct: IntArray

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.labels)

    @property
    def values(self) -> dict[str, Any]:
        """Values of the columns by name."""
        return {one.name: one.values for one in self.columns}

    @property
    def kinds(self) -> dict[str, ColumnKind]:
        """Kinds of the columns that are compared."""
        return compared(self.columns)

    @property
    def notes(self) -> list[str]:
        """Which columns are left out, and why; labels that may not be meant as such."""
        notes = [one.note for one in self.columns if one.note is not None]
        if str(UNKNOWN) in self.label_names:
            many = int((self.labels == self.label_names.index(str(UNKNOWN))).sum())
            notes.append(
                f"{many:,} records have the label {UNKNOWN}, which is taken as the name of one "
                "entity; leave labels that are not known empty"
            )
        return notes

    @cached_property
    def rows_by_block(self) -> dict[str, IntArray]:
        """Rows of every block, in the order of the file; records without a block are left out."""
        rows: dict[str, list[int]] = {}
        for row, block in enumerate(self.blocks):
            if block is not None:
                rows.setdefault(block, []).append(row)
        return {name: np.array(members, np.int64) for name, members in rows.items()}


def read_records(path: str | Path, choice: ColumnChoice) -> Records:
    """Read a table of records whole.

    Args:
        path: CSV, TSV, Parquet or npz.
        choice: which column means what.

    Raises:
        DataError: a column is not there, or nothing can be compared.
    """
    table = open_table(path)
    names, choice = _choose(table, choice)
    wanted: dict[str, Kind] = {
        name: "number" if name in table.numeric else "text" for name in names
    }
    wanted |= dict.fromkeys([*choice.special, *([choice.id] if choice.id else [])], "text")
    if choice.where is not None:
        wanted.setdefault(choice.where.column, "text")
    raw = read_columns(table, wanted)
    if choice.where is not None:
        raw = choice.where.apply(raw, table.path)
    columns = tuple(type_columns(table, names, raw, choice.chosen_kinds))
    if choice.id is None:  # a column that is different in every record names the records
        choice = replace(choice, id=next((one.name for one in columns if one.kind == "id"), None))
    n = len(next(iter(raw.values())))
    labels, label_names = _codes(raw[choice.label] if choice.label else [None] * n)
    records = Records(
        table.path,
        choice,
        columns,
        labels,
        label_names,
        raw[choice.block] if choice.block else [ONE_BLOCK] * n,
        _ids(raw[choice.id] if choice.id else None, n),
        _codes(raw[choice.distinct])[0] if choice.distinct else np.full(n, UNKNOWN),
    )
    if not records.kinds:
        raise DataError(
            f"no column can be compared ({'; '.join(records.notes)}). Add one, or choose "
            "with --kind",
            table.path,
        )
    return records


def _codes(values: Sequence[str | None]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Codes by first appearance, `UNKNOWN` where a value is missing, and their names."""
    codes = np.full(len(values), UNKNOWN, np.int64)
    known = [row for row, value in enumerate(values) if value is not None]
    codes[known], names = encode_labels([str(values[row]).strip() for row in known])
    return codes, names


def _ids(values: Sequence[str | None] | None, n: int) -> list[str]:
    if values is None:
        return [str(row + 1) for row in range(n)]
    if isinstance(values, np.ndarray):
        values = [f"{value:.17g}" for value in values]
    return [f"record {row + 1}" if id is None else id for row, id in enumerate(values)]


def _choose(table: RecordTable, choice: ColumnChoice) -> tuple[list[str], ColumnChoice]:
    """Columns to compare, and the choice with the id filled in."""
    id = choice.id or ("id" if "id" in table.names else None)
    named = [*choice.special, *([choice.id] if choice.id else [])]
    table.require(*named, *choice.columns, *choice.ignore, *choice.chosen_kinds)
    if choice.where is not None:
        table.require(choice.where.column)
    if choice.label in choice.columns:
        raise DataError(
            f"the label {choice.label!r} cannot be compared: new records have none. Leave it out "
            "of --columns",
            table.path,
        )
    left_out = {*choice.special, id, *choice.ignore}
    names = list(choice.columns) or [name for name in table.names if name not in left_out]
    if not names:
        raise DataError(
            "has no column to compare besides label, block and id; add columns that tell records "
            "apart",
            table.path,
        )
    return names, replace(choice, id=id)
