"""JSON documents checked field by field against a description, before anything reads them.

A description is a type of `supclust.schema`, such as ``Number | None``; a dictionary of fields,
``"name?"`` for one that may be absent, ``"*"`` for those that are not named; a list of one
description, for a list of such values; or a tuple of descriptions, for any of them. Fields without
a description may hold anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from supclust.data.errors import DataError
from supclust.data.files import decoded
from supclust.schema import Number, Rule, accepts, describe

Text = Annotated[str, Rule("a string", lambda value: isinstance(value, str))]
Anything = Annotated[object, Rule("anything", lambda value: True)]
Finite = Annotated[
    float, Rule("a finite number", lambda v: accepts(Number, v) and abs(v) < float("inf"))
]
MAPPING = {"*": Anything}
_SHOWN = 60  # characters of a wrong value in a message


def read_document(path: Path, description: Any) -> dict[str, Any]:
    """A JSON object of a file that fits its description.

    Raises:
        DataError: it does not, with the file and the field.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        raise DataError(f"cannot be read as JSON ({problem})", path) from None
    document: dict[str, Any] = decoded(value)
    if wrong := wrong_field(document, description):
        raise DataError(wrong, path)
    return document


def wrong_field(value: Any, description: Any, name: str = "") -> str | None:
    """What is wrong with the first field that does not fit; ``None`` if all do.

    >>> wrong_field({"cut": {"alpha": "x"}}, {"cut": {"alpha": Number}})
    "cut.alpha must be a number; received 'x'"
    """
    if isinstance(description, tuple):
        if any(wrong_field(value, choice) is None for choice in description):
            return None
        structures = [choice for choice in description if isinstance(choice, dict | list)]
        fitting = [choice for choice in structures if isinstance(value, type(choice))]
        return wrong_field(value, (fitting or structures)[0], name)
    if isinstance(description, list):
        if not isinstance(value, list):
            return _wrong(name, "a list", value)
        items = (wrong_field(v, description[0], f"{name}[{i}]") for i, v in enumerate(value))
        return next(filter(None, items), None)
    if isinstance(description, dict):
        if not isinstance(value, Mapping):
            return _wrong(name, "an object with fields", value)
        return _wrong_in_object(value, description, name)
    return None if accepts(description, value) else _wrong(name, describe(description), value)


def _wrong_in_object(
    value: Mapping[str, Any], description: Mapping[str, Any], name: str
) -> str | None:
    prefix = f"{name}." if name else ""
    for key, inner in description.items():
        field = key.removesuffix("?")
        if key == "*" or (field not in value and field != key):
            continue
        if field not in value:
            return f"{prefix}{field} is missing"
        if wrong := wrong_field(value[field], inner, prefix + field):
            return wrong
    others = [key for key in value if key not in description and f"{key}?" not in description]
    for key in others if "*" in description else ():
        if wrong := wrong_field(value[key], description["*"], prefix + key):
            return wrong
    return None


def _wrong(name: str, expected: str, value: Any) -> str:
    shown = ascii(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    return f"{name or 'the content'} must be {expected}; received {shown}"
