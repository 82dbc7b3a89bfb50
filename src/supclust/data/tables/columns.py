"""A table read whole, of vectors or of pair features.

A feature is every column that holds a number; text among its numbers is a mistake. Tables of
records follow another rule (`supclust.data.records.columns`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.tables.cast import is_numeric
from supclust.data.tables.reader import (
    TEXT_SUFFIXES,
    RecordTable,
    numbers_of,
    open_table,
    suffix_of,
)

_BOOLEANS = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class Table:
    """A table in memory.

    Attributes:
        source: its file.
        columns: pyarrow arrays by name; those of a text file are strings, null where empty.
    """

    source: RecordTable
    columns: Mapping[str, Any]

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self.source.path

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def require(self, *names: str) -> None:
        """Refuse columns that are not there."""
        replace(self.source, names=tuple(self.columns)).require(*names)

    def error(self, problem: str, row: int) -> DataError:
        """The error of a row, with its line where the file has lines."""
        return DataError(problem, self.path, self.source.line(row))

    def has_missing(self, name: str) -> bool:
        """Whether a value of a column is missing: null, or NaN."""
        return bool(self._missing(name).any())

    def texts(self, name: str) -> list[str]:
        """A column as stripped strings; a missing value is an error. 3.0 and 3 are the same."""
        missing = np.flatnonzero(self._missing(name))
        if len(missing):
            raise self.error(f"column {name!r} is empty", int(missing[0]))
        return [str(text) for text in self.texts_or_none(name)]

    def texts_or_none(self, name: str) -> list[str | None]:
        """A column as `texts` gives it, ``None`` where a value is missing."""
        missing = self._missing(name)
        values = [
            None if m else v for v, m in zip(self.columns[name].to_pylist(), missing, strict=True)
        ]
        if all(
            value is None or (isinstance(value, float) and value.is_integer()) for value in values
        ):
            values = [None if value is None else int(value) for value in values]
        return [None if value is None else str(value).strip() for value in values]

    def numbers(self, names: Sequence[str], *, ignorable: bool = False) -> NDArray[np.float64]:
        """Columns as finite float64, (rows, columns).

        Args:
            names: of the columns.
            ignorable: whether ``dataset.ignore`` could leave a column out.
        """
        values = np.empty((self.n, len(names)))
        for position, name in enumerate(names):
            column, bad_row = self._numbers(name)
            if column is None:
                received = self.columns[name][bad_row].as_py()
                problem = f"column {name!r} must hold numbers; received {received!r}"
                raise self.error(problem + _repair(name, ignorable), bad_row)
            values[:, position] = column
        finite = np.isfinite(values)
        if not finite.all():
            row, position = (int(i) for i in np.argwhere(~finite)[0])
            name, received = names[position], values[row, position]
            problem = f"column {name!r} must be finite; received {received}"
            raise self.error(problem + _repair(name, ignorable), row)
        return values

    def without(self, features: Sequence[str] | None, ignore: Sequence[str] | None) -> Table:
        """The table without the columns to ignore; naming features as well is refused."""
        if not ignore:
            return self
        if features:
            raise DataError("give either dataset.features or dataset.ignore, not both", self.path)
        self.require(*ignore)
        kept = {name: column for name, column in self.columns.items() if name not in ignore}
        return replace(self, columns=kept)

    def where_present(self, name: str) -> Table:
        """The rows that have a value in a column; their line numbers are lost."""
        import pyarrow as pa

        rows = pa.array((~self._missing(name)).tolist())
        columns = {key: column.filter(rows) for key, column in self.columns.items()}
        return replace(self, columns=columns)

    def feature_names(
        self, special: Sequence[str], features: Sequence[str] | None = None
    ) -> tuple[list[str], tuple[str, ...]]:
        """Names of the feature columns, and notes on what is left out.

        A column is a feature if it holds any number: a text among its numbers is a mistake, which
        `numbers` reports. A column of text alone is left out with a note.

        Args:
            special: columns with another meaning.
            features: names asked for; default: every column with numbers.
        """
        if features:
            return list(features), ()
        others = [name for name in self.columns if name not in special]
        chosen = [name for name in others if self.holds_numbers(name)]
        if not chosen:
            raise DataError(f"no numeric feature column besides {', '.join(special)}", self.path)
        texts = [name for name in others if name not in chosen]
        if not texts:
            return chosen, ()
        names = ", ".join(texts)
        return chosen, (
            f"columns of text are no features and are left out: {names} "
            f"(dataset.ignore=[{names.replace(' ', '')}] leaves them out without this note)",
        )

    def holds_numbers(self, name: str) -> bool:
        """Whether a value of a column is a finite number, or all are missing; dates are none."""
        import pyarrow as pa

        column = self.columns[name]
        if pa.types.is_nested(column.type):
            return False
        if is_numeric(column.type) or column.null_count == len(column) or self._are_booleans(name):
            return True
        values = column.unique().to_pylist()
        return any(isinstance(value, str) and math.isfinite(_number(value)) for value in values)

    def _missing(self, name: str) -> NDArray[np.bool_]:
        return np.array([v is None or v != v for v in self.columns[name].to_pylist()], np.bool_)

    def _are_booleans(self, name: str) -> bool:
        """Whether a column of a text file holds nothing but true and false."""
        if suffix_of(self.path) not in TEXT_SUFFIXES:
            return False
        distinct = self.columns[name].unique().drop_null().to_pylist()
        return 0 < len(distinct) <= 6 and all(value.lower() in _BOOLEANS for value in distinct)

    def _numbers(self, name: str) -> tuple[NDArray[np.float64] | None, int]:
        """Values, NaN where missing; or ``None`` and the first row that is not a number."""
        import pyarrow as pa

        column = self.columns[name]
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.int8())
        try:
            if not pa.types.is_temporal(column.type):
                return numbers_of(column.cast(pa.float64(), safe=False)), -1
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            pass  # the loop below names the row, and accepts spaces around a number
        values = column.to_pylist()
        if self._are_booleans(name):
            values = [None if value is None else _BOOLEANS[value.lower()] for value in values]
        numbers = np.full(len(values), np.nan)
        for row, value in enumerate(values):
            if value is None:
                continue
            try:
                numbers[row] = float(value)
            except (TypeError, ValueError):
                return None, row
        return numbers, -1


def read_table(path: str | Path) -> Table:
    """Read a table whole."""
    import pyarrow as pa

    source = open_table(path)
    batches = list(source.raw_batches(source.names))
    columns = {}
    for name in source.names:
        parts = [batch.column(name) for batch in batches]
        column = pa.concat_arrays(parts) if parts else pa.array([], pa.string())
        columns[name] = (
            column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        )
    return Table(source, columns)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _repair(name: str, ignorable: bool) -> str:
    otherwise = f", or leave the column out with dataset.ignore=[{name}]" if ignorable else ""
    return f"; correct the cell{otherwise}"
