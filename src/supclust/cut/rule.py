"""Compiled part of the learned cut: features of merges, expected shares, merges to apply.

Kernels take the rule as plain arrays and numbers, so that ``supclust cluster`` cuts trees inside
its own compiled pass, without torch and LightGBM.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.boosting import Trees, score_row
from supclust.cut.partition import maximising_merges
from supclust.hac.tree import Floats, Ints
from supclust.kernels import kernel

FEATURES = ("height", "log_larger", "log_smaller", "gap_to_parent")


class Rule(NamedTuple):
    """A learned cut as kernels read it; without trees: none."""

    threshold: float
    unit: float
    exchange: float
    trees: Trees


def no_rule() -> Rule:
    """The rule of a cut that is not learned."""
    integers, floats = np.empty(0, np.int32), np.empty(0)
    kinds, sides = np.empty(0, np.int8), np.empty(0, np.bool_)
    trees = Trees(integers, integers, floats, kinds, sides, integers, integers, floats, floats)
    return Rule(0.0, 1.0, 0.0, trees)


class Cut(NamedTuple):
    """How trees are built and cut: by ``n_clusters`` where it is > 0, else by ``rule`` or height.

    Attributes:
        alpha: of the linkage.
        threshold: height to cut at, unless there is a rule.
        n_clusters: 0: by height or rule.
        rule: of a learned cut; without trees: none.
    """

    alpha: float
    threshold: float
    n_clusters: int = 0
    rule: Rule = no_rule()


@kernel
def merge_features(
    children: Ints, heights: NDArray[np.floating], threshold: float, unit: float
) -> Floats:
    """(n - 1, 4) `FEATURES` of every merge; they do not depend on the size of the block.

    height: above the threshold; gap_to_parent: from the height to that of the parent, NaN at the
    root; both in units of ``unit``.
    """
    n = children.shape[0] + 1
    sizes = np.ones(2 * n - 1, dtype=np.int64)
    features = np.empty((n - 1, 4))
    for k in range(n - 1):
        left, right = children[k, 0], children[k, 1]
        sizes[n + k] = sizes[left] + sizes[right]
        height = float(heights[k])
        features[k, 0] = (height - threshold) / unit
        features[k, 1] = np.log(max(sizes[left], sizes[right]))
        features[k, 2] = np.log(min(sizes[left], sizes[right]))
        features[k, 3] = np.nan
        for side in range(2):
            child = children[k, side] - n
            if child >= 0:
                features[child, 3] = (height - float(heights[child])) / unit
    return features


@kernel
def expected_shares(features: Floats, trees: Trees) -> Floats:
    """(n - 1,) predicted share of the pairs of every merge that belong together."""
    shares = np.empty(features.shape[0])
    for k in range(features.shape[0]):
        shares[k] = 1.0 / (1.0 + np.exp(-score_row(features[k], trees)))
    return shares


@kernel
def learned_merges(children: Ints, heights: NDArray[np.floating], rule: Rule) -> NDArray[np.bool_]:
    """(n - 1,) merges that a learned cut applies."""
    n = children.shape[0] + 1
    shares = expected_shares(
        merge_features(children, heights, rule.threshold, rule.unit), rule.trees
    )
    sizes = np.ones(2 * n - 1)
    joined = np.empty(n - 1)
    for k in range(n - 1):
        left, right = sizes[children[k, 0]], sizes[children[k, 1]]
        sizes[n + k] = left + right
        joined[k] = left * right
    applied: NDArray[np.bool_] = maximising_merges(children, shares * joined, joined, rule.exchange)
    return applied
