"""Columns that keep entities apart: records of one entity hardly ever share a value.

Where two catalogues are one table, a column says from which one a record comes, and no entity is
twice in the same. Elsewhere it is a round of a survey, or a page. Sharing a value of most columns
makes two records more alike, and models of pairs are held to that; of these columns they are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.data.records.table import Records
from supclust.resolve.blocking.keys import Ints
from supclust.resolve.blocking.rules import KeyTable

_ERRORS = 3  # standard errors that a share must lie below chance
_EXPECTED = 9  # entities that share a value, and that do not, expected by chance, at least


class Opposed(NamedTuple):
    """A column whose values records of one entity share less often than others.

    Attributes:
        column: its name.
        share: of the pairs of one entity that have the same value, the mean over entities.
        chance: that two records have the same value.
    """

    column: str
    share: float
    chance: float

    def __str__(self) -> str:
        """A line about it."""
        return (
            f"{self.column}: {self.share:.0%} of the pairs of one entity share a value, where "
            f"{self.chance:.0%} of all pairs do; it may count against a match"
        )


def opposed_columns(keys: KeyTable, records: Records, labels: Ints) -> list[Opposed]:
    """Find them: shared less often than by chance, by three standard errors over entities.

    Args:
        keys: of the columns; values are equal if their normal forms are.
        records: the table.
        labels: (n,) entity, -1: not known.
    """
    opposed = []
    for name, kind in records.kinds.items():
        if kind in ("number", "coordinates", "document") or name not in keys.columns:
            continue
        codes = keys.columns[name].code
        known = codes >= 0
        chance = _agreement(np.zeros(int(known.sum()), np.int64), codes[known])
        known &= labels >= 0
        shares = _agreement(labels[known], codes[known])
        if len(shares) == 0 or len(chance) == 0:
            continue
        p, share, n = float(chance[0]), float(shares.mean()), len(shares)
        enough = n * min(p, 1 - p) >= _EXPECTED
        if enough and p - share > _ERRORS * np.sqrt(p * (1 - p) / n):
            opposed.append(Opposed(name, share, p))
    return opposed


def _agreement(groups: Ints, codes: Ints) -> NDArray[np.float64]:
    """Of every group of at least two records, the share of its pairs that have the same code."""
    if len(groups) == 0:
        return np.empty(0)
    width = int(codes.max()) + 1
    cells, counts = np.unique(groups * width + codes, return_counts=True)
    size = np.bincount(groups)
    same = np.bincount(cells // width, counts * (counts - 1) / 2, minlength=len(size))
    several = size > 1
    return same[several] / (size * (size - 1) / 2)[several]


def hint(opposed: Sequence[Opposed]) -> str | None:
    """What to say about columns that no two records of an entity share, if there are any."""
    never = [one for one in opposed if one.share == 0]
    if not never:
        return None
    column = max(never, key=lambda one: one.chance).column
    return f"if no entity can be twice in one {column}, --distinct {column} rules such matches out"
