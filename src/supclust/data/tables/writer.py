"""Writer of tables, batch by batch, by extension; files are replaced atomically."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from supclust.data.errors import DataError
from supclust.data.files import atomic_file, require_output
from supclust.data.tables.reader import suffix_of

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".npz")


def require_writable(path: Path) -> None:
    """Refuse, before any work is done, a name that cannot become a table."""
    if suffix_of(path) not in SUFFIXES:
        raise DataError(f"the output must end in {', '.join(SUFFIXES)}; choose one of these", path)
    if path.is_dir():
        raise DataError("is a folder; name a file for the output", path)
    require_output(path)


def write_table(path: Path, schema: Any, batches: Iterable[Any]) -> None:
    """Write record batches of pyarrow atomically.

    Args:
        path: ends in one of `SUFFIXES`.
        schema: of all batches.
        batches: taken one at a time; npz alone collects them first.
    """
    require_writable(path)
    with atomic_file(path) as draft:
        _WRITERS[suffix_of(path)](draft, path, schema, batches)


def _write_text(draft: Path, path: Path, schema: Any, batches: Iterable[Any]) -> None:
    import pyarrow as pa
    from pyarrow import csv

    suffix = suffix_of(path)
    delimiter = "\t" if suffix.startswith(".tsv") else ","
    options = csv.WriteOptions(delimiter=delimiter, include_header=False, quoting_style="needed")
    compression = "gzip" if suffix.endswith(".gz") else None
    with pa.output_stream(str(draft), compression=compression) as stream:
        names = [_quoted(name, delimiter) for name in schema.names]
        stream.write((delimiter.join(names) + "\n").encode())
        with csv.CSVWriter(stream, schema, write_options=options) as writer:
            for batch in batches:
                writer.write(batch)


def _quoted(name: str, delimiter: str) -> str:
    plain = not any(mark in name for mark in (delimiter, '"', "\n", "\r"))
    return name if plain else '"' + name.replace('"', '""') + '"'


def _write_parquet(draft: Path, path: Path, schema: Any, batches: Iterable[Any]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Ids and clusters mostly count up: as differences they take a tenth of the bytes.
    counts = [field.name for field in schema if pa.types.is_integer(field.type)]
    with pq.ParquetWriter(
        str(draft),
        schema,
        use_dictionary=[name for name in schema.names if name not in counts],
        column_encoding=dict.fromkeys(counts, "DELTA_BINARY_PACKED"),
    ) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _write_npz(draft: Path, path: Path, schema: Any, batches: Iterable[Any]) -> None:
    import pyarrow as pa

    table = pa.Table.from_batches(list(batches), schema)
    arrays = {}
    for name in schema.names:
        values = table.column(name).to_numpy()
        if values.dtype == object:
            values = np.array(["" if value is None else str(value) for value in values])
        arrays[name] = values
    # Not by numpy.savez, whose arguments have names that columns may have.
    with ZipFile(draft, "w") as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asanyarray(values), allow_pickle=False)


_WRITERS = {
    ".parquet": _write_parquet,
    ".npz": _write_npz,
    **dict.fromkeys((".csv", ".tsv", ".csv.gz", ".tsv.gz"), _write_text),
}
