"""Keys of the records of a table: what two records must share to be candidates for one entity.

Values are read in the normal forms that comparisons use, without regard to case, accents and
punctuation. The keys of a record depend on nothing but the record and the model: they are hashes of
text, and how rare words are is counted in training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.data.records.dates import DateOrder, date_form, date_order, parse_date
from supclust.data.records.encode.text import FORM_VERSION, distinct_forms, form_of
from supclust.data.records.features import ColumnKind
from supclust.data.records.rarity import LARGEST, Frequencies
from supclust.data.tables.cast import LIST_SEPARATOR
from supclust.resolve.blocking.hashing import hashed
from supclust.resolve.blocking.key_kernels import (
    count_shared,
    product,
    sort_keys,
    take,
)

Ints = NDArray[np.int64]

_LOW = np.int64(0xFFFFFFFF)  # bits of a key that frequencies are counted by


class Keys(NamedTuple):
    """Keys of n records: record i has ``items[starts[i] : starts[i + 1]]``, sorted and distinct."""

    starts: Ints
    items: Ints

    def of(self, rows: Ints) -> Keys:
        """Keys of some records."""
        sizes = np.diff(self.starts)[rows]
        chosen = Keys(np.empty(len(rows) + 1, np.int64), np.empty(int(sizes.sum()), np.int64))
        take(self.starts, self.items, rows, chosen.starts, chosen.items)
        return chosen

    def times(self, other: Keys) -> Keys:
        """Keys of a conjunction, unsorted: records agree on it if they agree on both."""
        sizes = np.diff(self.starts) * np.diff(other.starts)
        made = Keys(np.empty(len(self.starts), np.int64), np.empty(int(sizes.sum()), np.int64))
        product(*self, *other, *made)
        return made

    def n_pairs(self) -> int:
        """Number of pairs that share a key; a pair that shares two counts twice."""
        return int(count_shared(self.items))

    def sorted(self) -> Keys:
        """The same with the keys of every record sorted."""
        made = Keys(self.starts, self.items.copy())
        sort_keys(*made)
        return made

    @property
    def is_single(self) -> bool:
        """Whether no record has more than one key."""
        return len(self.items) <= len(self.starts) and int(np.diff(self.starts).max()) <= 1


@dataclass(frozen=True)
class KeyColumn:
    """A column of text, prepared for predicates.

    Attributes:
        code: (n,) entry of every record, -1: missing.
        forms: the distinct normal forms, one per entry.
        starts: (entries + 1,) of the words of every entry.
        words: numbers of the words, in their order.
        vocabulary: the words by number.
        counted: how often words occur; ``None``: as in this column.
    """

    code: Ints
    forms: list[str]
    starts: Ints
    words: Ints
    vocabulary: list[str]
    counted: Frequencies | None = None

    @classmethod
    def of(
        cls,
        values: Sequence[str | None] | NDArray[np.float64],
        kind: ColumnKind,
        order: DateOrder | None = None,
        counted: Frequencies | None = None,
        form_version: int = FORM_VERSION,
    ) -> KeyColumn:
        """Read a column of a kind; the elements of a list count as its words.

        Args:
            values: of the records.
            kind: of the column.
            order: of the numbers in dates; ``None``: that of these values.
            counted: how often words occur; ``None``: as in these values.
            form_version: version of the normal forms of text.
        """
        texts = _texts(values) if isinstance(values, np.ndarray) else values
        form = form_of(kind, form_version)
        if kind == "date":
            order = order or date_order([text for text in set(texts) if text is not None])
            form = partial(_form_of_date, order)
        code, forms = distinct_forms(texts, form)
        vocabulary: dict[str, int] = {}
        words, ends = [], [0]
        for one in forms:
            parts = one.split(LIST_SEPARATOR if kind == "list" else None)
            words += [vocabulary.setdefault(word, len(vocabulary)) for word in parts]
            ends.append(len(words))
        numbers = np.array(words, np.int64)
        return cls(code, forms, np.array(ends), numbers, list(vocabulary), counted)

    @cached_property
    def word_keys(self) -> Ints:
        """(vocabulary,) keys of the words."""
        return hashed(self.vocabulary)

    @cached_property
    def frequencies(self) -> Frequencies:
        """How often words occur, once per occurrence; words that occur once are not listed."""
        if self.counted is not None:
            return self.counted
        known = self.code[self.code >= 0]
        weights = np.repeat(np.bincount(known, minlength=len(self.forms)), np.diff(self.starts))
        counts = np.bincount(self.words, weights, len(self.vocabulary)).astype(np.int64)
        several = counts > 1
        hashes = self.word_keys[several] & _LOW
        return Frequencies.count(hashes, counts[several], len(known), LARGEST)

    @property
    def frequency(self) -> NDArray[np.float64]:
        """(vocabulary,) number of records with a word."""
        return self.frequencies.counts_of(self.word_keys & _LOW)

    def spread(self, key: Ints) -> Keys:
        """One key per entry (negative: none) to keys of the records."""
        keys = np.append(key, -1)[self.code]
        known = keys >= 0
        starts = np.concatenate([[0], np.cumsum(known)]).astype(np.int64)
        return Keys(starts, keys[known].astype(np.int64))

    def spread_sets(self, counts: Ints, keys: Ints) -> Keys:
        """The first ``counts[e]`` of the keys ``keys[e]`` of every entry to keys of the records."""
        filled = np.arange(keys.shape[1]) < counts[:, None]
        ordered = np.where(filled, keys, np.iinfo(np.int64).max)
        ordered.sort(axis=1)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        entries = Keys(np.append(starts, starts[-1]), ordered[filled])
        return entries.of(np.where(self.code < 0, len(counts), self.code))


def _texts(values: NDArray[np.float64]) -> list[str | None]:
    return [None if value != value else repr(value) for value in values.tolist()]


def _form_of_date(order: DateOrder, text: str) -> str:
    return date_form(parse_date(text, order))
