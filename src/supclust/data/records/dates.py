"""Dates in the forms that people write: year first, day or month first, months in words, years.

>>> [parse_date(text) for text in ("1990-12-01", "1/12/1990", "Dec 1, 1990", "1990", "soon")]
[(1990, 12, 1), (1990, 12, 1), (1990, 12, 1), (1990, 0, 0), None]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Date: TypeAlias = tuple[int, int, int]
DateOrder: TypeAlias = Literal["day first", "month first"]

UNKNOWN = 0
"""Month or day that a date does not have."""
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_TIME = r"(?:[t ]\d{1,2}:\d{2}.*)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})[-/. ](\d{{1,2}})(?:[-/. ](\d{{1,2}}){_TIME})?")
_YEAR_LAST = re.compile(rf"(\d{{1,2}})[-/. ](\d{{1,2}})[-/. ](\d{{4}}|\d{{2}}){_TIME}")
_DIGITS = re.compile(r"(\d{4})(\d{2})(\d{2})")
_YEAR = re.compile(r"(\d{4})(?:\.0+)?")
_MONTH_YEAR = re.compile(r"(\d{1,2})[-/.](\d{4})")
_DAY_MONTH = re.compile(
    rf"(?:(\d{{1,2}})(?:st|nd|rd|th)?[-., ]+)?([a-z]{{3,9}})[-., ]+(\d{{4}}){_TIME}"
)
_SHORT_YEAR = re.compile(rf"(\d{{1,2}})-([a-z]{{3}})-(\d{{2}}){_TIME}")
_MONTH_DAY = re.compile(r"([a-z]{3,9})[. ]+(\d{1,2})(?:st|nd|rd|th)?,? +(\d{4})")
_EDGES = " \t\n,.;:'\"()[]"
_CENTURY = 30  # years below it are after 2000


def parse_date(text: str, order: DateOrder = "day first") -> Date | None:
    """Year, month and day of a text; 0 for a month or day that it does not say.

    Args:
        text: one date. Month and day may be out of range: typing errors are kept.
        order: of two numbers before a year. A number above 12 is a day in any case.
    """
    text = text.strip(_EDGES).casefold()
    if match := _YEAR_FIRST.fullmatch(text):
        year, month, day = match.groups()
        return int(year), int(month), int(day or UNKNOWN)
    if match := _YEAR.fullmatch(text):
        return int(match[1]), UNKNOWN, UNKNOWN
    if match := _YEAR_LAST.fullmatch(text):
        first, second, year = int(match[1]), int(match[2]), _four_digits(match[3])
        swap = second > 12 or (order == "month first" and first <= 12)
        return (year, first, second) if swap else (year, second, first)
    if match := _DIGITS.fullmatch(text):
        year, month, day = map(int, match.groups())
        return year, month, day
    if match := _MONTH_YEAR.fullmatch(text):
        return int(match[2]), int(match[1]), UNKNOWN
    if match := _DAY_MONTH.fullmatch(text) or _SHORT_YEAR.fullmatch(text):
        return _with_name(match[3], match[2], match[1])
    if match := _MONTH_DAY.fullmatch(text):
        return _with_name(match[3], match[1], match[2])
    return None


def _with_name(year: str, month: str, day: str | None) -> Date | None:
    if month[:3] not in _MONTHS:
        return None
    return _four_digits(year), _MONTHS.index(month[:3]) + 1, int(day or UNKNOWN)


def _four_digits(year: str) -> int:
    """A year of two or four digits.

    >>> _four_digits("1990"), _four_digits("90"), _four_digits("05")
    (1990, 1990, 2005)
    """
    if len(year) > 2:
        return int(year)
    return int(year) + (2000 if int(year) < _CENTURY else 1900)


def is_plausible(date: Date | None) -> bool:
    """Whether a date could be one of a person's records: years 1000 to 2100, months to 12.

    >>> is_plausible((1990, 13, 1)), is_plausible((1990, 0, 0)), is_plausible(None)
    (False, True, False)
    """
    if date is None:
        return False
    year, month, day = date
    return 1000 <= year <= 2100 and 0 <= month <= 12 and 0 <= day <= 31


def date_order(texts: Sequence[str]) -> DateOrder:
    """Whether days or months come first where both are numbers before a year.

    >>> date_order(["1/2/1990", "31/12/1990"]), date_order(["12/31/90"])
    ('day first', 'month first')
    """
    votes = 0
    for text in texts:
        if match := _YEAR_LAST.fullmatch(text.strip(_EDGES).casefold()):
            votes += (int(match[1]) > 12) - (int(match[2]) > 12)
    return "month first" if votes < 0 else "day first"


def date_form(date: Date | None) -> str:
    """The eight digits of a date, empty if there is none.

    >>> date_form((1990, 12, 1)), date_form((1990, 0, 0)), date_form(None)
    ('19901201', '19900000', '')
    """
    return "" if date is None else f"{date[0]:04d}{date[1]:02d}{date[2]:02d}"


def day_numbers(dates: NDArray[np.int64]) -> NDArray[np.float64]:
    """Days since the year 0 of (n, 3) dates; in the middle where month or day are not known.

    Months and days out of range count as the nearest possible. NaN where the year is negative.
    """
    year = dates[:, 0]
    month = np.clip(np.where(dates[:, 1] == UNKNOWN, 7, dates[:, 1]), 1, 12)
    middle = np.where(dates[:, 1] == UNKNOWN, 1, 15)
    day = np.clip(np.where(dates[:, 2] == UNKNOWN, middle, dates[:, 2]), 1, 31)
    valid = year >= 0
    months = (np.where(valid, year, 0) - 1970) * 12 + (month - 1)
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return np.where(valid, first + day - 1, np.nan)
