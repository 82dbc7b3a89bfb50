"""Comparison of records: features of pairs of records from the columns of a table.

* A text column gives three: whether the two texts are the same, the share of their words that both
  have (Jaccard), and how alike they are spelled (Dice on three-letter windows); 1 is alike.
* A number column gives the absolute difference in units of the column's spread in training, at
  most 10.
* A column that had missing values in training gives an indicator as well; where a value is missing,
  the other features are their average over training pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from supclust.data.block import n_pairs
from supclust.data.errors import DataError
from supclust.data.records.compare_kernel import EncodedRecords, Layout, pair_features
from supclust.data.records.text_encoding import Sets, encode_text
from supclust.data.tables.formats import Kind

ColumnKind: TypeAlias = Kind
Column: TypeAlias = "Sequence[str | None] | NDArray[np.float64]"
Ints = NDArray[np.int64]

_FEATURES: dict[str, tuple[str, ...]] = {
    "text": ("same text", "shared words", "similar spelling"),
    "number": ("difference",),
}
_ENOUGH_PAIRS = 1_000_000  # for the averages that stand for missing values


@dataclass(frozen=True)
class Comparison:
    """How one column of two records is compared.

    Attributes:
        column: its name.
        kind: ``"text"`` or ``"number"``.
        missing: whether a feature says that a value is missing.
        neutral: what the features are where one is.
        spread: unit of a difference of numbers.
    """

    column: str
    kind: ColumnKind
    missing: bool = False
    neutral: tuple[float, ...] = ()
    spread: float = 1.0

    def __post_init__(self) -> None:
        """Complete the neutral values, and validate."""
        if self.kind not in _FEATURES:
            raise DataError(f"kind must be text or number; received {self.kind!r}")
        width = len(_FEATURES[self.kind])
        if not self.neutral:
            object.__setattr__(self, "neutral", (0.0,) * width)
        if len(self.neutral) != width or not self.spread > 0:
            raise DataError(f"column {self.column!r}: {width} neutral values and a spread > 0")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of its features, in order."""
        names = (*_FEATURES[self.kind], *(("missing",) if self.missing else ()))
        return tuple(f"{self.column}: {name}" for name in names)


@dataclass(frozen=True)
class RecordComparisons:
    """The comparisons of a table's columns, in the order of their features.

    >>> both = RecordComparisons((Comparison("name", "text"), Comparison("year", "number")))
    >>> records = both.encode({"name": ["Ann Li", "Li, Ann"], "year": np.array([2001.0, 2003.0])})
    >>> both.features(records, np.arange(2)).round(2).tolist()  # same, words, spelling, difference
    [[0.0, 1.0, 0.8..., 2.0]]
    """

    comparisons: tuple[Comparison, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of all features."""
        return tuple(name for one in self.comparisons for name in one.feature_names)

    @property
    def kinds(self) -> dict[str, ColumnKind]:
        """Kind of every column."""
        return {one.column: one.kind for one in self.comparisons}

    @property
    def layout(self) -> Layout:
        """The layout that the kernels read."""
        ends = np.cumsum([len(one.feature_names) for one in self.comparisons])
        at: dict[str, list[int]] = {"text": [], "number": []}
        flags: dict[str, list[int]] = {"text": [], "number": []}
        chosen: dict[str, list[Comparison]] = {"text": [], "number": []}
        for one, end in zip(self.comparisons, ends.tolist(), strict=True):
            at[one.kind].append(end - len(one.feature_names))
            flags[one.kind].append(end - 1 if one.missing else -1)
            chosen[one.kind].append(one)
        texts, numbers = chosen["text"], chosen["number"]
        return Layout(
            np.array(at["text"], np.int64),
            np.array(flags["text"], np.int64),
            np.array([one.neutral for one in texts], np.float32).reshape(len(texts), 3),
            np.array(at["number"], np.int64),
            np.array(flags["number"], np.int64),
            np.array([one.neutral[0] for one in numbers], np.float32),
            np.array([one.spread for one in numbers], np.float64),
        )

    def encode(self, columns: Mapping[str, Column]) -> EncodedRecords:
        """Make columns of one length readable for the kernels.

        Args:
            columns: texts (``None``: missing) or numbers (NaN: missing) by name.
        """
        lengths = {len(columns[one.column]) for one in self.comparisons}
        if len(lengths) != 1:
            raise DataError(f"columns must have one length; received {sorted(lengths)}")
        (n,) = lengths
        texts = [one.column for one in self.comparisons if one.kind == "text"]
        numbers = [one.column for one in self.comparisons if one.kind == "number"]
        entries = np.empty((n, len(texts)), np.int64)
        words, triples, base = [], [], 0
        for t, name in enumerate(texts):
            found = encode_text(cast("Sequence[str | None]", columns[name]))
            entries[:, t] = np.where(found.code < 0, -1, found.code + base)
            base += len(found.words.starts) - 1
            words.append(found.words)
            triples.append(found.triples)
        values = np.empty((n, len(numbers)))
        for m, name in enumerate(numbers):
            values[:, m] = columns[name]
        return EncodedRecords(entries, *_joined(words), *_joined(triples), values)

    def features(self, records: EncodedRecords, rows: Ints) -> NDArray[np.float32]:
        """(e, d) features of the pairs of some records, in condensed order."""
        out = np.empty((n_pairs(len(rows)), len(self.feature_names)), np.float32)
        pair_features(records, self.layout, np.ascontiguousarray(rows, np.int64), out)
        return out

    def to_json(self) -> list[dict[str, Any]]:
        """As plain values."""
        return [
            {**asdict(one), "neutral": list(one.neutral), "features": list(one.feature_names)}
            for one in self.comparisons
        ]

    @classmethod
    def from_json(cls, values: Sequence[Mapping[str, Any]]) -> RecordComparisons:
        """From plain values; the inverse of `to_json`."""
        return cls(
            tuple(
                Comparison(
                    str(value["column"]),
                    value["kind"],
                    bool(value["missing"]),
                    tuple(float(v) for v in value["neutral"]),
                    float(value["spread"]),
                )
                for value in values
            )
        )


def learn_comparisons(
    kinds: Mapping[str, ColumnKind], columns: Mapping[str, Column], blocks: Sequence[Ints]
) -> RecordComparisons:
    """Choose spreads, indicators and neutral values from training records.

    Args:
        kinds: kind of every column to compare.
        columns: their values.
        blocks: rows of every training block.
    """
    if not kinds:
        raise DataError("at least one column to compare is needed; received none")
    rows = np.unique(np.concatenate(list(blocks)))
    learned = []
    for name, kind in kinds.items():
        if kind == "number":
            values = np.asarray(columns[name], np.float64)[rows]
            known = values[np.isfinite(values)]
            spread = float(known.std()) if len(known) else 0.0
            learned.append(
                Comparison(name, kind, bool(np.isnan(values).any()), spread=spread or 1.0)
            )
        else:
            texts = [columns[name][row] for row in rows]
            empty = any(text is None or not str(text).strip() for text in texts)
            learned.append(Comparison(name, kind, empty))
    made = RecordComparisons(tuple(learned))
    if not any(one.missing for one in learned):
        return made
    return RecordComparisons(tuple(_with_neutral(made, columns, blocks)))


def _with_neutral(
    made: RecordComparisons, columns: Mapping[str, Column], blocks: Sequence[Ints]
) -> list[Comparison]:
    """Put the average of every feature over pairs that have both values for its missing ones."""
    records = made.encode(columns)
    width = len(made.feature_names)
    total, count, pairs = np.zeros(width), np.zeros(width), 0
    for rows in blocks:
        features = made.features(records, rows).astype(np.float64)
        end = 0
        for one in made.comparisons:
            at, end = end, end + len(one.feature_names)
            known = features[:, end - 1] == 0 if one.missing else np.ones(len(features), np.bool_)
            total[at:end] += features[known, at:end].sum(axis=0)
            count[at:end] += known.sum()
        pairs += len(features)
        if pairs > _ENOUGH_PAIRS:
            break
    mean = total / np.maximum(count, 1)
    found, end = [], 0
    for one in made.comparisons:
        at, end = end, end + len(one.feature_names)
        found.append(replace(one, neutral=tuple(mean[at : at + len(one.neutral)].tolist())))
    return found


def _joined(parts: Sequence[Sets]) -> Sets:
    """Sets of several columns one after the other, their items kept apart."""
    starts, items, base, count = [np.zeros(1, np.int64)], [np.empty(0, np.int64)], 0, 0
    for part in parts:
        starts.append(part.starts[1:] + base)
        items.append(part.items + count)
        base, count = base + len(part.items), count + part.distinct
    return Sets(np.concatenate(starts), np.concatenate(items), count)
