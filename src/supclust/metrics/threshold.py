"""The exact best height to cut many trees at, by pooled pairwise F1, in one pass over merges."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supclust.hac.tree import Floats
from supclust.metrics.pairwise import score_arrays
from supclust.metrics.purity import MergePairs, merge_pairs


class BestThreshold(NamedTuple):
    """The cut with the best pooled pairwise F1 and its scores."""

    threshold: float
    f1: float
    precision: float
    recall: float


class ThresholdCurve(NamedTuple):
    """Scores of every distinct cut, from "nothing merged" to "all merged"; arrays of one length."""

    heights: Floats
    """The highest merge each cut applies; -inf for "nothing merged"."""
    thresholds: Floats
    """A height that makes exactly this cut."""
    precision: Floats
    recall: Floats
    f1: Floats


def best_threshold(trees: Iterable[tuple[ArrayLike, ArrayLike]]) -> BestThreshold:
    """Find the one cut height with the best pairwise F1, pair counts pooled over all the trees.

    Exact: scores every distinct cut (see ``threshold_curve``) and takes the best, the lowest one
    where several are equally good. ``cut_tree(Z, height=threshold)`` reproduces it on every tree.

    Args:
        trees: (Z, labels) for each block, Z of shape (n - 1, 4) and labels of shape (n,).

    Returns:
        Threshold, F1, precision, recall.

    Complexity: O(N log N) for N points in all.

    >>> best_threshold([([[0, 1, 1.0, 2], [2, 3, 3.0, 3]], ["a", "a", "b"])])
    BestThreshold(threshold=2.0, f1=1.0, precision=1.0, recall=1.0)
    """
    return best_of_curve(threshold_curve(trees))


def best_of_curve(curve: ThresholdCurve) -> BestThreshold:
    """The first best point of a curve."""
    best = int(np.argmax(curve.f1))
    return BestThreshold(
        float(curve.thresholds[best]),
        float(curve.f1[best]),
        float(curve.precision[best]),
        float(curve.recall[best]),
    )


def threshold_curve(trees: Iterable[tuple[ArrayLike, ArrayLike]]) -> ThresholdCurve:
    """Pooled pairwise precision, recall and F1 at every distinct cut of the trees.

    A merge adds |l| |r| predicted and sum_k l_k r_k shared pairs, so sorting all merges by height
    and adding up gives every cut. Merges of equal height are applied together.

    Args:
        trees: (Z, labels) for each block, Z of shape (n - 1, 4) and labels of shape (n,).

    Returns:
        Arrays of m + 1 entries for m distinct heights, lowest cut first.

    Complexity: O(N log N) for N points in all.

    >>> threshold_curve([([[0, 1, 1.0, 2], [2, 3, 3.0, 3]], ["a", "a", "b"])]).f1
    array([0. , 1. , 0.5])
    """
    return curve_from_merges([merge_pairs(*_pair(i, entry)) for i, entry in enumerate(trees)])


def curve_from_merges(merges: Sequence[MergePairs]) -> ThresholdCurve:
    """Finish ``threshold_curve`` from ``merge_pairs`` results computed before."""
    if not merges:
        raise ValueError(
            "a threshold needs at least one tree; received none; "
            "pass [(Z, labels), ...] with one entry per block"
        )
    pooled = np.concatenate([block.heights for block in merges])
    order = np.argsort(pooled, kind="stable")
    ordered = pooled[order]
    # The last merge of every run of equal heights closes a cut.
    closes = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], len(ordered) > 0))
    predicted, shared = (
        np.append(0, np.cumsum(np.concatenate(counts)[order])[closes])
        for counts in ([b.joined for b in merges], [b.same_label for b in merges])
    )
    true = shared[-1]  # once all is merged every same-label pair has met
    heights = ordered[closes]
    return ThresholdCurve(
        np.append(-np.inf, heights),
        _between(heights),
        *score_arrays(true, predicted, shared),
    )


def _pair(i: int, entry: Any) -> tuple[ArrayLike, ArrayLike]:
    if not isinstance(entry, (tuple, list)) or len(entry) != 2:
        length = f" of length {len(entry)}" if hasattr(entry, "__len__") else ""
        raise ValueError(
            "trees must hold a pair (Z, labels) for each block; "
            f"received {type(entry).__name__}{length} as entry {i}; "
            "pass a list even for a single tree: [(Z, labels)]"
        )
    return entry[0], entry[1]


def _between(heights: Floats) -> Floats:
    """A threshold for each of the m + 1 cuts that m increasing distinct heights allow.

    Between two heights their midpoint. Below the first and above the last finite height the
    distance is half the spread of the finite heights or, where there is only one, half its
    magnitude (0.5 for a height of zero). Rounding never moves a threshold past a height: where the
    sum or the midpoint would, the nearest number that makes the right cut is taken. Infinite
    heights are passed only by inf itself.
    """
    finite = heights[np.isfinite(heights)]
    if len(finite) == 0:
        return np.append(0.0, heights)
    first, last = float(finite[0]), float(finite[-1])
    margin = last / 2 - first / 2 if len(finite) > 1 else abs(first) / 2 or 0.5
    lowest = first - margin
    if not -math.inf < lowest < first:
        lowest = math.nextafter(first, -math.inf)
    highest = min(last + margin, sys.float_info.max)
    middle = finite[:-1] / 2 + finite[1:] / 2
    middle = np.where((finite[:-1] <= middle) & (middle < finite[1:]), middle, finite[:-1])
    return np.concatenate([[lowest], middle, [highest], heights[len(finite) :]])
