"""People's own tables (CSV, TSV, Parquet) with a header, and finding columns in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from supclust.data.block import FloatArray
from supclust.data.errors import DataError
from supclust.data.tables.numeric_text import content_lines, fields_of

if TYPE_CHECKING:
    import pandas as pd

TEXT_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".txt", ".data")
TABLE_SUFFIXES = (*TEXT_SUFFIXES, ".parquet")


def suffix_of(path: Path) -> str:
    """Last suffix, with the one before a final ``.gz``.

    >>> suffix_of(Path("a.b.tsv.gz"))
    '.tsv.gz'
    """
    return "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix


def read_frame(path: Path, names: Sequence[str] = ()) -> pd.DataFrame:
    """Read a table with a header; the separator of text is a tab or a comma, whichever line 1 has.

    Args:
        path: CSV, TSV (plain or gzip) or Parquet.
        names: Columns of names rather than numbers, kept as written ("007" stays "007").
    """
    import pandas as pd

    if not path.is_file():
        raise DataError("no such file", path)
    suffix = suffix_of(path)
    try:
        if suffix == ".parquet":
            return pd.read_parquet(path)
        if suffix not in TEXT_SUFFIXES:
            raise DataError(f"expected a file ending in {', '.join(TABLE_SUFFIXES)}", path)
        first = next(content_lines(path), None)
        if first is None:
            raise DataError("is empty, expected a header and rows", path)
        separator = "\t" if "\t" in first[1] else ","
        header = fields_of(first[1], separator)
        if len(set(header)) != len(header):
            raise DataError(f"column names must be distinct, got {header}", path, first[0])
        # Bad values stay visible as text; only empty fields count as missing.
        return pd.read_csv(
            path,
            sep=separator,
            dtype=dict.fromkeys(names, "str"),
            keep_default_na=False,
            na_values=[""],
            index_col=False,
        )
    except DataError:
        raise
    except (ValueError, OSError, EOFError, pd.errors.ParserWarning) as problem:
        raise DataError(f"cannot be read as a table ({problem})", path) from problem


def require_columns(frame: pd.DataFrame, names: Sequence[str], path: Path) -> None:
    """Refuse a table without these columns."""
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(
            f"column {missing[0]!r} not found; the columns are "
            f"{', '.join(map(str, frame.columns))}",
            path,
        )


def text_column(frame: pd.DataFrame, name: str, path: Path) -> list[str]:
    """A column as strings; a missing value is an error. 3.0 and 3 are the same name."""
    column = frame[name]
    empty = column.isna().to_numpy()
    if empty.any():
        raise DataError(f"column {name!r} is empty", path, row_line(path, int(empty.argmax())))
    if column.dtype.kind == "f" and (column == np.floor(column)).all():
        column = column.astype(np.int64)
    return [str(value).strip() for value in column]


def number_columns(
    frame: pd.DataFrame, names: Sequence[str], path: Path, *, ignorable: bool = False
) -> FloatArray:
    """Columns as finite float64 (rows, columns).

    Args:
        frame: The table.
        names: The columns.
        path: Of the table.
        ignorable: Whether ``dataset.ignore`` could leave a column out.
    """
    values = np.empty((len(frame), len(names)))
    for position, name in enumerate(names):
        column = frame[name]
        try:
            values[:, position] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (ValueError, TypeError):
            row = next(i for i, value in enumerate(column) if not _is_number(value))
            raise DataError(
                f"column {name!r} must hold numbers, got {column.iloc[row]!r}"
                f"{_repair(name, ignorable)}",
                path,
                row_line(path, row),
            ) from None
    finite = np.isfinite(values)
    if not finite.all():
        row, position = np.argwhere(~finite)[0]
        raise DataError(
            f"column {names[position]!r} must be finite, got {values[row, position]}"
            f"{_repair(names[position], ignorable)}",
            path,
            row_line(path, int(row)),
        )
    return values


def without_columns(
    frame: pd.DataFrame, features: Sequence[str] | None, ignore: Sequence[str] | None, path: Path
) -> pd.DataFrame:
    """The table without the columns to ignore; naming features as well is refused."""
    if not ignore:
        return frame
    if features:
        raise DataError("give either dataset.features or dataset.ignore, not both", path)
    require_columns(frame, ignore, path)
    return frame.drop(columns=list(ignore))


def feature_columns(
    frame: pd.DataFrame, special: Sequence[str], features: Sequence[str] | None, path: Path
) -> tuple[list[str], tuple[str, ...]]:
    """Names of the feature columns, and notes on what is left out.

    A column is a feature if it holds any number: a text among its numbers is a mistake, which
    ``number_columns`` reports. A column of text alone names or describes the points: it is left
    out, and a note says so.

    Args:
        frame: The table.
        special: Columns with another meaning.
        features: Names asked for; default: every column with numbers.
        path: Of the table.
    """
    if features:
        return list(features), ()
    others = [name for name in frame.columns if name not in special]
    chosen = [name for name in others if holds_numbers(frame[name])]
    if not chosen:
        raise DataError(f"no numeric feature column besides {', '.join(special)}", path)
    texts = [str(name) for name in others if name not in chosen]
    if not texts:
        return chosen, ()
    names = ", ".join(texts)
    return chosen, (
        f"columns of text are no features and are left out: {names} "
        f"(dataset.ignore=[{names.replace(' ', '')}] says that you know)",
    )


def row_line(path: Path, row: int) -> int | None:
    """Line of a text file that holds a row below the header; ``None`` for Parquet."""
    if suffix_of(path) == ".parquet":
        return None
    for index, (number, _) in enumerate(content_lines(path)):
        if index == row + 1:
            return number
    return None


def holds_numbers(column: pd.Series) -> bool:
    """Whether any value of a column is a number; dates are none."""
    if column.dtype.kind in "fiub":
        return True
    if column.dtype.kind in "mM":  # dates: numbers inside, but no feature as they are
        return False
    return any(_is_number(value) and math.isfinite(float(value)) for value in column)


def _repair(name: str, ignorable: bool) -> str:
    otherwise = f", or leave the column out with dataset.ignore=[{name}]" if ignorable else ""
    return f"; correct the cell{otherwise}"


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True
