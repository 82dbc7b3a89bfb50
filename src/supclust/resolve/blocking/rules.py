"""Candidate rules: conjunctions of predicates, as in ``surname & year(dob), postcode``.

Two records are candidates for one entity if they agree on all predicates of some rule. A predicate
is a column (equal values) or a function of one: ``first(name)``. A name of a column that is not
plain is put between double quotes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from supclust.data.errors import DataError
from supclust.resolve.blocking.keys import KeyColumn, Keys
from supclust.resolve.blocking.predicates import PREDICATES

_PREDICATE = re.compile(
    r'\s*(?:(?P<name>\w+)\(\s*)?(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^\s"&,()]+))\s*(?P<close>\))?\s*'
)
_PLAIN = re.compile(r'[^\s"&,()]+')


class Predicate(NamedTuple):
    """One condition: records that share a key of ``name`` applied to ``column``.

    >>> str(Predicate("surname")), str(Predicate("date of birth", "year"))
    ('surname', 'year("date of birth")')
    """

    column: str
    name: str = "equal"

    def __str__(self) -> str:
        column = self.column
        if not _PLAIN.fullmatch(column):
            column = '"' + column.replace('"', '""') + '"'
        return column if self.name == "equal" else f"{self.name}({column})"


@dataclass(frozen=True)
class Rule:
    """A conjunction of predicates."""

    predicates: tuple[Predicate, ...]

    def __str__(self) -> str:
        return " & ".join(map(str, self.predicates))


def parse_rules(text: str, columns: Sequence[str]) -> tuple[Rule, ...]:
    """Rules from text, separated by commas.

    Args:
        text: as in ``surname & year(dob), postcode``.
        columns: names that exist.

    >>> [str(rule) for rule in parse_rules("surname & year(dob), zip", ["surname", "dob", "zip"])]
    ['surname & year(dob)', 'zip']
    """
    rules, predicates, at = [], [], 0
    while True:
        match = _PREDICATE.match(text, at)
        if match is None or bool(match["name"]) != bool(match["close"]):
            raise DataError(
                "candidate rules must be predicates joined by & and separated by commas, as in "
                f'"surname & year(dob), postcode"; received {text!r}, which cannot be read from '
                f"{text[at:]!r} on.{_quoting(text, columns)}"
            )
        column = match["plain"] or match["quoted"].replace('""', '"')
        name = match["name"] or "equal"
        if name not in PREDICATES:
            raise DataError(
                f"a predicate must be one of {', '.join(PREDICATES)}; received {name!r}. "
                "Correct the candidate rules"
            )
        if column not in columns:
            raise DataError(
                f"candidate rules name column {column!r}; the columns are {', '.join(columns)}. "
                f"Name one of these.{_quoting(text, columns)}"
            )
        predicates.append(Predicate(column, name))
        at = match.end()
        if at == len(text) or text[at] == ",":
            rules.append(Rule(tuple(predicates)))
            predicates = []
        elif text[at] != "&":
            raise DataError(
                "candidate rules must have & or a comma after a predicate; received "
                f"{text[at:]!r}.{_quoting(text, columns)}"
            )
        if at == len(text):
            return tuple(rules)
        at += 1


def _quoting(text: str, columns: Sequence[str]) -> str:
    """How to write a name that is not plain, if one is in the text; begins with a space."""
    special = [name for name in columns if name and name in text and not _PLAIN.fullmatch(name)]
    if not special:
        return ""
    shown = Predicate(special[0], "word")
    return f" A name with a space or one of , & ( ) needs double quotes inside, as in '{shown}'"


class KeyTable:
    """Keys of a table's predicates, each computed once.

    Args:
        columns: prepared, by name.
        within: predicate that every pair of candidates agrees on, such as a column of blocks.
    """

    def __init__(self, columns: Mapping[str, KeyColumn], within: Predicate | None = None) -> None:
        self.columns = columns
        self.within = within
        self.n = len(next(iter(columns.values())).code)
        self._keys: dict[Predicate, Keys] = {}

    def of(self, predicate: Predicate) -> Keys:
        """Keys of one predicate."""
        if predicate not in self._keys:
            keys = PREDICATES[predicate.name](self.columns[predicate.column])
            if self.within is not None and predicate != self.within:
                keys = keys.times(self.of(self.within)).sorted()
            self._keys[predicate] = keys
        return self._keys[predicate]

    def of_rule(self, rule: Rule) -> Keys:
        """Keys of a conjunction."""
        keys = self.of(rule.predicates[0])
        for predicate in rule.predicates[1:]:
            keys = keys.times(self.of(predicate))
        return keys.sorted()
