"""Segments of a store: folders of Parquet files that are written once and never changed.

A segment holds what one version added: records, keys, pairs, clusters, constraints and log. The
state of a store is that of its segments, one after the other. Rows number the records of all
segments through, in their order; a changed record has a new row, and its former one is removed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from supclust.data.errors import DataError

SCHEMAS: dict[str, Any] = {
    # Rows are numbered through all segments.
    "records": pa.schema([("row", pa.int64()), ("id", pa.string())]),
    # Rows of earlier records that are gone: deleted, or changed and so another row.
    "removed": pa.schema([("row", pa.int64())]),
    # What rules find candidates by, sorted by rule and key.
    "keys": pa.schema([("rule", pa.int16()), ("key", pa.int64()), ("row", pa.int32())]),
    # Candidate pairs closer than `missing`; the id of left is the smaller one.
    "pairs": pa.schema(
        [("left", pa.int32()), ("right", pa.int32()), ("dissimilarity", pa.float32())]
    ),
    # Pairs of earlier segments that are no candidates any more.
    "dropped": pa.schema([("left", pa.int32()), ("right", pa.int32())]),
    # Cluster of rows that are new or have another one than before.
    "clusters": pa.schema([("row", pa.int64()), ("cluster", pa.int64())]),
    "log": pa.schema(
        [
            ("version", pa.int64()),
            ("time", pa.string()),
            ("command", pa.string()),
            ("event", pa.string()),
            ("cluster", pa.int64()),
            ("other", pa.int64()),
            ("record", pa.string()),
            ("other_record", pa.string()),
        ]
    ),
    # All constraints, where this version changed them.
    "constraints": pa.schema(
        [
            ("correction", pa.int64()),
            ("constraint", pa.string()),
            ("id_a", pa.string()),
            ("id_b", pa.string()),
            ("active", pa.bool_()),
            ("version", pa.int64()),
        ]
    ),
}
"""Tables of a segment; ``values`` has the columns that the model reads, a row of each record."""
VALUES = "values"
_ROWS_PER_GROUP = 1 << 20


def records_table(ids: Any, first: int) -> Any:
    """Records whose rows are numbered from ``first`` on."""
    rows = np.arange(first, first + len(ids))
    return pa.table([rows, ids], schema=SCHEMAS["records"])


@dataclass
class Segment:
    """Tables of pyarrow by name; those that are absent are empty."""

    tables: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        if name in self.tables:
            return self.tables[name]
        return SCHEMAS[name].empty_table()


def write_segment(folder: Path, segment: Segment) -> None:
    """Write the tables of a segment that are not empty, down to the disk."""
    folder.mkdir(parents=True)
    for name, table in segment.tables.items():
        if not len(table) and name != "constraints":
            continue
        path = folder / f"{name}.parquet"
        # Hashes, rows and distances hardly compress; rules, ids and texts do.
        plain = name in ("keys", "pairs")
        pq.write_table(
            table,
            path,
            row_group_size=_ROWS_PER_GROUP,
            compression="none" if plain else "zstd",
            use_dictionary=["rule"] if name == "keys" else not plain,
            write_page_checksum=True,
        )
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
    sync_folder(folder)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Write the names of a folder's files down to the disk, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_table_of(folder: Path, name: str, schema: Any) -> Any:
    """One table of a segment, checked; empty if the segment has none.

    Args:
        folder: of the segment.
        name: of the table.
        schema: that it must have.
    """
    path = folder / f"{name}.parquet"
    if not folder.is_dir():
        raise DataError(
            "a part of the store is missing. If it was changed in the meantime, open it again; "
            "else restore the whole folder",
            folder,
        )
    if not path.exists():
        return schema.empty_table()
    try:
        table = pq.read_table(path, page_checksum_verification=True, partitioning=None)
    except (pa.ArrowException, OSError) as problem:
        first = str(problem).splitlines()[0]
        raise DataError(f"is damaged ({first}); restore the whole store", path) from None
    if not table.schema.equals(schema, check_metadata=False):
        received = ", ".join(f"{one.name} {one.type}" for one in table.schema)
        required = ", ".join(f"{one.name} {one.type}" for one in schema)
        raise DataError(
            f"must have the columns {required}; received {received}. Restore the whole store", path
        )
    return table.replace_schema_metadata(None)
