"""The kinds of columns, and the features that two values of each kind are compared by."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from supclust.data.records.compare import kernel, values
from supclust.data.tables.cast import Kind

ColumnKind: TypeAlias = Literal["text", "document", "code", "list", "date", "number", "coordinates"]
GroupName: TypeAlias = Literal["text", "date", "number", "place"]

KINDS: tuple[ColumnKind, ...] = get_args(ColumnKind)
FLAGS = ("missing", "both missing")
_WORDS: dict[str, tuple[GroupName, int]] = {
    "shared words": ("text", kernel.WORDS),
    "shared rare words": ("text", kernel.RARE_WORDS),
    "words of one in the other": ("text", kernel.CONTAINED),
    "rarest shared word": ("text", kernel.RAREST_WORD),
}
FEATURES: dict[ColumnKind, dict[str, tuple[GroupName, int]]] = {
    "text": {
        "same text": ("text", kernel.SAME),
        **_WORDS,
        "similar spelling": ("text", kernel.TRIPLES),
        "Jaro-Winkler": ("text", kernel.WINKLER),
        "edit similarity": ("text", kernel.EDIT),
        "common prefix": ("text", kernel.PREFIX),
        "one contains the other": ("text", kernel.SUBSTRING),
        "rarity of the shared text": ("text", kernel.RARITY),
    },
    "document": {"same text": ("text", kernel.SAME), **_WORDS},
    "code": {
        "same code": ("text", kernel.SAME),
        "edit similarity": ("text", kernel.EDIT),
        "common prefix": ("text", kernel.PREFIX),
        "rarity of the shared code": ("text", kernel.RARITY),
    },
    "list": {
        "same list": ("text", kernel.SAME),
        "shared elements": ("text", kernel.WORDS),
        "shared rare elements": ("text", kernel.RARE_WORDS),
        "elements of one in the other": ("text", kernel.CONTAINED),
        "rarest shared element": ("text", kernel.RAREST_WORD),
    },
    "date": {
        "same date": ("text", kernel.SAME),
        "similar digits": ("text", kernel.EDIT),
        "rarity of the shared date": ("text", kernel.RARITY),
        "difference in days": ("date", values.DAYS),
        "same year": ("date", values.YEAR),
        "same month": ("date", values.MONTH),
        "same day": ("date", values.DAY),
        "day and month swapped": ("date", values.SWAPPED),
    },
    "number": {
        "difference": ("number", values.DIFFERENCE),
        "relative difference": ("number", values.RELATIVE),
        "equal": ("number", values.EQUAL),
    },
    "coordinates": {"distance": ("place", values.DISTANCE)},
}
"""Features of every kind of column: name, group of the kernel, number in the group."""
DIRECTIONS: dict[str, int] = {
    **dict.fromkeys(("difference in days", "difference", "relative difference", "distance"), -1),
    **dict.fromkeys((*FLAGS, "day and month swapped"), 0),
}
"""Of features that do not say by a larger value that records are more alike (1): by a smaller one
(-1), or by neither (0)."""
WIDTH: dict[GroupName, int] = {
    "text": kernel.TEXT_FEATURES,
    "date": values.DATE_FEATURES,
    "number": values.NUMBER_FEATURES,
    "place": values.PLACE_FEATURES,
}
"""Number of features of every group."""


def source_kind(kind: ColumnKind) -> Kind:
    """How a column of a kind is read from a table."""
    return "number" if kind == "number" else "text"


def groups_of(kind: ColumnKind) -> list[GroupName]:
    """Groups of the kernel that a kind uses."""
    return list(dict.fromkeys(group for group, _ in FEATURES[kind].values()))
