"""Batches of rows from each format of tables: delimited text, Parquet and npz."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.files import open_text
from supclust.data.tables.cast import Kind, cast_batch, cast_column

BATCH_ROWS = 65536
PLACEHOLDERS = ("NA", "N/A", "#N/A", "NULL")
"""What programs write into text files where a value is not known; read as empty."""
_BATCH_BYTES = 8 << 20
_BUFFER = 1 << 20  # read ahead in a column of Parquet; without it a whole row group is held
_MATRICES = ("features", "X", "x")  # arrays of an npz whose columns are numbered x1, x2, ...


# -- text -------------------------------------------------------------------------------------


def text_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Fields of every row that is not blank, the header included, with the number of its line."""
    with open_text(path) as stream:
        rows = csv.reader(stream, delimiter=delimiter(path))
        for fields in rows:
            if fields:
                fields[0] = fields[0].removeprefix("\ufeff")
                yield rows.line_num, fields


def header(path: Path) -> tuple[str, ...]:
    """Names of the columns of a text file, without spaces around them."""
    return tuple(name.strip() for name in _raw_header(path))


def _raw_header(path: Path) -> tuple[str, ...]:
    return tuple(next((fields for _, fields in text_rows(path)), ()))


def delimiter(path: Path) -> str:
    """A tab or a comma, whichever the first line has."""
    with open_text(path) as stream:
        return "\t" if "\t" in next((line for line in stream if line.strip()), "") else ","


def refuse_ragged(path: Path) -> None:
    """Raise for the first row with another number of fields than the header has."""
    width = len(header(path))
    for line, fields in text_rows(path):
        if len(fields) != width:
            raise DataError(
                f"expected {width} fields as in the header; received {len(fields)}", path, line
            )


def text_batches(path: Path, kinds: Mapping[str, Kind]) -> Iterator[Any]:
    """Columns of a text file, read as the kinds say."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    arrow = {"number": pa.float64(), "text": pa.string()}
    raw_names = dict(zip(header(path), _raw_header(path), strict=True))
    types = {raw_names[name]: arrow[kind] for name, kind in kinds.items()}
    with pa.input_stream(str(path), compression="detect") as stream:
        reader = arrow_csv.open_csv(
            stream,
            read_options=arrow_csv.ReadOptions(block_size=_BATCH_BYTES),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter(path), newlines_in_values=True
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=["", *PLACEHOLDERS],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
        for batch in reader:
            if batch.num_rows:
                yield cast_batch(batch.rename_columns(list(kinds)), kinds)


# -- parquet ----------------------------------------------------------------------------------


def parquet_batches(path: Path, names: Sequence[str]) -> Iterator[Any]:
    """Columns of a Parquet file with the types of the file."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, buffer_size=_BUFFER) as file:
        raw = {name.strip(): name for name in file.schema_arrow.names}
        chosen = [raw[name] for name in names]
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=chosen):
            if batch.num_rows:
                yield batch.select(chosen).rename_columns(list(names))


# -- npz --------------------------------------------------------------------------------------


def npz_columns(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an npz file by column; a matrix is several columns."""
    columns: dict[str, NDArray[Any]] = {}
    with np.load(path, allow_pickle=False) as archive:
        for name in archive:
            array, name = archive[name], name.strip()
            if not isinstance(array, np.ndarray):
                raise DataError(f"member {name!r} is not an array of NumPy; leave it out", path)
            if array.ndim == 2 and array.dtype.kind in "fiub":
                stem = "x" if name in _MATRICES else f"{name}_"
                columns |= {f"{stem}{i + 1}": array[:, i] for i in range(array.shape[1])}
            elif array.ndim == 1:
                columns[name] = array
            else:
                raise DataError(
                    f"array {name!r} must be a column (n,) or numbers (n, d); received "
                    f"{array.dtype} {array.shape}",
                    path,
                )
    lengths = {len(array) for array in columns.values()}
    if len(lengths) > 1:
        raise DataError(f"arrays must have one length; received {sorted(lengths)}", path)
    return columns


def npz_batches(path: Path, kinds: Mapping[str, Kind]) -> Iterator[Any]:
    """Columns of an npz file, read as the kinds say."""
    import pyarrow as pa

    columns = npz_columns(path)
    chosen = []
    for name, kind in kinds.items():
        values = columns[name]
        if values.dtype.kind not in "fiub":
            values = values.astype(str)
        chosen.append(cast_column(pa.array(values.tolist()), kind, name))
    for start in range(0, len(next(iter(columns.values()))), BATCH_ROWS):
        parts = [array.slice(start, BATCH_ROWS) for array in chosen]
        yield pa.RecordBatch.from_arrays(parts, names=list(kinds))
