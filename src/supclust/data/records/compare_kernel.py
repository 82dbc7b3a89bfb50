"""Compiled comparison of two records: one definition for training and for clustering."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supclust.kernels import kernel

SAME, WORDS, SPELLING = 0, 1, 2  # features of a text column
FAR = 10.0  # spreads beyond which numbers count as equally different


class EncodedRecords(NamedTuple):
    """Records as the kernels read them: n records, t text columns, m number columns, e entries.

    Attributes:
        entries: (n, t) int64 entry of every text, -1 missing.
        word_starts: (e + 1,) int64.
        words: int64, distinct within an entry; columns share no numbers.
        word_count: numbers of words are below it.
        triple_starts: (e + 1,) int64.
        triples: int64, likewise.
        triple_count: likewise.
        numbers: (n, m) float64, NaN missing.
    """

    entries: Any
    word_starts: Any
    words: Any
    word_count: Any
    triple_starts: Any
    triples: Any
    triple_count: Any
    numbers: Any


class Layout(NamedTuple):
    """Where the features of a column stand, and what stands for missing values.

    Attributes:
        text_at: (t,) int64 first of the three features of a text column.
        text_missing_at: (t,) int64 its indicator, -1: it has none.
        text_neutral: (t, 3) float32 values where a text is missing.
        number_at: (m,) int64.
        number_missing_at: (m,) int64.
        number_neutral: (m,) float32.
        number_spread: (m,) float64.
    """

    text_at: Any
    text_missing_at: Any
    text_neutral: Any
    number_at: Any
    number_missing_at: Any
    number_neutral: Any
    number_spread: Any


@kernel
def new_marks(records):
    """Workspace of `compare_row`: the record that last marked each word, and each triple."""
    words = np.full(records.word_count, -1, np.int64)
    return words, np.full(records.triple_count, -1, np.int64)


@kernel
def _mark(starts, items, entry, marks, i):
    """Mark the items of an entry with the number of its record; returns how many there are."""
    for k in range(starts[entry], starts[entry + 1]):
        marks[items[k]] = i
    return starts[entry + 1] - starts[entry]


@kernel
def _marked(starts, items, entry, marks, i):
    """Count the items of an entry that are marked; returns this and how many there are."""
    shared = 0
    for k in range(starts[entry], starts[entry + 1]):
        shared += marks[items[k]] == i
    return shared, starts[entry + 1] - starts[entry]


@kernel(error_model="numpy")
def _compare_texts(records, layout, t, i, others, out, marks):
    at, flag = layout.text_at[t], layout.text_missing_at[t]
    word_marks, triple_marks = marks
    entry = records.entries[i, t]
    words = triples = 0
    if entry >= 0:
        words = _mark(records.word_starts, records.words, entry, word_marks, i)
        triples = _mark(records.triple_starts, records.triples, entry, triple_marks, i)
    for k in range(others.size):
        other = records.entries[others[k], t]
        missing = entry < 0 or other < 0
        row = out[k]
        if flag >= 0:
            row[flag] = missing
        if missing:
            row[at : at + 3] = layout.text_neutral[t]
        elif other == entry:
            row[at : at + 3] = 1.0
        else:
            row[at + SAME] = 0.0
            both, n = _marked(records.word_starts, records.words, other, word_marks, i)
            row[at + WORDS] = both / (words + n - both)
            both, n = _marked(records.triple_starts, records.triples, other, triple_marks, i)
            row[at + SPELLING] = 2 * both / (triples + n)


@kernel(error_model="numpy")
def _compare_numbers(records, layout, m, i, others, out):
    at, flag = layout.number_at[m], layout.number_missing_at[m]
    for k in range(others.size):
        gap = abs(records.numbers[i, m] - records.numbers[others[k], m])
        missing = np.isnan(gap)
        if flag >= 0:
            out[k, flag] = missing
        scaled = min(gap / layout.number_spread[m], FAR)
        out[k, at] = layout.number_neutral[m] if missing else scaled


@kernel
def compare_row(records, layout, i, others, out, marks):
    """Compare record i with others, (k,), into (k, d) float32.

    ``marks`` are those of `new_marks`; a later call with another i may use them again.
    """
    for t in range(layout.text_at.size):
        _compare_texts(records, layout, t, i, others, out, marks)
    for m in range(layout.number_at.size):
        _compare_numbers(records, layout, m, i, others, out)


@kernel
def pair_features(records, layout, rows, out):
    """Fill (e, d) features of the pairs of ``rows`` (n,), in condensed order."""
    marks = new_marks(records)
    start = 0
    for a in range(rows.size - 1):
        others = rows[a + 1 :]
        compare_row(records, layout, rows[a], others, out[start : start + others.size], marks)
        start += others.size


@kernel
def score_rows(records, layout, rows, start, stop, weight, bias, square, features, marks):
    """Fill the scores w . x + b of rows ``start`` to ``stop`` of a square and their columns.

    Args:
        records: all of them.
        layout: of the features.
        rows: (n,) the block.
        start: first row.
        stop: last row + 1.
        weight: (d,) float32.
        bias: float32.
        square: (n, n) float32 output; the diagonal is 0.
        features: (>= n, d) float32 workspace.
        marks: of `new_marks`, of this thread.
    """
    for a in range(start, stop):
        others = rows[a + 1 :]
        compare_row(records, layout, rows[a], others, features, marks)
        square[a, a] = 0.0
        for k in range(others.size):
            score = bias
            for f in range(weight.size):
                score += weight[f] * features[k, f]
            square[a, a + 1 + k] = score
            square[a + 1 + k, a] = score
