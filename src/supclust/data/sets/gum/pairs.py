"""The pairs of a document's mentions: the quantities that the formulas of features use."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from supclust.data.sets.gum.attributes import BoolArray, Mentions

Square: TypeAlias = npt.NDArray[Any]  # (n, n) bool or number, or what broadcasts to it


class Pairs:
    """All pairs of n mentions as squares whose row is the antecedent and column the anaphor.

    Of a pair, the mention that begins earlier is the antecedent and the other the anaphor (of two
    that begin together, the longer is the antecedent), so a feature belongs to the unordered pair.
    Only what is above the diagonal has a meaning; `condensed` takes it out. Squares by
    broadcasting are several times faster than a gather per attribute of every pair.

    Args:
        mentions: In the order of their first token, the longer first.
    """

    def __init__(self, mentions: Mentions) -> None:
        self.mentions = mentions
        self.number = np.arange(mentions.n)
        first, second = np.triu_indices(mentions.n, 1)
        self._places = first * mentions.n + second
        self._shared: dict[tuple[str, str], Square] = {}

    def condensed(self, square: Square) -> Square:
        """The values of the n(n-1)/2 unordered pairs, in condensed upper-triangle order."""
        n = self.mentions.n
        return np.broadcast_to(square, (n, n)).reshape(-1).take(self._places)

    # -- one attribute of the two mentions ----------------------------------------------------

    def antecedent(self, flag: str) -> BoolArray:
        """Whether the antecedent has an attribute, (n, 1)."""
        return self.mentions.flags[flag][:, None]

    def anaphor(self, flag: str) -> BoolArray:
        """Whether the anaphor has it, (1, n)."""
        return self.mentions.flags[flag][None, :]

    def both(self, flag: str) -> BoolArray:
        """Whether both have it."""
        return self.antecedent(flag) & self.anaphor(flag)

    def same(self, code: str) -> BoolArray:
        """Whether both have a known value, the same."""
        return self.crossed_one_way(code, code)

    def differ(self, code: str) -> BoolArray:
        """Whether both have a known value, not the same."""
        a, b = _across(self.mentions.codes[code])
        return np.asarray((a != b) & (a >= 0) & (b >= 0))

    def both_are(self, code: str, value: int) -> BoolArray:
        """Whether both have this value."""
        a, b = _across(self.mentions.codes[code] == value)
        return a & b

    def crossed_one_way(self, code: str, other: str) -> BoolArray:
        """Whether the antecedent's ``code`` is known and is the anaphor's ``other``."""
        a, b = self.mentions.codes[code][:, None], self.mentions.codes[other][None, :]
        return np.asarray((a == b) & (a >= 0))

    def crossed(self, code: str, other: str) -> BoolArray:
        """Whether one mention's ``code`` is the other's ``other``, either way round."""
        return self.crossed_one_way(code, other) | self.crossed_one_way(other, code)

    # -- words --------------------------------------------------------------------------------

    def shared(self, bag: str, other: str | None = None) -> Square:
        """Number of words that the antecedent's bag and the anaphor's (other) bag share."""
        key = (bag, other or bag)
        if key not in self._shared:
            bags = self.mentions.bags
            self._shared[key] = (bags[key[0]] @ bags[key[1]].T).toarray()
        return self._shared[key]

    def size(self, bag: str) -> tuple[Square, Square]:
        """Number of words of the antecedent's and of the anaphor's bag."""
        return _across(np.asarray(self.mentions.bags[bag].sum(axis=1)).ravel())

    def jaccard(self, bag: str) -> Square:
        """Shared words over all words of the two; 0 where there are none."""
        shared, (a, b) = self.shared(bag), self.size(bag)
        return np.asarray(shared / np.maximum(a + b - shared, 1))

    def dice(self, bag: str) -> Square:
        """Twice the shared words over the sum of the sizes; 0 where there are none."""
        a, b = self.size(bag)
        return np.asarray(2 * self.shared(bag) / np.maximum(a + b, 1))

    def included(self, bag: str) -> BoolArray:
        """Whether the smaller bag is not empty and is part of the larger."""
        smaller = np.minimum(*self.size(bag))
        return np.asarray((smaller > 0) & (self.shared(bag) == smaller))

    def disjoint(self, bag: str) -> BoolArray:
        """Whether both bags have words, and none in common."""
        a, b = self.size(bag)
        return np.asarray((a > 0) & (b > 0) & (self.shared(bag) == 0))

    def head_within_head(self) -> BoolArray:
        """Whether one head, of four letters or more, is a proper part of the other."""
        forms = sorted(set(self.mentions.heads))
        part = np.zeros((len(forms), len(forms)), bool)
        for row, small in enumerate(forms):
            if len(small) >= 4:
                part[row] = [small in form for form in forms]
        np.fill_diagonal(part, False)
        part |= part.T
        number = {form: k for k, form in enumerate(forms)}
        code = np.array([number[form] for form in self.mentions.heads], np.int64)
        return part[np.ix_(code, code)]

    # -- places -------------------------------------------------------------------------------

    @cached_property
    def sentences_apart(self) -> Square:
        """Difference of the numbers of the sentences."""
        return -np.subtract(*_across(self.mentions.sentence))

    @cached_property
    def tokens_between(self) -> Square:
        """Tokens between the two, 0 where they overlap."""
        return np.asarray(
            np.maximum(self.mentions.first[None, :] - self.mentions.last[:, None] - 1, 0)
        )

    @cached_property
    def mentions_between(self) -> Square:
        """Mentions that begin between the two."""
        return np.asarray(np.maximum(self.number[None, :] - self.number[:, None] - 1, 0))

    @cached_property
    def nested(self) -> BoolArray:
        """Whether the anaphor lies inside the antecedent."""
        return self.mentions.last[None, :] <= self.mentions.last[:, None]

    @cached_property
    def governs(self) -> BoolArray:
        """Whether the anaphor's head depends on the antecedent's."""
        return np.asarray(self.mentions.governor[None, :] == self.mentions.head[:, None])

    @cached_property
    def governed(self) -> BoolArray:
        """Whether the antecedent's head depends on the anaphor's."""
        return self.governs.T

    def linked_by(self, flag: str) -> BoolArray:
        """Whether one head depends on the other, and has the attribute."""
        return (self.governs & self.anaphor(flag)) | (self.governed & self.antecedent(flag))

    @cached_property
    def same_governor(self) -> BoolArray:
        """Whether the two heads depend on the same token."""
        a, b = _across(self.mentions.governor)
        return np.asarray((a == b) & (a >= 0))

    @cached_property
    def same_head_token(self) -> BoolArray:
        """Whether the two have the same head token: a coordination and its first member."""
        return np.equal(*_across(self.mentions.head))

    # -- judgements ---------------------------------------------------------------------------

    @cached_property
    def compatible(self) -> BoolArray:
        """No known difference in number, gender, person, animacy or type, and not nested."""
        clash = self.nested.copy()
        for code in ("number", "gender", "person", "animate", "entity_type"):
            clash |= self.differ(code)
        return ~clash

    def nearest(self, candidates: BoolArray) -> BoolArray:
        """Whether the antecedent is the last one before the anaphor that is a candidate."""
        row, column = _across(self.number)
        fits = candidates & (row < column)
        return np.asarray(fits & (np.where(fits, row, -1).max(axis=0)[None, :] == row))


def _across(values: Square) -> tuple[Square, Square]:
    """The antecedents' values as a column, the anaphors' as a row."""
    return values[:, None], values[None, :]


def scaled_log(count: Square, cap: int) -> Square:
    """log(1 + count) / log(1 + cap), at most 1.

    >>> scaled_log(np.array([0, 7, 63, 1000]), 63).tolist()
    [0.0, 0.5, 1.0, 1.0]
    """
    return np.asarray(np.log1p(np.clip(count, 0, cap)) / math.log1p(cap))
