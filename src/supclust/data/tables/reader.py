"""The one reader of tables with a header: CSV, TSV, Parquet and npz, by extension.

Text files and Parquet are read a batch at a time, so that memory does not depend on the length of
the file; npz holds whole arrays and is read whole. A value is missing where a field is empty or
blank, in every format, and where it is null or NaN. Names of columns are stripped of spaces. The
caller chooses whether a column is read as text or as numbers: "007" read as text stays "007", the
number 7.0 becomes "7", and elements of a list are joined by `LIST_SEPARATOR`.
`supclust.data.tables.columns` and `supclust.data.records.columns` decide what columns are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError, missing, require_file
from supclust.data.tables.cast import Kind, cast_batch, is_list, is_numeric
from supclust.data.tables.formats import (
    header,
    npz_batches,
    npz_columns,
    parquet_batches,
    refuse_ragged,
    text_batches,
    text_rows,
)

Number = TypeVar("Number", np.float64, np.int32)
TEXT_SUFFIXES = tuple(
    f"{kind}{gz}" for gz in ("", ".gz") for kind in (".csv", ".tsv", ".txt", ".data")
)
SUFFIXES = (*TEXT_SUFFIXES, ".parquet", ".npz")
_SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_OTHER_SEPARATORS = re.compile(r"[;\t]|\S\|\S")  # a tab is here where it is inside quotes
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")  # Parquet columns that are no columns in pandas


@dataclass(frozen=True)
class RecordTable:
    """A table on disk.

    Attributes:
        path: its file.
        names: of the columns, in order.
        numeric: columns that the file itself says are numbers; none for text files.
        lists: columns that the file says are lists; only Parquet does.
    """

    path: Path
    names: tuple[str, ...]
    numeric: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()

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
                    f"column {name!r} not found; the columns are {shown}. Name one of these, as it "
                    "is written there",
                    self.path,
                )

    def line(self, row: int) -> int | None:
        """Line of a text file (from 1) that holds a row below the header; else ``None``."""
        if suffix_of(self.path) not in TEXT_SUFFIXES:
            return None
        return next(
            (line for i, (line, _) in enumerate(text_rows(self.path)) if i == row + 1), None
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
                for batch in parquet_batches(self.path, list(kinds)):
                    yield cast_batch(batch, kinds)
            elif suffix == ".npz":
                yield from npz_batches(self.path, kinds)
            else:
                yield from text_batches(self.path, kinds)

    def raw_batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Record batches of some columns with the types of the file; text files give strings."""
        self.require(*names)
        if suffix_of(self.path) == ".parquet":
            with _located_errors(self.path):
                yield from parquet_batches(self.path, names)
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


def require_suffix(path: Path) -> str:
    """Suffix of a table, refused where no reader takes it."""
    suffix = suffix_of(path)
    if suffix in SUFFIXES:
        return suffix
    repair = "rename or convert it"
    if path.suffix.lower() in _SPREADSHEETS:
        repair = f"save this {path.suffix} file as CSV (UTF-8) in the spreadsheet program"
    raise DataError(f"a table must end in {', '.join(SUFFIXES)}; {repair}", path)


def open_table(path: str | Path) -> RecordTable:
    """Read the names of the columns of a table, and the types that the file declares."""
    path = require_file(path)
    suffix = require_suffix(path)
    lists: list[str] = []
    with _located_errors(path):
        if suffix == ".parquet":
            import pyarrow.parquet as pq

            schema = pq.read_schema(path)
            names = tuple(n.strip() for n in schema.names if not _PANDAS_INDEX.fullmatch(n))
            numeric = [field.name.strip() for field in schema if is_numeric(field.type)]
            lists = [field.name.strip() for field in schema if is_list(field.type)]
        elif suffix == ".npz":
            arrays = npz_columns(path)
            names = tuple(arrays)
            numeric = [name for name, array in arrays.items() if array.dtype.kind in "fiub"]
        else:
            names, numeric = header(path), []
            _refuse_unseparated(path, names)
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise DataError(
            f"column names must be distinct, {repeated[0]!r} is repeated",
            path,
            RecordTable(path, names).line(-1),
        )
    if not names:
        raise DataError("is empty, expected a header and rows", path)
    return RecordTable(path, names, frozenset(numeric), frozenset(lists))


def _refuse_unseparated(path: Path, names: Sequence[str]) -> None:
    """Refuse a header that another mark than a comma or a tab separates."""
    if len(names) == 1 and _OTHER_SEPARATORS.search(names[0]):
        shown = names[0] if len(names[0]) <= 60 else names[0][:57] + "..."
        raise DataError(
            f"a header must separate columns by commas or tabs; received one column, {shown!r}. "
            "Separate columns by commas, or by tabs in a .tsv file; rename it if it is one column",
            path,
            RecordTable(path, tuple(names)).line(-1),
        )


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
            refuse_ragged(path)
        if isinstance(problem, UnicodeDecodeError):
            raise DataError(f"cannot be read as text ({first}); save it as UTF-8", path) from None
        raise DataError(
            f"cannot be read ({first}); correct that place, or leave the column out", path
        ) from None
