"""Reader of numeric text without a header, separated by commas or by runs of white space.

pyarrow parses it, after runs of white space have become commas, and arrays are checked whole. Only
when something is wrong is the file read again line by line, to name the line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute as pc
from pyarrow import csv

from supclust.data.block import FloatArray
from supclust.data.errors import DataError
from supclust.data.files import open_text


@dataclass(frozen=True)
class TextTable:
    """Leading text columns and trailing numbers of a file."""

    path: Path
    keys: tuple[npt.NDArray[np.object_], ...]  # each (rows,), stripped strings
    numbers: FloatArray  # (rows, columns) float64, finite

    def line(self, row: int) -> int:
        """Line of the file (from 1) that holds a row; blank lines count as lines, not as rows."""
        for index, (number, _) in enumerate(content_lines(self.path)):
            if index == row:
                return number
        raise IndexError(row)


def content_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers from 1."""
    try:
        with open_text(path) as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield number, line.strip()
    except (OSError, EOFError, UnicodeDecodeError) as problem:
        raise DataError(f"cannot be read as text ({problem}); save it as UTF-8", path) from problem


def separator_of(line: str) -> str | None:
    """``","`` for a line with commas, else ``None``: any white space."""
    return "," if "," in line else None


def fields_of(line: str, separator: str | None) -> list[str]:
    """Stripped fields of one line."""
    return [field.strip() for field in line.split(separator)]


def read_text_table(path: Path, n_keys: int, minimum_numbers: int = 1) -> TextTable:
    """Read a file whose rows are ``n_keys`` strings followed by numbers, comma or space separated.

    Args:
        path: Text, plain or ``.gz``, no header.
        n_keys: Leading columns kept as strings.
        minimum_numbers: Fewest numeric columns that make sense.

    Raises:
        DataError: Naming the first line with a bad number, a non-finite one, or another number of
            fields.
    """
    first = next(content_lines(path), None)
    if first is None:
        raise DataError("is empty, expected at least one row", path)
    separator = separator_of(first[1])
    columns = len(fields_of(first[1], separator))
    if columns < n_keys + minimum_numbers:
        raise DataError(
            f"expected {n_keys} ids followed by at least {minimum_numbers} number(s); received "
            f"{columns} field(s)",
            path,
            first[0],
        )
    try:
        table = _parsed(
            path, separator, [pa.string()] * n_keys + [pa.float64()] * (columns - n_keys)
        )
    except (ValueError, OSError, EOFError) as problem:
        raise_for_bad_line(path, n_keys, columns, separator)
        raise DataError(f"cannot be read as a table ({problem})", path) from problem
    numbers = np.empty((table.num_rows, columns - n_keys))
    for c in range(n_keys, columns):
        numbers[:, c - n_keys] = table.column(c).to_numpy()
    if not np.isfinite(numbers).all():
        raise_for_bad_line(path, n_keys, columns, separator)
    keys = tuple(
        np.array(pc.utf8_trim_whitespace(table.column(c)).to_pylist(), dtype=object)
        for c in range(n_keys)
    )
    return TextTable(path, keys, numbers)


def _parsed(path: Path, separator: str | None, types: list[Any]) -> Any:
    """The pyarrow table of a file; its columns are named by their numbers."""
    with open_text(path) as stream:
        text = stream.read()
    if separator is None:
        text = "\n".join(",".join(line.split()) for line in text.splitlines())
    names = [str(c) for c in range(len(types))]
    return csv.read_csv(
        pa.BufferReader(text.encode()),
        csv.ReadOptions(column_names=names, use_threads=False),
        csv.ParseOptions(quote_char=False),
        csv.ConvertOptions(
            column_types=dict(zip(names, types, strict=True)),
            strings_can_be_null=False,
            null_values=[],
        ),
    )


def raise_for_bad_line(path: Path, n_keys: int, columns: int, separator: str | None) -> None:
    """Raise for the first line that is ragged or holds something other than a finite number."""
    for number, line in content_lines(path):
        fields = fields_of(line, separator)
        if len(fields) != columns:
            raise DataError(
                f"expected {columns} fields as in the first line; received {len(fields)}",
                path,
                number,
            )
        for position, field in enumerate(fields[n_keys:], start=n_keys + 1):
            if not _is_finite_number(field):
                raise DataError(
                    f"field {position} must be a finite number; received {field!r}", path, number
                )


def _is_finite_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
