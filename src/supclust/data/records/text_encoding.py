"""Encoding of text: words and letter triples as sorted integers, for kernels.

A value is read without regard to case, accents and punctuation. Its words are runs of letters and
digits; its triples are the three-letter windows of the words joined and padded by one space, so
"Ann Li" has " an", "ann", "nn ", "n l", " li", "li ".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_WORDS = re.compile(r"[^\W_]+")
_BITS = 21  # a Unicode code point fits, so that three of them fit an int64 exactly


class Sets(NamedTuple):
    """Sets of numbers below ``distinct``; set i is ``items[starts[i] : starts[i + 1]]``, sorted."""

    starts: Ints
    items: Ints
    distinct: int


class TextEntries(NamedTuple):
    """The distinct normal forms of a column.

    Attributes:
        code: (n,) entry of every value, -1 where there is none.
        words: set of every entry.
        triples: set of every entry.
    """

    code: Ints
    words: Sets
    triples: Sets


def normal_words(text: str) -> list[str]:
    """Words of a value; what has neither letters nor digits is one word as it stands.

    >>> normal_words("José  O'Neil-Müller"), normal_words(" - "), normal_words("  ")
    (['jose', 'o', 'neil', 'muller'], ['-'], [])
    """
    if not text.isascii():
        parts = unicodedata.normalize("NFKD", text)
        text = "".join(letter for letter in parts if not unicodedata.combining(letter))
    return _WORDS.findall(text.casefold()) or text.split()


def encode_text(values: Sequence[str | None]) -> TextEntries:
    """Encode a column; equal normal forms share an entry.

    Args:
        values: (n,) texts; ``None`` and blank are missing.

    Complexity: O(characters); the work per character is done once per distinct value.

    >>> encode_text(["Ann Li", None, "ann  LI!"]).code
    array([ 0, -1,  0])
    """
    code = np.empty(len(values), np.int64)
    by_value: dict[str | None, int] = {None: -1}
    by_form: dict[str, int] = {}
    vocabulary: dict[str, int] = {}
    words: list[list[int]] = []
    for row, value in enumerate(values):
        found = by_value.get(value)
        if found is None:
            found = -1
            if value is not None and (parts := normal_words(value)):
                form = " ".join(parts)
                found = by_form.setdefault(form, len(by_form))
                if found == len(words):
                    words.append([vocabulary.setdefault(w, len(vocabulary)) for w in parts])
            by_value[value] = found
        code[row] = found
    sizes = np.fromiter(map(len, words), np.int64, len(words))
    flat = np.fromiter((word for entry in words for word in entry), np.int64, int(sizes.sum()))
    owner = np.repeat(np.arange(len(words)), sizes)
    return TextEntries(code, _as_sets(owner, flat, len(words)), letter_triples(list(by_form)))


def letter_triples(forms: Sequence[str]) -> Sets:
    """Sets of triples of normal forms.

    >>> letter_triples(["ab", ""]).starts
    array([0, 2, 2])
    """
    lengths = np.fromiter(map(len, forms), np.int64, len(forms)) + 2
    text = "".join(f" {form} " for form in forms)
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.int64)
    if len(points) < 3:
        return _as_sets(np.empty(0, np.int64), np.empty(0, np.int64), len(forms))
    triples = (points[:-2] << 2 * _BITS) | (points[1:-1] << _BITS) | points[2:]
    owner = np.repeat(np.arange(len(forms)), lengths)
    inside = owner[:-2] == owner[2:]  # windows that cross into the next form are no triples
    return _as_sets(owner[:-2][inside], triples[inside], len(forms))


def _as_sets(owner: Ints, items: Ints, owners: int) -> Sets:
    """Number the distinct items, sort those of every owner, and drop repetitions."""
    known, dense = np.unique(items, return_inverse=True)
    count = max(len(known), 1)
    keys = np.unique(owner * count + dense)
    starts = np.zeros(owners + 1, np.int64)
    np.cumsum(np.bincount(keys // count, minlength=owners), out=starts[1:])
    return Sets(starts, keys % count, len(known))
