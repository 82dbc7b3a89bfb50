"""Labelled pairs for the pair model, drawn from the candidates.

Pairs of one entity are matches; pairs of two entities, and where labels are complete pairs of a
labelled and an unlabelled record, are not. Each kind is thinned to a number that fits memory, and
weighted by what it stands for. Of large entities a smaller share is drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.resolve.blocking.candidates import Candidates
from supclust.resolve.blocking.keys import Ints

Bools = NDArray[np.bool_]

MATCHES, OTHERS = 40_000, 120_000
"""Pairs to train on, at most."""


class PairCounts(NamedTuple):
    """Candidate pairs by what their labels say.

    Attributes:
        same: of one entity.
        different: of two labelled entities.
        mixed: of a labelled and an unlabelled record.
        unknown: of two unlabelled records.
    """

    same: int
    different: int
    mixed: int
    unknown: int

    @property
    def total(self) -> int:
        """All candidate pairs."""
        return sum(self)


class LabelledPairs(NamedTuple):
    """Pairs to train on."""

    left: Ints
    right: Ints
    same: Bools
    weight: NDArray[np.float64]

    def of(self, some: Ints) -> LabelledPairs:
        """Some of the pairs."""
        return LabelledPairs(self.left[some], self.right[some], self.same[some], self.weight[some])


def pair_kinds(labels: Ints, left: Ints, right: Ints) -> Ints:
    """0 same, 1 different, 2 mixed, 3 unknown: the position in `PairCounts`."""
    a, b = labels[left], labels[right]
    both, either = (a >= 0) & (b >= 0), (a >= 0) | (b >= 0)
    kinds = np.where(both, np.where(a == b, 0, 1), np.where(either, 2, 3))
    return kinds.astype(np.int64)


def count_pairs(candidates: Candidates, labels: Ints) -> PairCounts:
    """Count the candidate pairs of every kind."""
    counts = np.zeros(4, np.int64)
    for left, right in candidates.chunks():
        counts += np.bincount(pair_kinds(labels, left, right), minlength=4)
    return PairCounts(*counts.tolist())


def labelled_pair_count(labels: Ints) -> int:
    """Number of pairs of records of one entity, candidates or not."""
    sizes = np.bincount(labels[labels >= 0]).astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def draw_pairs(
    candidates: Candidates, labels: Ints, counts: PairCounts, complete: bool, seed: int = 0
) -> LabelledPairs:
    """Draw pairs to train on.

    Matches are drawn in inverse proportion to the size of their entity. A draw of equal chances
    would consist of the largest entity, whose pairs grow as the square of its records.

    Args:
        candidates: of the table.
        labels: (n,) entity, -1: not known.
        counts: of `count_pairs`.
        complete: whether unlabelled records are strangers to all labelled entities.
        seed: of the draw.
    """
    rng = np.random.default_rng(seed)
    others = counts.different + (counts.mixed if complete else 0)
    of_others = min(1.0, OTHERS / max(1, others))
    share = np.array([1.0, of_others, of_others if complete else 0.0, 0.0])
    of_entity = match_shares(labels, MATCHES)
    parts = [LabelledPairs(*(np.empty(0, dtype) for dtype in (np.int64, np.int64, bool, float)))]
    for left, right in candidates.chunks():
        kinds = pair_kinds(labels, left, right)
        same = kinds == 0
        chance = share[kinds]
        chance[same] = of_entity[labels[left[same]]]
        kept = rng.random(len(left)) < chance
        parts.append(LabelledPairs(left[kept], right[kept], same[kept], 1 / chance[kept]))
    return LabelledPairs(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def match_shares(labels: Ints, most: int) -> NDArray[np.float64]:
    """(k,) share of the pairs of every entity that is drawn: min(1, c / size).

    Args:
        labels: (n,) entity, -1: not known.
        most: pairs drawn in all, which decides c.

    >>> match_shares(np.array([0, 0, 1, 1, 1, 1]), 4)
    array([1. , 0.5])
    """
    size = np.maximum(np.bincount(labels[labels >= 0]), 1)
    sizes, count = np.unique(size, return_counts=True)
    pairs = count * (sizes * (sizes - 1.0) / 2)
    # The number drawn is linear in c between two sizes.
    bounds = np.append(0, sizes)
    drawn = [float((pairs * np.minimum(1, c / sizes)).sum()) for c in bounds]
    c = float(np.interp(most, drawn, bounds))
    return np.minimum(1.0, c / size.astype(np.float64))
