"""Predicates: what two records agree on, as keys of a column.

A predicate maps a column to keys: its whole value, its first letters, its rarest word, its sound.
Most give a record one key, some several, and none where the value is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

from supclust.data.records.features import ColumnKind
from supclust.resolve.blocking.hashing import code_points, hashed
from supclust.resolve.blocking.key_kernels import minhash_keys, rarest_words
from supclust.resolve.blocking.keys import Ints, KeyColumn, Keys
from supclust.resolve.blocking.phonetic import sound_of

_BANDS, _ROWS = 6, 2  # of MinHash: texts that share 60 % of their letter triples meet with 93 %


def _equal(column: KeyColumn) -> Keys:
    return column.spread(hashed(column.forms))


def _prefix(letters: int) -> Callable[[KeyColumn], Keys]:
    """First letters; none for values that are not longer: these are equal or differ."""

    def keys(column: KeyColumn) -> Keys:
        return column.spread(hashed([form[:letters] for form in column.forms]))

    return keys


def _first(column: KeyColumn) -> Keys:
    return column.spread(column.word_keys[column.words[column.starts[:-1]]])


def _last(column: KeyColumn) -> Keys:
    return column.spread(column.word_keys[column.words[column.starts[1:] - 1]])


def _rarest(column: KeyColumn) -> Keys:
    counts, keys = _rare_words(column, 1, np.inf)
    return column.spread(np.where(counts > 0, keys[:, 0], -1))


def _words(many: int, most: int) -> Callable[[KeyColumn], Keys]:
    """The rarest words, or elements of a list, of those that at most ``most`` records have."""

    def keys(column: KeyColumn) -> Keys:
        return column.spread_sets(*_rare_words(column, many, most))

    return keys


def _rare_words(column: KeyColumn, many: int, most: float) -> tuple[Ints, Ints]:
    """Number of the words chosen of every entry, and their keys, (entries, many)."""
    counts = np.empty(len(column.forms), np.int64)
    chosen = np.full((len(column.forms), many), -1, np.int64)
    keys = column.word_keys
    rarest_words(column.starts, column.words, column.frequency, keys, float(most), counts, chosen)
    return counts, np.append(keys, -1)[chosen]


def _sorted(column: KeyColumn) -> Keys:
    return column.spread(hashed([" ".join(sorted(form.split())) for form in column.forms]))


def _initials(column: KeyColumn) -> Keys:
    initials = ["".join(sorted(word[0] for word in form.split())) for form in column.forms]
    return column.spread(hashed([letters if len(letters) > 1 else "" for letters in initials]))


def _sound(column: KeyColumn) -> Keys:
    sounds = hashed([sound_of(word) for word in column.vocabulary])
    return column.spread(sounds[column.words[column.starts[1:] - 1]])


def _digits(column: KeyColumn) -> Keys:
    return column.spread(hashed([re.sub(r"\D", "", form) for form in column.forms]))


def _digits_of_date(start: int, stop: int) -> Callable[[KeyColumn], Keys]:
    """Digits of YYYYMMDD; none where they are all zero."""

    def keys(column: KeyColumn) -> Keys:
        parts = [form[start:stop] if form.isdigit() else "" for form in column.forms]
        return column.spread(hashed([part if part.strip("0") else "" for part in parts]))

    return keys


def _similar(column: KeyColumn) -> Keys:
    keys = np.empty((len(column.forms), _BANDS), np.int64)
    minhash_keys(*code_points(column.forms), _BANDS, _ROWS, keys)
    return column.spread_sets(np.full(len(keys), _BANDS), keys)


PREDICATES: Mapping[str, Callable[[KeyColumn], Keys]] = {
    "equal": _equal,
    "prefix3": _prefix(3),
    "prefix5": _prefix(5),
    "first": _first,
    "last": _last,
    "rarest": _rarest,
    "sorted": _sorted,
    "initials": _initials,
    "sound": _sound,
    "digits": _digits,
    "year": _digits_of_date(0, 4),
    "month": _digits_of_date(4, 6),
    "day": _digits_of_date(6, 8),
    "word": _words(3, 500),
    "words": _words(8, 50),
    "common": _words(3, 10_000),
    "similar": _similar,
}
"""Name of a predicate -> keys of a column."""
BY_RARITY = ("rarest", "word", "words", "common")
"""Predicates that depend on how often words occur."""
_TEXT = ("equal", "prefix3", "prefix5", "first", "last", "rarest", "sorted", "initials", "sound")
CHOICE: Mapping[ColumnKind, tuple[str, ...]] = {
    "text": (*_TEXT, "word", "words", "similar"),
    "document": ("equal", "word", "words", "similar"),
    "code": ("equal", "prefix3", "prefix5", "digits", "similar"),
    "list": ("equal", "word", "words"),
    "date": ("equal", "year", "month", "day", "similar"),
    "number": ("equal",),
    "coordinates": ("equal",),
}
"""Predicates that rules are chosen from, by kind of column."""
IN_BLOCKS: Mapping[str, str] = {"word": "common"}
"""Predicates that others are replaced by where candidates are of one block.

Blocks bound the pairs. A word in more than 500 records may be the name of one entity, and rules
that are chosen on smaller entities would lose it.
"""
PARTS: Mapping[str, str] = {
    **dict.fromkeys(("prefix3", "prefix5", "first"), "start"),
    **dict.fromkeys(("last", "sound"), "end"),
    **dict.fromkeys(BY_RARITY, "words"),
}
"""Part of a value that a predicate reads, where it is not the whole."""
