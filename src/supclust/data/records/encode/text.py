"""Encoding of text for kernels: characters, words and letter triples of every distinct value.

A value is read without regard to case, accents and punctuation: its *normal form* is its words,
runs of letters and digits, joined by one space. The triples of a form are its three-letter windows,
padded by one space on each side: "ann li" has " an", "ann", "nn ", "n l", " li", "li ".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.data.records.encode.kernel import encode_forms
from supclust.data.tables.cast import LIST_SEPARATOR

Ints = NDArray[np.int64]

_WORDS = re.compile(r"[^\W_]+")
_WHOLE = re.compile(r"\s*\d+\.0+\s*")  # a code that another program read as a number
_ELEMENTS = re.compile(r"[\x1f;|]")


class Sets(NamedTuple):
    """Sets of numbers below ``distinct``; set i is ``items[starts[i] : starts[i + 1]]``."""

    starts: Ints
    items: NDArray[np.int32]
    distinct: int


class TextEntries(NamedTuple):
    """The distinct normal forms of one or several columns.

    Attributes:
        chars: (all characters,) int32, numbered by first appearance; at most 64 of an entry.
        char_starts: (e + 1,).
        alphabet: number of distinct characters.
        words: set of every entry; columns share none.
        word_hashes: (words,) int64 32-bit hash of every distinct word.
        word_columns: (words,) column of every distinct word.
        triples: set of every entry.
        hashes: (e,) int64 32-bit hash of every form.
        columns: (e,) column of every entry.
    """

    chars: NDArray[np.int32]
    char_starts: Ints
    alphabet: int
    words: Sets
    word_hashes: Ints
    word_columns: Ints
    triples: Sets
    hashes: Ints
    columns: Ints


def normal_words(text: str) -> list[str]:
    """Words of a value; what has neither letters nor digits is one word as it stands.

    >>> normal_words("José  O'Neil-Müller"), normal_words(" - "), normal_words("  ")
    (['jose', 'o', 'neil', 'muller'], ['-'], [])
    """
    if not text.isascii():
        parts = unicodedata.normalize("NFKD", text)
        text = "".join(letter for letter in parts if not unicodedata.combining(letter))
    return _WORDS.findall(text.casefold()) or text.split()


def text_form(text: str) -> str:
    """Normal form of a text.

    >>> text_form("  José O'Neil ")
    'jose o neil'
    """
    return " ".join(normal_words(text))


def code_form(text: str) -> str:
    """Normal form of a code: its letters and digits.

    >>> code_form("(030) 555-12"), code_form("TQ13 8df"), code_form("12.0")
    ('03055512', 'tq138df', '12')
    """
    if _WHOLE.fullmatch(text):
        text = text.split(".")[0]
    return "".join(normal_words(text))


def list_form(text: str) -> str:
    """Normal form of a list: the normal forms of its elements, sorted.

    >>> list_form("Li, Ann; Bob|bob").split(LIST_SEPARATOR)
    ['bob', 'li ann']
    """
    elements = {text_form(element) for element in _ELEMENTS.split(text)}
    return LIST_SEPARATOR.join(sorted(elements - {""}))


def distinct_forms(
    values: Sequence[str | None], form: Callable[[str], str], first: int = 0
) -> tuple[Ints, list[str]]:
    """Entry of every value, -1 where it is missing or its form is empty, and the forms.

    Args:
        values: (n,) texts.
        form: normal form of a text.
        first: number of the first entry.

    >>> distinct_forms(["Ann Li", None, "ann  LI!"], text_form)
    (array([ 0, -1,  0]), ['ann li'])
    """
    by_value: dict[str | None, int] = {None: -1}
    by_form: dict[str, int] = {"": -1}
    for value in dict.fromkeys(values):
        if value is not None:
            by_value[value] = by_form.setdefault(form(value), first + len(by_form) - 1)
    code = np.fromiter(map(by_value.__getitem__, values), np.int64, len(values))
    return code, list(by_form)[1:]


def encode_entries(
    forms: Sequence[Sequence[str]], separators: Sequence[str], triples: Sequence[bool]
) -> TextEntries:
    """Encode the distinct forms of several columns, numbered through.

    Args:
        forms: of every column.
        separators: one character between the words of a form, of every column.
        triples: whether a column needs letter triples.

    Complexity: O(characters).
    """
    sizes = [len(part) for part in forms]
    columns = np.repeat(np.arange(len(forms)), sizes)
    lengths = np.fromiter((len(f) for part in forms for f in part), np.int64, sum(sizes))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    text = "".join(form for part in forms for form in part)
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.int64)
    made = encode_forms(
        points,
        starts,
        columns,
        np.array([ord(one) for one in separators], np.int64),
        np.array(triples, np.bool_),
    )
    chars, char_starts, alphabet, word_starts, words, word_hashes, word_columns = made[:7]
    triple_starts, triple_items, triple_count, hashes = made[7:]
    return TextEntries(
        chars,
        char_starts,
        alphabet,
        Sets(word_starts, words, len(word_hashes)),
        word_hashes,
        word_columns,
        Sets(triple_starts, triple_items, triple_count),
        hashes,
        columns,
    )
