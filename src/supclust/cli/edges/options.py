"""What the options of ``supclust edges`` mean: columns, linkage, thresholds in their units."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from supclust.data.tables.reader import RecordTable
    from supclust.hac.graph._graph_linkage import Missing

_ENDS = (("id_a", "id_b"), ("unique_id_l", "unique_id_r"))
_VALUES = {"dissimilarity": False, "probability": True, "match_probability": True}


def alpha_asked(options: argparse.Namespace) -> float | None:
    """Alpha; ``None`` if labelled records choose it."""
    from supclust.hac.family import alpha_of, check_alpha

    asked = {"--alpha": options.alpha, "--linkage": options.linkage}
    if options.labels is not None:
        for name, value in {**asked, "--threshold": options.threshold}.items():
            if value is not None:
                raise ValueError(
                    f"--labels chooses alpha and the cut; received {name} {value} as well. Drop "
                    "one of the two."
                )
        return None
    if options.alpha is not None:
        if options.linkage is not None:
            raise ValueError("give --alpha or --linkage; received both. Drop one.")
        return check_alpha(options.alpha)
    return alpha_of(options.linkage or "average")


def missing_asked(text: str | None) -> Missing | None:
    """What pairs that are not given count; ``None`` for the default."""
    if text is None:
        return None
    if text == "ignored":
        return "ignored"
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise ValueError(f"--missing must be a number, inf or ignored; received {text!r}.")
    return value


def value_column(table: RecordTable, options: argparse.Namespace) -> tuple[str, bool]:
    """The column of values, and whether they are probabilities."""
    if options.dissimilarity and options.probability:
        raise ValueError("give --dissimilarity or --probability; received both. Drop one.")
    if options.dissimilarity:
        return options.dissimilarity, False
    if options.probability:
        return options.probability, True
    there = [name for name in _VALUES if name in table.names]
    if len(there) != 1:
        received = " and ".join(there) or f"the columns {', '.join(table.names[:12])}"
        raise ValueError(
            f"{table.path}: one column dissimilarity or probability is needed; received "
            f"{received}. Name it with --dissimilarity COLUMN or --probability COLUMN."
        )
    if _VALUES[there[0]] and options.threshold is not None:
        raise ValueError(
            "with probabilities, --threshold used to be a dissimilarity and now is a probability: "
            f"name the column to say that you mean that; received --threshold "
            f"{options.threshold} alone. Add --probability {there[0]}: pairs are joined at "
            f"p >= {options.threshold}."
        )
    return there[0], _VALUES[there[0]]


def thresholds_asked(options: argparse.Namespace, probability: bool) -> dict[str, float]:
    """Heights to cut at, as dissimilarities, by what was typed."""
    from supclust.cluster.edges import MOST_LIKELY

    if options.labels is not None:
        return {}
    if options.threshold is None and probability:
        return {f"{MOST_LIKELY:g}": 1.0 - MOST_LIKELY}
    heights: dict[str, float] = {}
    for text in str(options.threshold or "").split(","):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise ValueError(
                "dissimilarities need --threshold, the height to cut at; received "
                f"{options.threshold}. Add e.g. --threshold 0.3, or several as 0.3,0.5."
            )
        if probability and not 0 <= value <= 1:
            raise ValueError(
                f"--threshold must be a probability, from 0 to 1; received {text}. Use e.g. 0.9."
            )
        heights[text.strip()] = 1.0 - value if probability else value
    return heights


def id_columns(table: RecordTable, options: argparse.Namespace) -> tuple[str, str]:
    """The two columns of ids: those named, else the first known pair that the table has."""
    known = next((pair for pair in _ENDS if set(pair) <= set(table.names)), _ENDS[0])
    return options.id_a or known[0], options.id_b or known[1]


def known_column(table: RecordTable, asked: str | None, known: Sequence[str]) -> str:
    """The column asked for, else the first known one that the table has."""
    return asked or next((name for name in known if name in table.names), known[0])
