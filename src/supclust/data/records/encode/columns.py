"""Columns of a table as the arrays that the comparison kernels read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.records.compare.kernel import WORD_WEIGHT, EncodedRecords
from supclust.data.records.dates import DateOrder, date_form, day_numbers, parse_date
from supclust.data.records.encode.text import (
    TextEntries,
    distinct_forms,
    encode_entries,
    form_of,
)
from supclust.data.tables.cast import LIST_SEPARATOR

if TYPE_CHECKING:
    from supclust.data.records.comparisons import Comparison

Texts: TypeAlias = "Sequence[str | None]"
Column: TypeAlias = "Texts | NDArray[np.float64]"
Ints = NDArray[np.int64]

_TEXTS = ("text", "document", "code", "list", "date")  # kinds that are read as text
_PLACE = re.compile(r"\s*\(?\s*([-+]?\d+(?:\.\d+)?)\s*[,; ]\s*([-+]?\d+(?:\.\d+)?)\s*\)?\s*")


class EncodedText(NamedTuple):
    """Text columns: (n, t) entry of every value, and the entries."""

    entries: Ints
    forms: TextEntries


def encode_columns(
    comparisons: Sequence[Comparison], columns: Mapping[str, Column]
) -> EncodedRecords:
    """Encode the columns of some comparisons; see `RecordComparisons.encode`."""
    n = _length(comparisons, columns)
    by_kind: dict[str, list[Comparison]] = {}
    for one in comparisons:
        by_kind.setdefault(one.kind, []).append(one)
    texts = [one for one in comparisons if one.kind in _TEXTS]
    text = encode_texts(texts, columns)
    rarity, weights = _rarities(texts, text.forms)
    forms, words = text.forms, text.forms.words
    owner = np.repeat(np.arange(len(forms.hashes)), np.diff(words.starts))
    totals = np.bincount(owner, weights[words.items], len(forms.hashes)).astype(np.int64)
    dates = [_dates(columns, one) for one in by_kind.get("date", ())]
    numbers = [_finite(columns[one.column]) for one in by_kind.get("number", ())]
    places = [_places(columns[one.column]) for one in by_kind.get("coordinates", ())]
    return EncodedRecords(
        text.entries,
        rarity,
        *(forms.chars, forms.char_starts, forms.alphabet),
        *(words.items, words.starts, weights, totals),
        *(forms.triples.items, forms.triples.starts, forms.triples.distinct),
        _stacked(dates, (n, 3), np.int64),
        _stacked([day_numbers(parsed) for parsed in dates], (n,), np.float64),
        _stacked(numbers, (n,), np.float64),
        _stacked(places, (n, 2), np.float64),
    )


def encode_texts(comparisons: Sequence[Comparison], columns: Mapping[str, Column]) -> EncodedText:
    """Encode columns of text, codes, lists and dates."""
    codes, forms = [], []
    first = 0
    for one in comparisons:
        of_dates = partial(_form_of_date, one.order)
        form = of_dates if one.kind == "date" else form_of(one.kind, one.form_version)
        code, distinct = distinct_forms(cast("Texts", columns[one.column]), form, first)
        first += len(distinct)
        codes.append(code)
        forms.append(distinct)
    made = encode_entries(
        forms,
        [LIST_SEPARATOR if one.kind == "list" else " " for one in comparisons],
        ["similar spelling" in one.features for one in comparisons],
    )
    n = len(columns[comparisons[0].column]) if comparisons else 0
    return EncodedText(_stacked(codes, (n,), np.int64), made)


def _form_of_date(order: DateOrder, text: str) -> str:
    return date_form(parse_date(text, order))


def _length(comparisons: Sequence[Comparison], columns: Mapping[str, Column]) -> int:
    lengths = {len(columns[one.column]) for one in comparisons}
    if len(lengths) != 1:
        raise DataError(f"columns must have one length; received {sorted(lengths)}")
    return lengths.pop()


def _rarities(
    comparisons: Sequence[Comparison], forms: TextEntries
) -> tuple[NDArray[np.float32], Ints]:
    """Rarity of every entry, and integer weight of every word."""
    rarity = np.ones(len(forms.hashes), np.float32)
    weights = np.full(len(forms.word_hashes), WORD_WEIGHT, np.int64)
    for c, one in enumerate(comparisons):
        mine = forms.columns == c
        rarity[mine] = one.values.rarity(forms.hashes[mine])
        mine = forms.word_columns == c
        weights[mine] = np.rint(one.words.rarity(forms.word_hashes[mine]) * WORD_WEIGHT)
    return rarity, weights


def _finite(values: Column) -> NDArray[np.float64]:
    numbers = np.asarray(values, np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _dates(columns: Mapping[str, Column], one: Comparison) -> Ints:
    """(n, 3) year, month, day; -1 where there is no date."""
    values = cast("Texts", columns[one.column])
    known = {value: parse_date(value, one.order) for value in set(values) if value is not None}
    parsed = [(known.get(value) if value is not None else None) or (-1, 0, 0) for value in values]
    return np.array(parsed, np.int64).reshape(len(values), 3)


def parse_place(text: str) -> tuple[float, float] | None:
    """Latitude and longitude in degrees.

    >>> parse_place("48.1, 11.5"), parse_place("100, 0")
    ((48.1, 11.5), None)
    """
    match = _PLACE.fullmatch(text)
    if not match:
        return None
    north, east = float(match[1]), float(match[2])
    return (north, east) if abs(north) <= 90 and abs(east) <= 360 else None


def _places(values: Column) -> NDArray[np.float64]:
    unknown = (np.nan, np.nan)
    texts = cast("Texts", values)
    parsed = [(parse_place(text) if text is not None else None) or unknown for text in texts]
    return np.array(parsed, np.float64).reshape(len(texts), 2)


def _stacked(parts: Sequence[NDArray[Any]], shape: tuple[int, ...], dtype: type) -> NDArray[Any]:
    """Arrays of n records as (n, columns, ...)."""
    if not parts:
        return np.empty((shape[0], 0, *shape[1:]), dtype)
    return np.ascontiguousarray(np.stack(parts, axis=1).astype(dtype))
