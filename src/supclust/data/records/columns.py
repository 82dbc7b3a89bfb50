"""Columns of a table of records: their values, their kinds, and what they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.records.features import ColumnKind
from supclust.data.records.kinds import InferredKind, as_numbers, infer_kind
from supclust.data.tables.cast import LIST_SEPARATOR, Kind
from supclust.data.tables.reader import RecordTable, numbers_of

_LEFT_OUT: dict[str, str] = {
    "empty": "it is empty",
    "constant": "it is the same in every record",
    "id": "it is an id, different in every record, and names them",
}


@dataclass(frozen=True, eq=False)
class TypedColumn:
    """A column of a table.

    Attributes:
        name: of the column.
        kind: inferred or chosen.
        values: texts (``None``: missing), or float64 (NaN: missing) of numbers.
        missing: number of records without a value.
        distinct: number of different values.
        examples: the first few of them, to be shown.
    """

    name: str
    kind: InferredKind
    values: Any
    missing: int
    distinct: int
    examples: tuple[str, ...]

    @property
    def note(self) -> str | None:
        """Why it is not compared; ``None`` if it is."""
        reason = _LEFT_OUT.get(self.kind)
        if reason is None:
            return None
        cure = f"; --kind {self.name}=code compares it" if self.kind == "id" else ""
        return f"column left out, {reason}: {self.name}{cure}"


def read_columns(table: RecordTable, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """All values of some columns: lists of texts (``None``: missing), or float64 (NaN: missing)."""
    parts: dict[str, list[Any]] = {name: [] for name in kinds}
    rows = 0
    for batch in table.batches(kinds):
        rows += batch.num_rows
        for name, kind in kinds.items():
            column = batch.column(name)
            parts[name].append(numbers_of(column) if kind == "number" else column.to_pylist())
    if not rows:
        raise DataError("has a header but no records; add some", table.path)
    columns = {
        name: np.concatenate(pieces)
        if kinds[name] == "number"
        else [value for part in pieces for value in part]
        for name, pieces in parts.items()
    }
    refuse_infinite(columns, table.path)
    return columns


def refuse_infinite(values: Mapping[str, Any], path: Path, first: int | None = 0) -> None:
    """Refuse an infinite number in a column of numbers; NaN is a missing value.

    Args:
        values: columns by name; those of text are lists.
        path: of the table.
        first: row of the table that the columns begin with; ``None``: not known.
    """
    for name, column in values.items():
        if isinstance(column, np.ndarray) and np.isinf(column).any():
            row = int(np.isinf(column).argmax())
            where = "" if first is None else f" in row {first + row + 1}"
            raise DataError(
                f"column {name!r} must hold finite numbers, or be empty where one is not known; "
                f"received {column[row]}{where}. Correct it, or leave it empty",
                path,
            )


def type_columns(
    table: RecordTable,
    names: Sequence[str],
    raw: Mapping[str, Any],
    chosen: Mapping[str, ColumnKind],
) -> list[TypedColumn]:
    """Kinds and values of columns.

    Args:
        table: they are from.
        names: of the columns.
        raw: their values of `read_columns`, as numbers where the file says that they are.
        chosen: kinds that are not to be inferred.
    """
    return [_typed(name, raw[name], chosen.get(name), table) for name in names]


def _typed(name: str, values: Any, chosen: ColumnKind | None, table: RecordTable) -> TypedColumn:
    is_number = isinstance(values, np.ndarray)
    texts: Sequence[str | None] = _as_texts(values) if is_number else values
    known = {text: None for text in texts if text is not None and text.strip()}
    if is_number and not (np.isnan(values) | (values == np.rint(values))).all():
        kind: InferredKind = chosen or "number"
    else:
        kind = chosen or infer_kind(name, texts, is_list=name in table.lists)
    if not known:
        kind = "empty"
    typed: Any = texts
    if kind == "number":
        typed = values if is_number else _numbers(name, texts, table)
        refuse_infinite({name: typed}, table.path)
    missing = sum(text is None or not text.strip() for text in texts)
    examples = tuple(_shown(text) for text in tuple(known)[:3])
    return TypedColumn(name, kind, typed, missing, len(known), examples)


def _shown(text: str) -> str:
    """A value as people write it: elements of a list separated by semicolons."""
    return " ".join("; ".join(p for p in text.split(LIST_SEPARATOR) if p.strip()).split())


def _as_texts(values: NDArray[np.float64]) -> list[str | None]:
    """Numbers as text: 7.0 as 7, NaN as missing."""
    distinct, inverse = np.unique(values, return_inverse=True)
    texts = [
        None if value != value else str(int(value)) if value == int(value) else repr(value)
        for value in distinct.tolist()
    ]
    return [texts[k] for k in inverse.tolist()]


def _numbers(name: str, texts: Sequence[str | None], table: RecordTable) -> NDArray[np.float64]:
    numbers = as_numbers(texts)
    if numbers is not None:
        return numbers
    for row, text in enumerate(texts):
        if text and text.strip() and as_numbers([text.lstrip("+-0") or "0"]) is None:
            raise DataError(
                f"column {name!r} was to be numbers (--kind); received {text!r}. Correct it, or "
                "choose another kind",
                table.path,
                table.line(row),
            )
    return np.array([float(text) if text and text.strip() else np.nan for text in texts])


def compared(columns: Sequence[TypedColumn]) -> dict[str, ColumnKind]:
    """Kinds of the columns that are compared."""
    return {
        one.name: one.kind
        for one in columns
        if one.kind != "empty" and one.kind != "constant" and one.kind != "id"
    }
