"""Encoding of text for kernels: characters, words and letter triples of every distinct value.

A value is read without regard to case, accents and punctuation: its *normal form* is its words,
runs of letters and digits, joined by one space. Scripts without spaces between words, such as
Chinese, Japanese and Thai, have overlapping pairs of characters as words. The triples of a form are
its three-letter windows, padded by one space on each side: "ann li" has " an", "ann", "nn ", "n l",
" li", "li ".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.data.records.encode.kernel import encode_forms
from supclust.data.records.features import ColumnKind
from supclust.data.tables.cast import LIST_SEPARATOR

Ints = NDArray[np.int64]

FORM_VERSION = 2
"""Version of the normal forms. Version 1, of models that do not say, had no pairs of characters and
removed all combining signs."""

_WORDS = re.compile(r"[^\W_]+")
_BEYOND_CYRILLIC = re.compile(r"[\u0590-\U0010ffff]")
_NO_SPACES = (  # Thai, Lao, Myanmar, Khmer, kana, Han
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff"
    r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_VARIANTS = re.compile(r"[\u034f\u20dd-\u20e4\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_RUNS = re.compile(f"[{_NO_SPACES}]+|[^{_NO_SPACES}]+")
_PAIRED = re.compile(f"[{_NO_SPACES}]{{3,}}")
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


def normal_words(text: str, version: int = FORM_VERSION) -> list[str]:
    """Words of a value; what has neither letters nor digits is one word as it stands.

    >>> normal_words("José  O'Neil-Müller"), normal_words(" - "), normal_words("  ")
    (['jose', 'o', 'neil', 'muller'], ['-'], [])
    """
    if text.isascii():
        return _WORDS.findall(text.casefold()) or text.split()
    removed = unicodedata.combining if version == 1 else _is_accent
    parts = unicodedata.normalize("NFKD", text)
    text = "".join(letter for letter in parts if not removed(letter)).casefold()
    if version == 1 or not _BEYOND_CYRILLIC.search(text):
        return _WORDS.findall(text) or text.split()
    text = unicodedata.normalize("NFC", _VARIANTS.sub("", text))
    return "".join(c if c.isalnum() or _is_mark(c) else " " for c in text).split() or text.split()


def _is_accent(letter: str) -> bool:
    """Whether a sign only says how a letter sounds: accents, points of Hebrew and Arabic.

    Vowels of Indic scripts and of Thai, and the voicing of kana, make another syllable.
    """
    order = unicodedata.combining(letter)
    return order == 1 or 10 <= order <= 35 or order >= 200


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter).startswith("M")


def _with_pairs(word: str) -> str:
    """A word, with the pairs of characters in the place of what is written without spaces.

    >>> _with_pairs("日窒鑛業2"), _with_pairs("王"), _with_pairs("ann")
    ('日窒 窒鑛 鑛業 2', '王', 'ann')
    """
    if word.isascii():
        return word
    parts: list[str] = []
    for run in _RUNS.findall(word):
        pairs = [run[k : k + 2] for k in range(len(run) - 1)]
        parts += pairs if _PAIRED.fullmatch(run) else [run]
    return " ".join(parts)


def text_form(text: str, version: int = FORM_VERSION) -> str:
    """Normal form of a text.

    >>> text_form("  José O'Neil ")
    'jose o neil'
    """
    words = normal_words(text, version)
    return " ".join(words if version == 1 else map(_with_pairs, words))


def code_form(text: str, version: int = FORM_VERSION) -> str:
    """Normal form of a code: its letters and digits.

    >>> code_form("(030) 555-12"), code_form("TQ13 8df"), code_form("12.0")
    ('03055512', 'tq138df', '12')
    """
    if _WHOLE.fullmatch(text):
        text = text.split(".")[0]
    return "".join(normal_words(text, version))


def list_form(text: str, version: int = FORM_VERSION) -> str:
    """Normal form of a list: the normal forms of its elements, sorted.

    >>> list_form("Li, Ann; Bob|bob").split(LIST_SEPARATOR)
    ['bob', 'li ann']
    """
    elements = {text_form(element, version) for element in _ELEMENTS.split(text)}
    return LIST_SEPARATOR.join(sorted(elements - {""}))


def form_of(kind: ColumnKind, version: int = FORM_VERSION) -> Callable[[str], str]:
    """The normal form of the values of a column, by its kind; dates have another."""
    by_kind = {"code": code_form, "list": list_form}
    return partial(by_kind.get(kind, text_form), version=version)


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
