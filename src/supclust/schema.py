"""Settings checked against type annotations: one description of legal values for every entry.

``train.py`` (conf/), the estimator and ``supclust fit`` check with it before heavy imports.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin


class Rule(NamedTuple):
    """Metadata of an ``Annotated`` type: which values are legal, and how to say it."""

    text: str
    accepts: Callable[[Any], bool]


def check(name: str, annotation: Any, value: Any) -> None:
    """Refuse a value that does not fit its annotation.

    >>> check("trainer.precision", Literal[32, 64], 16)
    Traceback (most recent call last):
    ValueError: trainer.precision must be 32 or 64; received 16.
    """
    if not accepts(annotation, value):
        raise ValueError(f"{name} must be {describe(annotation)}; received {value!r}.")


def accepts(annotation: Any, value: Any) -> bool:
    """Whether a value fits a union, a ``Literal``, ``None`` or a type with a `Rule`."""
    if annotation in (None, NoneType):
        return value is None
    kind = get_origin(annotation)
    if kind in (Union, UnionType):
        return any(accepts(member, value) for member in get_args(annotation))
    if kind is Literal:
        return not isinstance(value, bool) and value in get_args(annotation)
    return _rule(annotation).accepts(value)


def describe(annotation: Any) -> str:
    """The legal values in words.

    >>> describe(Count | None), describe(Literal["auto", "real", "stand-in"])
    ('an integer >= 1 or null', 'auto, real or stand-in')
    """
    if annotation in (None, NoneType):
        return "null"
    kind = get_origin(annotation)
    if kind in (Union, UnionType):
        return " or ".join(describe(member) for member in get_args(annotation))
    if kind is Literal:
        return " or ".join(", ".join(map(str, get_args(annotation))).rsplit(", ", 1))
    return _rule(annotation).text


def is_integer(value: Any, least: int) -> bool:
    """Whether a value is an integer from ``least`` on."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _rule(annotation: Any) -> Rule:
    return next(rule for rule in get_args(annotation) if isinstance(rule, Rule))


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # An integer beyond the floats cannot be used as a number.
    return value == value and (isinstance(value, float) or abs(value) <= sys.float_info.max)


def _list_of(accepts: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list | tuple) and all(map(accepts, value))


def _is_split(value: Any) -> bool:
    if isinstance(value, list | tuple):
        integers = all(is_integer(v, 0) for v in value)
        return bool(value) and integers and len(set(value)) == len(value)
    return value is None or value == "all" or is_integer(value, 0)


Number = Annotated[float, Rule("a number", _is_number)]
NonNegative = Annotated[float, Rule("a number >= 0", lambda v: _is_number(v) and v >= 0)]
Natural = Annotated[int, Rule("an integer >= 0", lambda v: is_integer(v, 0))]
Count = Annotated[int, Rule("an integer >= 1", lambda v: is_integer(v, 1))]
Names = Annotated[list[str], Rule("a list of names", _list_of(lambda v: isinstance(v, str)))]
Columns = Annotated[
    list[str],
    Rule("a list of columns such as [x,y]", lambda v: v is None or accepts(Names, v)),
]
Widths = Annotated[
    list[int], Rule("a list of integers >= 1 such as [64]", _list_of(lambda v: is_integer(v, 1)))
]
Split = Annotated[
    int | list[int] | Literal["all"],
    Rule("an integer >= 0, a list of different ones such as [0,1,2], or all", _is_split),
]
