"""Kinds of columns, inferred from what they hold and, for integers, from their names.

Digits are a magnitude only if nothing says otherwise: years and dates are dates, digits of a fixed
width, with zeros in front or under a name such as ``phone`` are codes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.records.dates import UNKNOWN, is_plausible, parse_date
from supclust.data.records.encode.columns import parse_place
from supclust.data.records.features import KINDS, ColumnKind

InferredKind: TypeAlias = ColumnKind | Literal["id", "empty", "constant"]

_MOST = 0.9  # share of the distinct values that must have the form of a kind
_POSSIBLE = 0.5  # share of the distinct values of a column of dates that must be possible dates
_SAMPLE = 20_000  # distinct values that are looked at
_FIXED_WIDTH = 5  # digits from which values of one width are codes
_UNIQUE_FROM = 20  # records from which a column unique in every record is an id
_DOCUMENT_WORDS = 25  # words of a value, on average, from which text is a document
_YEARS = range(1800, 2101)
_LONG_DIGITS = 9  # digits from which integers are codes
_YEAR_NAME = re.compile(r"(?:^|[^a-z])(?:years?|yr|jahr|annee)(?:$|[^a-z])|_?yob$")
_CODE_NAME = re.compile(
    r"zip|post_?(?:al|code)|plz|phone|(?:^|_)tel|mobile|fax|ssn|soc_?sec|isbn|issn|iban|(?:^|_)code"
)
_ID_NAME = re.compile(r"(?:^|[_. -])(?:id|uuid|guid|key|index|idx|row|rowid|record)$|^unnamed: 0$")
_CAMEL_ID = re.compile(r"[a-z](?:Id|ID)$")
_INTEGER = re.compile(r"[-+]?\d+(?:\.0+)?")
_DECIMALS = re.compile(r"\.\d.*\.\d")
_SEPARATED = re.compile(r"[;|]")
_PLAIN_WORD = re.compile(r"[^\W\d_]{4,}")
_ALNUM = re.compile(r"[^\W_]")


def infer_kind(name: str, values: Sequence[str | None], *, is_list: bool = False) -> InferredKind:
    """Kind of a column.

    Args:
        name: of the column.
        values: of all records; ``None`` and blank are missing.
        is_list: whether the file says that it holds lists.

    >>> infer_kind("born", ["1990-01-31", None, "1991-02-01"]), infer_kind("zip", ["1234", "5678"])
    ('date', 'code')
    >>> infer_kind("price", ["9.5", "12"]), infer_kind("name", ["Ann", "Bob"])
    ('number', 'text')
    """
    known = [value.strip() for value in values if value is not None and value.strip()]
    distinct = list(dict.fromkeys(known))
    if not distinct:
        return "empty"
    if len(distinct) == 1 and len(values) >= _UNIQUE_FROM:
        return "constant"
    kind = "list" if is_list else _kind_of(name.strip().casefold(), distinct[:_SAMPLE])
    if len(distinct) == len(values) >= _UNIQUE_FROM and _is_id(name, kind, distinct):
        return "id"
    return kind


def _kind_of(name: str, distinct: Sequence[str]) -> ColumnKind:
    numbers = as_numbers(distinct)
    if numbers is not None:
        return _kind_of_numbers(name, distinct, numbers)
    if _share(distinct, lambda v: parse_place(v) is not None and _DECIMALS.search(v)) >= _MOST:
        return "coordinates"
    if _are_dates(distinct):
        return "date"
    if _share(distinct, _is_code) >= _MOST:
        return "code"
    words = np.mean([len(value.split()) for value in distinct])
    if _share(distinct, _SEPARATED.search) >= 0.5 and words < _DOCUMENT_WORDS:
        return "list"
    return "document" if words >= _DOCUMENT_WORDS else "text"


def _share(values: Sequence[str], test: Callable[[str], object]) -> float:
    return sum(bool(test(value)) for value in values) / len(values)


def _are_dates(distinct: Sequence[str]) -> bool:
    """Whether values are dates, with typing errors.

    A value with an error is mostly distinct from all others, so there are many among the distinct
    values: 21 % of the dates of birth of the historical persons, as 1856-86-18. Of codes in the
    form of dates, such as bank sort codes (20-45-77), less than a tenth are possible dates. A
    number of four digits alone is a date only as a possible year.
    """
    dates = [date for date in map(parse_date, distinct) if date is not None]
    possible = sum(map(is_plausible, dates))
    mistyped = sum(not is_plausible(date) and date[1] != UNKNOWN for date in dates)
    n = len(distinct)
    return possible + mistyped >= _MOST * n and possible >= _POSSIBLE * n


def _kind_of_numbers(name: str, texts: Sequence[str], numbers: NDArray[np.float64]) -> ColumnKind:
    """Kind of a column of numbers: a date, a code or a magnitude."""
    if not all(_INTEGER.fullmatch(text) for text in texts):
        return "number"
    digits = [text.lstrip("+-").split(".")[0] for text in texts]
    if (numbers >= 0).all() and _are_dates(digits):
        in_range = np.isin(numbers, _YEARS).mean() >= _MOST
        if _YEAR_NAME.search(name) or in_range or _share(digits, lambda v: len(v) == 8) >= _MOST:
            return "date"
    widths = np.array([len(value) for value in digits])
    fixed = (widths == np.median(widths)).mean() >= 0.98 and len(texts) > 2
    is_wide = np.median(widths) >= _LONG_DIGITS
    if _CODE_NAME.search(name) or is_wide or (fixed and widths[0] >= _FIXED_WIDTH):
        return "code"
    return "number"


def _is_code(value: str) -> bool:
    """Whether a value is a code: digits, or letters and digits, but no ordinary words."""
    symbols = _ALNUM.findall(value)
    digits = sum(symbol.isdigit() for symbol in symbols)
    return (
        bool(digits)
        and len(symbols) <= 40
        and 4 * digits >= len(symbols)
        and len(value.split()) <= 4
        and not _PLAIN_WORD.search(value)
    )


def _is_id(name: str, kind: ColumnKind, distinct: Sequence[str]) -> bool:
    """Whether a column that is unique in every record is an id."""
    if kind == "code" or _ID_NAME.search(name.strip().casefold()) or _CAMEL_ID.search(name):
        return kind not in ("list", "document", "date", "coordinates")
    if kind == "number" and all(_INTEGER.fullmatch(value) for value in distinct):
        numbers = [float(value) for value in distinct]
        return max(numbers) - min(numbers) == len(numbers) - 1  # counted through
    return False


def as_numbers(column: Sequence[str | None]) -> NDArray[np.float64] | None:
    """A column as numbers, NaN where empty; ``None`` if it holds anything else.

    A zero in front ("007") marks a code, not a number.

    >>> as_numbers(["1.5", None]), as_numbers(["007"]), as_numbers(["a"])
    (array([1.5, nan]), None, None)
    """
    values = np.full(len(column), np.nan)
    for row, text in enumerate(column):
        if text is None or not text.strip():
            continue
        digits = text.strip().lstrip("+-")
        if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
            return None
        try:
            values[row] = float(text)
        except ValueError:
            return None
    return values


def checked_kinds(asked: Mapping[str, str]) -> dict[str, ColumnKind]:
    """Kinds that a person chose, validated.

    >>> checked_kinds({"zip": "code"})
    {'zip': 'code'}
    """
    checked: dict[str, ColumnKind] = {}
    for name, kind in asked.items():
        match = [known for known in KINDS if known == kind]
        if not match:
            raise DataError(
                f"--kind {name}={kind}: a kind must be one of {', '.join(KINDS)}; received {kind!r}"
            )
        checked[name] = match[0]
    return checked
