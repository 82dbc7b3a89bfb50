"""The one reader of tables with a header: CSV, TSV, Parquet and npz, by extension.

Text files and Parquet are read a batch at a time, so that memory does not depend on the length of
the file; npz holds whole arrays and is read whole. In text files only an empty field is a missing
value. The caller chooses whether a column is read as text or as numbers: "007" read as text stays
"007". `supclust.data.tables.columns` and `supclust.data.records.columns` decide what columns are.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError, missing, require_file
from supclust.data.files import open_text

Kind: TypeAlias = Literal["text", "number"]
Number = TypeVar("Number", np.float64, np.int32)
TEXT_SUFFIXES = tuple(
    f"{kind}{gz}" for gz in ("", ".gz") for kind in (".csv", ".tsv", ".txt", ".data")
)
SUFFIXES = (*TEXT_SUFFIXES, ".parquet", ".npz")
BATCH_ROWS = 65536
_BATCH_BYTES = 8 << 20
_BUFFER = 1 << 20  # read ahead in a column of Parquet; without it a whole row group is held
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")  # Parquet columns that are no columns in pandas
_MATRICES = ("features", "X", "x")  # arrays of an npz whose columns are numbered x1, x2, ...


@dataclass(frozen=True)
class RecordTable:
    """A table on disk.

    Attributes:
        path: its file.
        names: of the columns, in order.
        numeric: columns that the file itself says are numbers; none for text files.
    """

    path: Path
    names: tuple[str, ...]
    numeric: frozenset[str] = frozenset()

    @property
    def holds_pairs(self) -> bool:
        """Whether it is a table of pairs: it has two columns of ids."""
        return {"id_a", "id_b"} <= set(self.names)

    def require(self, *names: str) -> None:
        """Refuse columns that are not there."""
        for name in names:
            if name not in self.names:
                shown = ", ".join(self.names[:30]) + (", ..." if len(self.names) > 30 else "")
                raise DataError(
                    f"column {name!r} not found; the columns are {shown}. "
                    "Name one of these, as it is written there",
                    self.path,
                )

    def line(self, row: int) -> int | None:
        """Line of a text file (from 1) that holds a row below the header; else ``None``."""
        if suffix_of(self.path) not in TEXT_SUFFIXES:
            return None
        return next(
            (line for i, (line, _) in enumerate(_text_rows(self.path)) if i == row + 1), None
        )

    def batches(self, kinds: Mapping[str, Kind]) -> Iterator[Any]:
        """Record batches of pyarrow with the columns asked for, in the order of the file.

        Args:
            kinds: ``text`` gives strings, ``number`` float64; null where a value is missing.
        """
        self.require(*kinds)
        suffix = suffix_of(self.path)
        with _located_errors(self.path):
            if suffix == ".parquet":
                for batch in _parquet_batches(self.path, list(kinds)):
                    yield _cast_batch(batch, kinds)
            elif suffix == ".npz":
                yield from _npz_batches(self.path, kinds)
            else:
                yield from _text_batches(self.path, kinds)

    def raw_batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Record batches of some columns with the types of the file; text files give strings."""
        self.require(*names)
        if suffix_of(self.path) == ".parquet":
            with _located_errors(self.path):
                yield from _parquet_batches(self.path, names)
        else:
            yield from self.batches(
                {name: "number" if name in self.numeric else "text" for name in names}
            )


def suffix_of(path: Path) -> str:
    """Last suffix, with the one before a final ``.gz``.

    >>> suffix_of(Path("a.b.tsv.gz"))
    '.tsv.gz'
    """
    return "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix


def open_table(path: str | Path) -> RecordTable:
    """Read the names of the columns of a table, and the types that the file declares."""
    path = require_file(path)
    suffix = suffix_of(path)
    if suffix not in SUFFIXES:
        raise DataError(f"a table must end in {', '.join(SUFFIXES)}; rename or convert it", path)
    with _located_errors(path):
        if suffix == ".parquet":
            import pyarrow.parquet as pq

            schema = pq.read_schema(path)
            names = tuple(name for name in schema.names if not _PANDAS_INDEX.fullmatch(name))
            numeric = [field.name for field in schema if is_numeric(field.type)]
        elif suffix == ".npz":
            arrays = _npz_columns(path)
            names = tuple(arrays)
            numeric = [name for name, array in arrays.items() if array.dtype.kind in "fiub"]
        else:
            names, numeric = _header(path), []
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise DataError(
            f"column names must be distinct, {repeated[0]!r} is repeated",
            path,
            RecordTable(path, names).line(-1),
        )
    if not names:
        raise DataError("is empty, expected a header and rows", path)
    return RecordTable(path, names, frozenset(numeric))


def is_pair_layout(path: Path) -> bool:
    """Whether a path holds pair features: a folder, or a table with two columns of ids."""
    if not path.exists():
        raise missing(path)
    return path.is_dir() or open_table(path).holds_pairs


def numbers_of(column: Any) -> NDArray[np.float64]:
    """A pyarrow array of float64 as NumPy's; missing is NaN.

    (pyarrow's own conversions import pandas, which is slow.)
    """
    return _values_of(column.fill_null(np.nan) if column.null_count else column, np.float64)


def integers_of(column: Any) -> NDArray[np.int32]:
    """A pyarrow array of int32 without missing values as NumPy's."""
    return _values_of(column, np.int32)


def _values_of(column: Any, dtype: type[Number]) -> NDArray[Number]:
    values = np.frombuffer(column.buffers()[1] or b"", dtype)
    return values[column.offset : column.offset + len(column)]


def integer_column(values: NDArray[np.int64]) -> Any:
    """An int64 array as pyarrow's."""
    import pyarrow as pa

    content = pa.py_buffer(np.ascontiguousarray(values, np.int64))
    return pa.Array.from_buffers(pa.int64(), len(values), [None, content])


# -- text -------------------------------------------------------------------------------------


def _text_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Fields of every row that is not blank, the header included, with the number of its line."""
    with open_text(path) as stream:
        rows = csv.reader(stream, delimiter=_delimiter(path))
        for fields in rows:
            if fields:
                fields[0] = fields[0].removeprefix("\ufeff")
                yield rows.line_num, fields


def _header(path: Path) -> tuple[str, ...]:
    return tuple(next((fields for _, fields in _text_rows(path)), ()))


def _delimiter(path: Path) -> str:
    """A tab or a comma, whichever the first line has."""
    with open_text(path) as stream:
        return "\t" if "\t" in next((line for line in stream if line.strip()), "") else ","


def _refuse_ragged(path: Path) -> None:
    """Raise for the first row with another number of fields than the header has."""
    width = len(_header(path))
    for line, fields in _text_rows(path):
        if len(fields) != width:
            raise DataError(
                f"expected {width} fields as in the header; received {len(fields)}", path, line
            )


def _text_batches(path: Path, kinds: Mapping[str, Kind]) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    arrow = {"number": pa.float64(), "text": pa.string()}
    types = {name: arrow[kind] for name, kind in kinds.items()}
    with pa.input_stream(str(path), compression="detect") as stream:
        reader = arrow_csv.open_csv(
            stream,
            read_options=arrow_csv.ReadOptions(block_size=_BATCH_BYTES),
            parse_options=arrow_csv.ParseOptions(
                delimiter=_delimiter(path), newlines_in_values=True
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                include_columns=list(kinds),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
        for batch in reader:
            if batch.num_rows:
                yield batch


# -- parquet ----------------------------------------------------------------------------------


def is_numeric(kind: Any) -> bool:
    """Whether a type of pyarrow is a number; a boolean is one."""
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(test(kind) for test in tests)


def _parquet_batches(path: Path, names: Sequence[str]) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, buffer_size=_BUFFER) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=list(names)):
            if batch.num_rows:
                yield batch.select(list(names))


def _cast_batch(batch: Any, kinds: Mapping[str, Kind]) -> Any:
    import pyarrow as pa

    columns = [_cast(batch.column(name), kind, name) for name, kind in kinds.items()]
    return pa.RecordBatch.from_arrays(columns, names=list(kinds))


def _cast(column: Any, kind: Kind, name: str) -> Any:
    import pyarrow as pa

    source = column.type
    if kind == "number":
        if pa.types.is_boolean(source):
            column = column.cast(pa.int8())
        return column.cast(pa.float64(), safe=False)
    if pa.types.is_list(source) or pa.types.is_large_list(source):
        import pyarrow.compute as pc

        return pc.binary_join(column.cast(pa.list_(pa.string())), " ")
    if pa.types.is_dictionary(source):
        column = column.dictionary_decode()
    if pa.types.is_nested(source) or pa.types.is_binary(source):
        raise DataError(f"column {name!r} is neither text nor numbers but {source}; leave it out")
    return column.cast(pa.string())


# -- npz --------------------------------------------------------------------------------------


def _npz_columns(path: Path) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {}
    with np.load(path, allow_pickle=False) as archive:
        for name in archive:
            array = archive[name]
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


def _npz_batches(path: Path, kinds: Mapping[str, Kind]) -> Iterator[Any]:
    import pyarrow as pa

    columns = _npz_columns(path)
    chosen = []
    for name, kind in kinds.items():
        values = columns[name]
        if kind == "number":
            chosen.append(pa.array(values.astype(np.float64), from_pandas=True))
        else:
            texts = [str(value) for value in values.tolist()]
            chosen.append(pa.array([text or None for text in texts], pa.string()))
    for start in range(0, len(next(iter(columns.values()))), BATCH_ROWS):
        parts = [array.slice(start, BATCH_ROWS) for array in chosen]
        yield pa.RecordBatch.from_arrays(parts, names=list(kinds))


@contextmanager
def _located_errors(path: Path) -> Iterator[None]:
    """Turn errors of the readers into a `DataError` that names the file, and the line if known."""
    import pyarrow as pa

    try:
        yield
    except DataError as problem:
        if problem.path is not None:
            raise
        raise DataError(problem.problem, path) from None
    except (pa.ArrowException, OSError, EOFError, BadZipFile, ValueError) as problem:
        first = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        if first.startswith("CSV parse error"):
            _refuse_ragged(path)
        raise DataError(
            f"cannot be read ({first}); correct that place, or leave the column out", path
        ) from None
