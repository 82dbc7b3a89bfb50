"""What the columns of a table hold: text or numbers, judged by all their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.records.comparisons import ColumnKind
from supclust.data.tables.reader import RecordTable, numbers_of


def read_columns(table: RecordTable, wanted: Mapping[str, ColumnKind]) -> dict[str, Any]:
    """All values of some columns."""
    found: dict[str, list[Any]] = {name: [] for name in wanted}
    for batch in table.batches(wanted):
        for name, kind in wanted.items():
            column = batch.column(name)
            found[name].append(numbers_of(column) if kind == "number" else column.to_pylist())
    if not any(len(part) for parts in found.values() for part in parts):
        raise DataError("has a header but no records; add some", table.path)
    return {
        name: np.concatenate(parts)
        if wanted[name] == "number"
        else [value for part in parts for value in part]
        for name, parts in found.items()
    }


def typed_columns(
    raw: Mapping[str, Any], wanted: Mapping[str, ColumnKind], text: Sequence[str]
) -> tuple[dict[str, Any], dict[str, ColumnKind], list[str]]:
    """Text that holds only numbers becomes numbers; columns without any value are left out."""
    values: dict[str, Any] = {}
    kinds: dict[str, ColumnKind] = {}
    notes = []
    for name, kind in wanted.items():
        column = raw[name]
        numbers = column if kind == "number" else None if name in text else _as_numbers(column)
        if numbers is not None and np.isnan(numbers).all():
            notes.append(f"column left out, it is empty: {name}")
        elif numbers is not None:
            values[name], kinds[name] = numbers, "number"
        elif not any(value and value.strip() for value in column):
            notes.append(f"column left out, it is empty: {name}")
        else:
            values[name], kinds[name] = column, "text"
    return values, kinds, notes


def _as_numbers(column: Sequence[str | None]) -> NDArray[np.float64] | None:
    """A column as numbers, NaN where empty; ``None`` if it holds anything else.

    A zero in front ("007") marks a code, not a number.

    >>> _as_numbers(["1.5", None]), _as_numbers(["007"]), _as_numbers(["a"])
    (array([1.5, nan]), None, None)
    """
    values = np.full(len(column), np.nan)
    for row, text in enumerate(column):
        if text is None or not text.strip():
            continue
        digits = text.strip().lstrip("+-")
        if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
            return None
        try:
            values[row] = float(text)
        except ValueError:
            return None
    return values
