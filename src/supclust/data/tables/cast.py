"""Columns of any type of pyarrow as text or numbers; what is blank, null or NaN is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from supclust.data.errors import DataError

Kind: TypeAlias = Literal["text", "number"]
LIST_SEPARATOR = "\x1f"
"""Between the elements of a list that is read as text."""


def is_numeric(kind: Any) -> bool:
    """Whether a type of pyarrow is a number; a boolean is one."""
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(test(kind) for test in tests)


def cast_batch(batch: Any, kinds: Mapping[str, Kind]) -> Any:
    """The columns of a record batch as text or numbers."""
    import pyarrow as pa

    columns = [cast_column(batch.column(name), kind, name) for name, kind in kinds.items()]
    return pa.RecordBatch.from_arrays(columns, names=list(kinds))


def cast_column(column: Any, kind: Kind, name: str) -> Any:
    """An array of any type as strings or float64, null where a value is missing."""
    import pyarrow as pa

    source = column.type
    if kind == "number":
        if pa.types.is_boolean(source):
            column = column.cast(pa.int8())
        return column.cast(pa.float64(), safe=False)
    if pa.types.is_floating(source):
        column = _whole_numbers(column)
    elif is_list(source):
        column = _joined_lists(column)
    elif pa.types.is_dictionary(source):
        column = column.dictionary_decode()
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
        raise DataError(f"column {name!r} is neither text nor numbers but {source}; leave it out")
    return _blank_to_null(column.cast(pa.string()))


def is_list(kind: Any) -> bool:
    """Whether a type of pyarrow is a list."""
    from pyarrow import types

    return any(test(kind) for test in (types.is_list, types.is_large_list))


def _joined_lists(column: Any) -> Any:
    """Lists as text: their elements, without those that are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lists = column.cast(pa.list_(pa.string()))
    filled = pa.ListArray.from_arrays(lists.offsets, lists.values.fill_null(""))
    return pc.binary_join(filled, LIST_SEPARATOR)


def _whole_numbers(column: Any) -> Any:
    """Floats that are all whole numbers as integers, so that 7.0 is written 7; NaN is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.if_else(pc.is_nan(column), pa.nulls(1, column.type)[0], column)
    whole = pc.all(pc.equal(column, pc.trunc(column)), min_count=0).as_py()
    small = (pc.max(pc.abs(column)).as_py() or 0) < 2**53
    return column.cast(pa.int64()) if whole and small else column


def _blank_to_null(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    blank = pc.match_substring_regex(column, pattern=rf"^[\s{LIST_SEPARATOR}]*$")
    if not pc.any(blank).as_py():
        return column
    return pc.if_else(blank, pa.nulls(1, pa.string())[0], column)
