"""Compiled comparison of two records: one definition for training and for clustering.

A column is compared by one or two *groups* of features: of text (also codes and lists), dates,
numbers and places. ``at[c, f]`` of a group is where feature f of its column c is written, -1: it is
not wanted, and not computed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supclust.data.records.compare.strings import (
    clear_pattern,
    common_prefix,
    edit_distance,
    is_substring,
    jaro_winkler,
    set_pattern,
)
from supclust.data.records.compare.values import (
    compare_dates,
    compare_numbers,
    compare_places,
    put,
    write_missing,
)
from supclust.kernels import kernel

SAME, RARITY, WINKLER, EDIT, PREFIX, SUBSTRING, TRIPLES, WORDS, RARE_WORDS, CONTAINED = range(10)
RAREST_WORD = 10
TEXT_FEATURES = 11
WORD_WEIGHT = 1 << 16
"""Integer weight of a word of rarity 1."""


class EncodedRecords(NamedTuple):
    """Records as the kernels read them: n records; t, u, m, p columns of text, dates, ...

    Attributes:
        entries: (n, t) int64 entry of every text, -1 missing.
        rarity: (e,) float32 of every entry.
        chars: int32 characters of the entries.
        char_starts: (e + 1,) int64.
        alphabet: characters are below it.
        words: int32, distinct within an entry; columns share none.
        word_starts: (e + 1,) int64.
        word_weights: (words,) int64, their rarity in integers, so that sums are exact in any order.
        word_totals: (e,) int64 sum of the weights of an entry.
        triples: int32, distinct within an entry.
        triple_starts: (e + 1,) int64.
        triple_count: triples are below it.
        dates: (n, u, 3) int64 year (-1 missing), month, day (0 not known).
        days: (n, u) float64.
        numbers: (n, m) float64, NaN missing.
        places: (n, p, 2) float64 latitude and longitude, NaN missing.
    """

    entries: Any
    rarity: Any
    chars: Any
    char_starts: Any
    alphabet: Any
    words: Any
    word_starts: Any
    word_weights: Any
    word_totals: Any
    triples: Any
    triple_starts: Any
    triple_count: Any
    dates: Any
    days: Any
    numbers: Any
    places: Any


class Group(NamedTuple):
    """Where the features of the c columns of a group are written.

    Attributes:
        at: (c, features) int64, -1 not wanted.
        flags: (c, 2) int64 where "missing" and "both missing" are written, -1 not wanted.
        neutral: (c, features) float32 values where one is missing.
    """

    at: Any
    flags: Any
    neutral: Any


class Layout(NamedTuple):
    """The groups, and (m,) float64 units of the numbers."""

    text: Group
    date: Group
    number: Group
    place: Group
    spread: Any


@kernel
def new_workspace(records):
    """Workspace of a thread: masks of characters; marks and shared counts of words and triples."""
    masks = np.zeros(records.alphabet + 1, np.int64)
    words = np.full(records.word_weights.size, -1, np.int64)
    return masks, words, np.full(records.triple_count, -1, np.int64)


@kernel
def _mark(starts, items, entry, marks):
    for k in range(starts[entry], starts[entry + 1]):
        marks[items[k]] = entry


@kernel
def _count_marked(starts, items, entry, other, marks):
    """Number of items that both entries have; those of ``entry`` are marked."""
    shared = 0
    for k in range(starts[other], starts[other + 1]):
        shared += marks[items[k]] == entry
    return shared


@kernel(error_model="numpy")
def _compare_words(records, at, entry, other, row, marks):
    starts, words = records.word_starts, records.words
    shared = both = rarest = 0
    for k in range(starts[other], starts[other + 1]):
        if marks[words[k]] == entry:
            weight = records.word_weights[words[k]]
            shared += 1
            both += weight
            rarest = max(rarest, weight)
    n = starts[entry + 1] - starts[entry] + starts[other + 1] - starts[other]
    mine, theirs = records.word_totals[entry], records.word_totals[other]
    put(row, at[WORDS], np.float32(shared / (n - shared)))
    put(row, at[RARE_WORDS], np.float32(both / (mine + theirs - both)))
    put(row, at[CONTAINED], np.float32(both / min(mine, theirs)))
    put(row, at[RAREST_WORD], np.float32(rarest / WORD_WEIGHT))


@kernel(error_model="numpy")
def _compare_characters(chars, starts, at, entry, other, row, masks):
    a, a_stop = starts[entry], starts[entry + 1]
    b, b_stop = starts[other], starts[other + 1]
    n, m = a_stop - a, b_stop - b
    prefix = common_prefix(chars, a, a_stop, b, b_stop)
    put(row, at[PREFIX], np.float32(prefix / min(n, m)))
    if at[WINKLER] >= 0:
        row[at[WINKLER]] = jaro_winkler(masks, n, chars, b, b_stop, prefix)
    if at[EDIT] >= 0:
        distance = edit_distance(masks, n, chars, b, b_stop)
        row[at[EDIT]] = 1 - distance / max(n, m)
    if at[SUBSTRING] >= 0:
        row[at[SUBSTRING]] = is_substring(chars, a, a_stop, b, b_stop)


@kernel
def _write_same(records, at, entry, row):
    for f in range(at.size):
        put(row, at[f], np.float32(1.0))
    put(row, at[RARITY], records.rarity[entry])
    if at[RAREST_WORD] >= 0:
        rarest = 0
        for k in range(records.word_starts[entry], records.word_starts[entry + 1]):
            rarest = max(rarest, records.word_weights[records.words[k]])
        row[at[RAREST_WORD]] = rarest / WORD_WEIGHT


@kernel(error_model="numpy")
def _compare_texts(records, group, c, left, right, out, workspace):
    masks, word_marks, triple_marks = workspace
    at = group.at[c]
    by_characters = max(at[WINKLER], at[EDIT], at[PREFIX], at[SUBSTRING]) >= 0
    by_words = max(at[WORDS], at[RARE_WORDS], at[CONTAINED], at[RAREST_WORD]) >= 0
    by_triples = at[TRIPLES] >= 0
    chars, char_starts = records.chars, records.char_starts
    current = np.int64(-1)  # the entry that masks and marks are set to
    for k in range(left.size):
        entry, other = records.entries[left[k], c], records.entries[right[k], c]
        row = out[k]
        if write_missing(group, c, entry < 0, other < 0, row):
            continue
        if entry == other:
            _write_same(records, at, entry, row)
            continue
        if entry != current:
            if current >= 0:
                clear_pattern(chars, char_starts[current], char_starts[current + 1], masks)
            set_pattern(chars, char_starts[entry], char_starts[entry + 1], masks)
            if by_words:
                _mark(records.word_starts, records.words, entry, word_marks)
            if by_triples:
                _mark(records.triple_starts, records.triples, entry, triple_marks)
            current = entry
        put(row, at[SAME], np.float32(0.0))
        put(row, at[RARITY], np.float32(0.0))
        if by_characters:
            _compare_characters(chars, char_starts, at, entry, other, row, masks)
        if by_words:
            _compare_words(records, at, entry, other, row, word_marks)
        if by_triples:
            starts = records.triple_starts
            shared = _count_marked(starts, records.triples, entry, other, triple_marks)
            n = starts[entry + 1] - starts[entry] + starts[other + 1] - starts[other]
            row[at[TRIPLES]] = 2 * shared / n
    if current >= 0:
        clear_pattern(chars, char_starts[current], char_starts[current + 1], masks)


@kernel
def compare_pairs(records, layout, left, right, out, workspace):
    """Compare records ``left`` (e,) with records ``right`` (e,) into (e, d) float32.

    Runs of equal ``left`` are faster: what depends on the left record is prepared once.
    """
    for c in range(layout.text.at.shape[0]):
        _compare_texts(records, layout.text, c, left, right, out, workspace)
    for c in range(layout.date.at.shape[0]):
        compare_dates(records, layout.date, c, left, right, out)
    for c in range(layout.number.at.shape[0]):
        compare_numbers(records, layout.number, c, left, right, out, layout.spread[c])
    for c in range(layout.place.at.shape[0]):
        compare_places(records, layout.place, c, left, right, out)


@kernel
def pair_features(records, layout, left, right, start, stop, out):
    """Fill features of the pairs ``start`` to ``stop``."""
    chosen = slice(start, stop)
    workspace = new_workspace(records)
    compare_pairs(records, layout, left[chosen], right[chosen], out[chosen], workspace)


@kernel
def score_rows(records, layout, rows, start, stop, weight, bias, square, features, workspace):
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
        features: (>= n, d) float32 buffer.
        workspace: of `new_workspace`, of this thread.
    """
    for a in range(start, stop):
        others = rows[a + 1 :]
        own = np.full(others.size, rows[a])
        compare_pairs(records, layout, own, others, features, workspace)
        square[a, a] = 0.0
        for k in range(others.size):
            score = bias
            for f in range(weight.size):
                score += weight[f] * features[k, f]
            square[a, a + 1 + k] = score
            square[a + 1 + k, a] = score
