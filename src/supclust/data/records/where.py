"""A condition on one column that chooses records: ``patent_date<2022``, ``country=US``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supclust.data.errors import DataError
from supclust.data.records.dates import date_form, date_order, is_plausible, parse_date
from supclust.data.records.kinds import as_numbers

_CONDITION = re.compile(r"\s*(.+?)\s*(<=|>=|!=|=|<|>)\s*(.*?)\s*")
_TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True)
class Where:
    """A condition; records without a value meet it only if the sign is ``!=``.

    Attributes:
        column: its name.
        sign: ``<``, ``<=``, ``>``, ``>=``, ``=`` or ``!=``.
        value: to compare with: a number if the column holds numbers, a date (or its beginning,
            such as a year) if it is one, else text.
    """

    column: str
    sign: str
    value: str

    @classmethod
    def parse(cls, text: str) -> Where:
        """From text.

        >>> Where.parse("patent_date < 2022")
        Where(column='patent_date', sign='<', value='2022')
        """
        match = _CONDITION.fullmatch(text)
        if not match:
            raise DataError(
                f"--where must be a column, a sign and a value, as 'year<2022'; received {text!r}"
            )
        return cls(*match.groups())

    def __str__(self) -> str:
        """As it is written."""
        return f"{self.column}{self.sign}{self.value}"

    def apply(self, columns: Mapping[str, Any], path: Path) -> dict[str, Any]:
        """The columns of the records that meet the condition."""
        kept = [row for row, met in enumerate(self._met(columns[self.column])) if met]
        if not kept:
            raise DataError(f"no record meets --where '{self}'; correct it", path)
        return {
            name: values[kept] if isinstance(values, np.ndarray) else [values[row] for row in kept]
            for name, values in columns.items()
        }

    def _met(self, values: Any) -> list[bool]:
        test = _TESTS[self.sign]
        if not isinstance(values, np.ndarray):
            numbers = as_numbers(values)
            values = values if numbers is None else numbers
        if isinstance(values, np.ndarray):
            number = as_numbers([self.value])
            if number is None:
                raise DataError(
                    f"--where: column {self.column!r} holds numbers; {self.value!r} is none"
                )
            known = ~np.isnan(values)
            met = np.where(known, test(values, number[0]), self.sign == "!=")
            return [bool(one) for one in met]
        bound = parse_date(self.value)
        if bound is not None and is_plausible(bound):
            order = date_order([value for value in values if value])
            width = 4 if not bound[1] else 6 if not bound[2] else 8  # what the bound says of a date
            edge = date_form(bound)[:width]
            forms = [date_form(parse_date(v, order)) if v else "" for v in values]
            return [test(form[:width], edge) if form else self.sign == "!=" for form in forms]
        return [test(v.strip(), self.value) if v else self.sign == "!=" for v in values]
