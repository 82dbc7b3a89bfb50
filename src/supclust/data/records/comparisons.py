"""Comparison of records: features of pairs of records from the columns of a table.

How a column is compared depends on its kind; `FEATURES` lists what is computed of each. Features of
likeness are in [0, 1], 1 is alike. Differences of dates are log(1 + days), distances of places
log(1 + km), in units of a century and of half the earth's circumference; differences of numbers are
in units of the column's spread in training, at most 10. A column that had missing values in
training says so in two further features. Where a value is missing the others are neutral, their
average over training pairs, or NaN if asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.records.compare.kernel import EncodedRecords, Group, Layout, pair_features
from supclust.data.records.dates import DateOrder
from supclust.data.records.encode.columns import Column, encode_columns
from supclust.data.records.encode.text import FORM_VERSION
from supclust.data.records.features import (
    DIRECTIONS,
    FEATURES,
    FLAGS,
    KINDS,
    WIDTH,
    ColumnKind,
    GroupName,
    groups_of,
    source_kind,
)
from supclust.data.records.rarity import Frequencies
from supclust.data.tables.cast import Kind
from supclust.hac.cpu.threads import over_parts

Ints = NDArray[np.int64]

_PART = 20_000  # pairs that a thread compares at a time


@dataclass(frozen=True)
class Comparison:
    """How one column of two records is compared.

    Attributes:
        column: its name.
        kind: see `FEATURES`.
        features: those of `FEATURES` that are used, then those of `FLAGS`; default: all of the
            kind, without flags.
        neutral: what the features are where a value is missing, flags not included.
        spread: unit of a difference of numbers.
        order: of the numbers in a date.
        values: how often values occur.
        words: how often words, or elements of lists, occur.
        opposed: whether sharing a value may make records less alike.
        form_version: version of the normal forms of text.
    """

    column: str
    kind: ColumnKind
    features: tuple[str, ...] = ()
    neutral: tuple[float, ...] = ()
    spread: float = 1.0
    order: DateOrder = "day first"
    values: Frequencies = field(default_factory=Frequencies)
    words: Frequencies = field(default_factory=Frequencies)
    opposed: bool = False
    form_version: int = FORM_VERSION

    def __post_init__(self) -> None:
        """Complete features and neutral values, and validate."""
        if self.kind not in FEATURES:
            raise DataError(f"kind must be one of {', '.join(KINDS)}; received {self.kind!r}")
        if not self.features:
            object.__setattr__(self, "features", tuple(FEATURES[self.kind]))
        unknown = [n for n in self.features if n not in FEATURES[self.kind] and n not in FLAGS]
        if unknown:
            raise DataError(f"column {self.column!r}: unknown feature {unknown[0]!r}")
        width = len(self.measured)
        if not self.neutral:
            object.__setattr__(self, "neutral", (0.0,) * width)
        if len(self.neutral) != width or not np.isfinite(self.neutral).all():
            raise DataError(f"column {self.column!r} needs {width} finite neutral values")
        known = self.form_version in range(1, FORM_VERSION + 1)
        if not isinstance(self.opposed, bool) or not known:
            raise DataError(
                f"column {self.column!r} needs opposed, true or false, and form_version, 1 to "
                f"{FORM_VERSION}; received {self.opposed!r} and {self.form_version!r}"
            )
        if not 0 < self.spread < np.inf or self.order not in get_args(DateOrder):
            raise DataError(f"column {self.column!r}: spread > 0 and an order of dates are needed")

    @property
    def measured(self) -> tuple[str, ...]:
        """Its features without flags."""
        return tuple(name for name in self.features if name not in FLAGS)

    @property
    def missing(self) -> bool:
        """Whether features say that a value is missing."""
        return len(self.measured) < len(self.features)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of its features, in order."""
        return tuple(f"{self.column}: {name}" for name in self.features)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        counted = {"values": self.values, "words": self.words}
        return {
            "column": self.column,
            "kind": self.kind,
            "missing": self.missing,
            "neutral": list(self.neutral),
            "spread": self.spread,
            "features": list(self.feature_names),
            **({"order": self.order} if self.kind == "date" else {}),
            **({"opposed": True} if self.opposed else {}),
            "form_version": self.form_version,
            **{name: table.to_json() for name, table in counted.items() if len(table.hashes)},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Comparison:
        """The inverse of `to_json`; also of models of version 0.1."""
        column = str(value["column"])
        tables = {
            name: Frequencies.from_json(value[name])
            for name in ("values", "words")
            if name in value
        }
        return cls(
            column,
            value["kind"],
            tuple(str(name).removeprefix(f"{column}: ") for name in value["features"]),
            tuple(float(v) for v in value["neutral"]),
            float(value["spread"]),
            value.get("order", "day first"),
            **tables,
            opposed=value.get("opposed", False),
            form_version=value.get("form_version", 1),
        )


@dataclass(frozen=True)
class RecordComparisons:
    """The comparisons of a table's columns, in the order of their features.

    >>> both = RecordComparisons((Comparison("zip", "code"), Comparison("age", "number")))
    >>> records = both.encode({"zip": ["12 34", "1235"], "age": np.array([50.0, 40.0])})
    >>> both.features(records, np.array([0]), np.array([1])).round(2).tolist()
    [[0.0, 0.75, 0.75, 0.0, 10.0, 0.2..., 0.0]]
    """

    comparisons: tuple[Comparison, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of all features."""
        return tuple(name for one in self.comparisons for name in one.feature_names)

    @property
    def directions(self) -> tuple[int, ...]:
        """Sign of every feature: 1 if larger values mean more alike, -1 if less, 0 if neither."""
        return tuple(
            0 if one.opposed else DIRECTIONS.get(feature, 1)
            for one in self.comparisons
            for feature in one.features
        )

    @property
    def kinds(self) -> dict[str, ColumnKind]:
        """Kind of every column."""
        return {one.column: one.kind for one in self.comparisons}

    @property
    def sources(self) -> dict[str, Kind]:
        """How every column is read from a table: as numbers or as text."""
        return {name: source_kind(kind) for name, kind in self.kinds.items()}

    def without(self, columns: Collection[str]) -> RecordComparisons:
        """The comparisons of all other columns."""
        return RecordComparisons(tuple(c for c in self.comparisons if c.column not in columns))

    def with_opposed(self, columns: Collection[str]) -> RecordComparisons:
        """The comparisons, of which some columns may make records less alike."""
        marked = (replace(c, opposed=c.column in columns) for c in self.comparisons)
        return RecordComparisons(tuple(marked))

    def layout(self, nan: bool = False) -> Layout:
        """The layout that the kernels read.

        Args:
            nan: write NaN instead of the neutral values, for models that handle missing values.
        """
        rows: dict[GroupName, list[tuple[list[int], list[int], list[float]]]] = {
            group: [] for group in WIDTH
        }
        position = 0
        for one in self.comparisons:
            place = {name: position + k for k, name in enumerate(one.features)}
            position += len(place)
            flags = [place.get(flag, -1) for flag in FLAGS]
            for group in groups_of(one.kind):
                at, neutral = [-1] * WIDTH[group], [np.nan if nan else 0.0] * WIDTH[group]
                for name, value in zip(one.measured, one.neutral, strict=True):
                    owner, number = FEATURES[one.kind][name]
                    if owner == group:
                        at[number] = place[name]
                        neutral[number] = np.nan if nan else value
                rows[group].append((at, flags, neutral))
        spreads = [one.spread for one in self.comparisons if one.kind == "number"]
        groups = {group: _group(rows[group], width) for group, width in WIDTH.items()}
        return Layout(**groups, spread=np.array(spreads, np.float64))

    def encode(self, columns: Mapping[str, Column]) -> EncodedRecords:
        """Make columns of one length readable for the kernels.

        Args:
            columns: texts (``None``: missing) or numbers (NaN: missing) by name.
        """
        return encode_columns(self.comparisons, columns)

    def features(
        self, records: EncodedRecords, left: Ints, right: Ints, *, nan: bool = False
    ) -> NDArray[np.float32]:
        """(e, d) features of pairs of records, on all cores.

        Args:
            records: of `encode`.
            left: (e,) first record of every pair; fastest where equal ones follow each other.
            right: (e,) second record.
            nan: NaN where a value is missing, instead of neutral values.
        """
        left, right = (np.ascontiguousarray(rows, np.int64) for rows in (left, right))
        out = np.empty((len(left), len(self.feature_names)), np.float32)
        layout = self.layout(nan)
        over_parts(
            lambda a, b: pair_features(records, layout, left, right, a, b, out),
            len(left),
            max(1, len(left) // _PART),
        )
        return out

    def block_features(
        self, records: EncodedRecords, rows: Ints, *, nan: bool = False
    ) -> NDArray[np.float32]:
        """(e, d) features of all pairs of some records, in condensed order; see `features`."""
        a, b = np.triu_indices(len(rows), 1)
        return self.features(records, rows[a], rows[b], nan=nan)

    def to_json(self) -> list[dict[str, Any]]:
        """As plain values."""
        return [one.to_json() for one in self.comparisons]

    @classmethod
    def from_json(cls, values: Sequence[Mapping[str, Any]]) -> RecordComparisons:
        """From plain values; the inverse of `to_json`.

        Raises:
            DataError: something is missing or of a wrong type.
        """
        try:
            return cls(tuple(Comparison.from_json(value) for value in values))
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise DataError(f"the comparisons of a model are damaged ({problem})") from None


def _group(rows: Sequence[tuple[list[int], list[int], list[float]]], width: int) -> Group:
    at, flags, neutral = (list(part) for part in zip(*rows, strict=True)) if rows else ([], [], [])
    return Group(
        np.array(at, np.int64).reshape(-1, width),
        np.array(flags, np.int64).reshape(-1, 2),
        np.array(neutral, np.float32).reshape(-1, width),
    )
