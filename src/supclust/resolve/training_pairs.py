"""Labelled pairs for the pair model, drawn from the candidates.

Pairs of one entity are matches; pairs of two entities, and where labels are complete pairs of a
labelled and an unlabelled record, are not. Each kind is thinned to a number that fits memory, and
weighted by what it stands for.
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

    Args:
        candidates: of the table.
        labels: (n,) entity, -1: not known.
        counts: of `count_pairs`.
        complete: whether unlabelled records are strangers to all labelled entities.
        seed: of the draw.
    """
    rng = np.random.default_rng(seed)
    others = counts.different + (counts.mixed if complete else 0)
    share = np.array([
        min(1.0, MATCHES / max(1, counts.same)),
        min(1.0, OTHERS / max(1, others)),
        min(1.0, OTHERS / max(1, others)) if complete else 0.0,
        0.0,
    ])  # fmt: skip
    parts = []
    for left, right in candidates.chunks():
        kinds = pair_kinds(labels, left, right)
        kept = rng.random(len(left)) < share[kinds]
        parts.append((left[kept], right[kept], kinds[kept]))
    if not parts:
        nothing = np.empty(0, np.int64)
        parts.append((nothing, nothing, nothing))
    left, right, kinds = (np.concatenate(part) for part in zip(*parts, strict=True))
    return LabelledPairs(left, right, kinds == 0, 1 / share[kinds])
