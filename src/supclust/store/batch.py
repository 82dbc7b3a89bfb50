"""Records that come in: from a file or a data frame, with ids, as the model reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from supclust.cluster.frame import FRAME, is_frame
from supclust.data.errors import DataError
from supclust.data.records.columns import refuse_infinite
from supclust.data.tables.cast import Kind, cast_batch
from supclust.data.tables.reader import RecordTable, numbers_of, open_table

Source: TypeAlias = Any
"""A path of a table, a pandas data frame or a pyarrow table."""
TYPES = {"text": pa.string(), "number": pa.float64()}


class Batch(NamedTuple):
    """Records.

    Attributes:
        ids: array of strings, distinct.
        values: table of the columns that the model reads.
    """

    ids: Any
    values: Any


def source_table(source: Source) -> RecordTable:
    """Names of the columns of a source."""
    if is_frame(source):
        names = source.column_names if isinstance(source, pa.Table) else source.columns
        return RecordTable(FRAME, tuple(map(str, names)))
    return open_table(source)


def read_batch(source: Source, kinds: Mapping[str, Kind], id: str) -> Batch:
    """Read records.

    Args:
        source: file or frame.
        kinds: columns to read, and how.
        id: column of ids.
    """
    table = source_table(source)
    table.require(id, *kinds)
    wanted: dict[str, Kind] = {**kinds, id: kinds.get(id, "text")}
    if is_frame(source):
        whole = source
        if not isinstance(source, pa.Table):
            whole = pa.Table.from_pandas(source[list(wanted)], preserve_index=False)
        batches = [cast_batch(batch, wanted) for batch in whole.select(list(wanted)).to_batches()]
    else:
        batches = list(table.batches(wanted))
    schema = pa.schema([(name, TYPES[kind]) for name, kind in wanted.items()])
    read = pa.Table.from_batches(batches, schema).combine_chunks()
    ids = flat(read.column(id).cast(pa.string()))
    check_ids(ids, id, table.path)
    values = read.select(list(kinds))
    refuse_infinite(
        {n: c for n, c in columns_of(values).items() if kinds[n] == "number"}, table.path
    )
    return Batch(ids, values)


def check_ids(ids: Any, column: str, path: Path) -> None:
    """Refuse ids that are missing or repeated."""
    if ids.null_count:
        row = next(k for k, id in enumerate(ids) if not id.is_valid)
        raise DataError(
            f"every record must have an id (column {column!r}); received none in row {row + 1}. "
            "Fill it in",
            path,
        )
    counts = ids.value_counts()
    repeated = np.flatnonzero(counts.field("counts").to_numpy() > 1)
    if len(repeated):
        repeated_id = counts.field("values")[int(repeated[0])].as_py()
        raise DataError(
            f"ids must be distinct (column {column!r}); received {repeated_id!r} "
            f"{counts.field('counts')[int(repeated[0])].as_py()} times. Keep one record of each id",
            path,
        )


def columns_of(values: Any) -> dict[str, Any]:
    """Columns of a table as comparisons read them: lists of texts, arrays of numbers."""
    return {
        name: numbers_of(flat(values.column(name)))
        if pa.types.is_floating(values.schema.field(name).type)
        else values.column(name).to_pylist()
        for name in values.column_names
    }


def flat(column: Any) -> Any:
    """A chunked array as one array."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):
        return pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    return whole
