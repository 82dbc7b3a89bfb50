"""What comparisons learn from training records: features, frequencies, spreads, neutral values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.records.comparisons import Comparison, RecordComparisons
from supclust.data.records.dates import date_order, parse_date
from supclust.data.records.encode.columns import Column, Texts, encode_texts
from supclust.data.records.features import FEATURES, FLAGS, ColumnKind
from supclust.data.records.rarity import Frequencies

Ints = NDArray[np.int64]

_WORD_FEATURES = (
    "shared words",
    "shared rare words",
    "words of one in the other",
    "rarest shared word",
)
_OF_DAYS = ("same month", "same day", "day and month swapped")
_FEW = 12  # distinct values up to which only equality is compared
_SEVERAL_WORDS = 0.05  # share of values with more than one word from which words are compared
_ENOUGH_PAIRS = 200_000  # for the averages that stand for missing values


def learn_comparisons(
    kinds: Mapping[str, ColumnKind],
    columns: Mapping[str, Column],
    left: Ints,
    right: Ints,
) -> RecordComparisons:
    """Choose features, frequencies, spreads, and neutral values from training records.

    Args:
        kinds: kind of every column to compare.
        columns: their values in all records of the table, labelled or not.
        left: (e,) first record of some training pairs; neutral values are averages over them.
        right: (e,) second record.
    """
    if not kinds:
        raise DataError("at least one column to compare is needed; received none")
    learned = [_learned(name, kind, columns[name]) for name, kind in kinds.items()]
    made = RecordComparisons(tuple(learned))
    if not any(one.missing for one in learned) or not len(left):
        return made
    step = max(1, len(left) // _ENOUGH_PAIRS)
    rows, (first, second) = rows_of_pairs(left[::step], right[::step])
    some = {name: take_rows(columns[name], rows) for name in kinds}
    features = made.features(made.encode(some), first, second, nan=True)
    known = np.isfinite(features)
    totals = np.where(known, features, 0).sum(axis=0, dtype=np.float64)
    means = dict(zip(made.feature_names, totals / np.maximum(known.sum(axis=0), 1), strict=True))
    return RecordComparisons(
        tuple(
            replace(one, neutral=tuple(float(means[f"{one.column}: {f}"]) for f in one.measured))
            for one in learned
        )
    )


def rows_of_pairs(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """The distinct records of some pairs, and the pairs as (2, e) positions among them."""
    rows, positions = np.unique([left, right], return_inverse=True)
    return rows, positions.reshape(2, -1)


def take_rows(column: Column, rows: Ints) -> Column:
    """Some values of a column."""
    return column[rows] if isinstance(column, np.ndarray) else [column[k] for k in rows.tolist()]


def pairs_of_blocks(blocks: Sequence[Ints], most: int = _ENOUGH_PAIRS) -> tuple[Ints, Ints]:
    """All pairs of some blocks, or of the first ones that have ``most`` pairs together."""
    left, right, count = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    for rows in blocks:
        a, b = np.triu_indices(len(rows), 1)
        left.append(rows[a])
        right.append(rows[b])
        count += len(a)
        if count > most:
            break
    return np.concatenate(left), np.concatenate(right)


def _learned(name: str, kind: ColumnKind, values: Column) -> Comparison:
    if kind == "number":
        return _learned_number(name, np.asarray(values, np.float64))
    texts = cast("Texts", values)
    if kind == "coordinates":
        empty = any(text is None or not text.strip() for text in texts)
        return Comparison(name, kind, (*FEATURES[kind], *(FLAGS if empty else ())))
    distinct = [text for text in set(texts) if text is not None]
    order = date_order(distinct) if kind == "date" else "day first"
    encoded = encode_texts([Comparison(name, kind, order=order)], {name: values})
    entries, words = encoded.entries[:, 0], encoded.forms.words
    counts = np.bincount(entries[entries >= 0], minlength=len(encoded.forms.hashes))
    total = int(counts.sum())
    if kind == "date":
        features = _of_dates(distinct)
    else:
        features = _of_text(kind, np.diff(words.starts), counts)
    owner = np.repeat(np.arange(len(counts)), np.diff(words.starts))
    per_word = np.bincount(words.items, counts[owner], minlength=words.distinct).astype(np.int64)
    frequencies: dict[str, Any] = {}
    if any(feature.startswith("rarity") for feature in features):
        frequencies["values"] = Frequencies.count(encoded.forms.hashes, counts, total)
    if any("rare " in feature for feature in features):
        frequencies["words"] = Frequencies.count(encoded.forms.word_hashes, per_word, total)
    flags = FLAGS if total < len(entries) else ()
    return Comparison(name, kind, (*features, *flags), order=order, **frequencies)


def _learned_number(name: str, values: NDArray[np.float64]) -> Comparison:
    known = values[np.isfinite(values)]
    largest = float(np.abs(known).max(initial=0.0)) or 1.0
    spread = float((known / largest).std()) * largest if len(known) else 0.0  # does not overflow
    flags = FLAGS if len(known) < len(values) else ()
    return Comparison(name, "number", tuple(FEATURES["number"]) + flags, spread=spread or 1.0)


def _of_text(kind: ColumnKind, words: Ints, counts: Ints) -> list[str]:
    """Features of text, codes or lists; of text those that can differ between its values.

    Args:
        kind: of the column.
        words: (e,) number of words of every distinct value.
        counts: (e,) records that have the value.
    """
    names = list(FEATURES[kind])
    if kind != "text":
        return names
    if len(counts) <= _FEW:
        return ["same text", "rarity of the shared text"]
    if counts[words > 1].sum() < _SEVERAL_WORDS * counts.sum():
        return [name for name in names if name not in _WORD_FEATURES]
    return names


def _of_dates(texts: Sequence[str]) -> list[str]:
    """Features of dates; of years alone those of years."""
    names = list(FEATURES["date"])
    if any(date is not None and date[1] for date in map(parse_date, texts)):
        return names
    return [name for name in names if name not in _OF_DAYS]
