"""Columns of a table of records: a column is numbers only if all its values are, else text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.tables.formats import Kind
from supclust.data.tables.reader import RecordTable, numbers_of


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
    return {
        name: np.concatenate(found)
        if kinds[name] == "number"
        else [value for part in found for value in part]
        for name, found in parts.items()
    }


def typed_columns(
    raw: Mapping[str, Any], kinds: Mapping[str, Kind], text: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Kind], list[str]]:
    """Values, kinds and notes: text that holds only numbers becomes numbers.

    Args:
        raw: values of `read_columns`.
        kinds: the columns to compare, as they were read.
        text: columns that stay text. Columns without any value are left out, with a note.
    """
    values: dict[str, Any] = {}
    found: dict[str, Kind] = {}
    notes = []
    for name, kind in kinds.items():
        column = raw[name]
        numbers = column if kind == "number" else None if name in text else as_numbers(column)
        if numbers is not None and np.isnan(numbers).all():
            notes.append(f"column left out, it is empty: {name}")
        elif numbers is not None:
            values[name], found[name] = numbers, "number"
        elif not any(value and value.strip() for value in column):
            notes.append(f"column left out, it is empty: {name}")
        else:
            values[name], found[name] = column, "text"
    return values, found, notes


def as_numbers(column: Sequence[str | None]) -> NDArray[np.float64] | None:
    """A column as numbers, NaN where empty; ``None`` if it holds anything else.

    A zero in front ("007") marks a code, not a number.

    >>> as_numbers(["1.5", None]), as_numbers(["007"]), as_numbers(["a"])
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
