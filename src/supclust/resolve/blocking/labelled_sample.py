"""A sample of the labelled pairs, in which no entity decides what the rules of a table are."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from supclust.resolve.blocking.keys import Ints

_POSITIVES = 16_000  # labelled pairs, at most
_PER_ENTITY = 100  # of these


def labelled_pairs(
    labels: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """A sample of the pairs of records of one entity, and how many pairs each stands for."""
    rows = np.flatnonzero(labels >= 0)
    rows = rows[np.argsort(labels[rows], kind="stable")]
    bounds = np.flatnonzero(np.diff(labels[rows], prepend=-1, append=-1))
    groups = [rows[a:b] for a, b in pairwise(bounds) if b - a > 1]
    rng.shuffle(groups)
    left, right, weight, total = [], [], [np.empty(0)], 0
    for group in groups:
        i, j = np.triu_indices(len(group), 1)
        pairs = len(i)
        if pairs > _PER_ENTITY:
            some = rng.choice(pairs, _PER_ENTITY, replace=False)
            i, j = i[some], j[some]
        left.append(group[i])
        right.append(group[j])
        weight.append(np.full(len(i), pairs / len(i)))
        total += len(i)
        if total >= _POSITIVES:
            break
    none = np.empty(0, np.int64)
    ends = (np.concatenate([none, *left]), np.concatenate([none, *right]))
    return *ends, np.concatenate(weight)
