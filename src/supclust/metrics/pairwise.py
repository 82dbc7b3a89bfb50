"""Scores from counts of pairs of points, which pool over blocks: precision, recall, F1, Rand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.metrics.labels import Codes, encode_pair


class PairCounts(NamedTuple):
    """Unordered pairs of points in one cluster; add field by field to pool blocks."""

    true: int
    """Pairs in one true cluster."""
    predicted: float
    """Pairs in one predicted cluster; a whole number unless strangers are counted."""
    shared: int
    """Pairs in both."""


class PairwiseScores(NamedTuple):
    """Pairwise precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def pair_counts(labels_true: ArrayLike, labels_pred: ArrayLike) -> PairCounts:
    """Count the pairs together in the truth, in the prediction, and in both.

    Args:
        labels_true: (n,) true cluster of every point.
        labels_pred: (n,) predicted cluster of every point.

    Returns:
        Three integers.

    Complexity: O(n log n) time, O(n) memory; no pair is enumerated.

    >>> pair_counts([0, 0, 1], ["x", "x", "x"])
    PairCounts(true=1, predicted=3, shared=1)
    """
    return _count(*encode_pair(labels_true, labels_pred))


def _count(true: Codes, pred: Codes) -> PairCounts:
    """`pair_counts` of encoded labels."""
    cells = np.unique(true.values * pred.n_labels + pred.values, return_counts=True)[1]
    return PairCounts(
        _pairs_within(np.bincount(true.values)),
        _pairs_within(np.bincount(pred.values)),
        _pairs_within(cells),
    )


def scores_from_counts(counts: PairCounts) -> PairwiseScores:
    """Precision shared/predicted, recall shared/true, F1 = 2 shared / (predicted + true).

    No predicted pair: precision 1. No true pair: recall 1. Neither: F1 is 1 as well.

    >>> scores_from_counts(PairCounts(true=4, predicted=2, shared=2)).recall
    0.5
    """
    precision, recall, f1 = score_arrays(*counts)
    return PairwiseScores(float(precision), float(recall), float(f1))


def score_arrays(true: Any, predicted: Any, shared: Any) -> tuple[Any, Any, Any]:
    """`scores_from_counts` of numbers or arrays: precision, recall, F1."""
    either = predicted + true
    return (
        shared / np.maximum(predicted, 1) + (predicted == 0),
        shared / np.maximum(true, 1) + (true == 0),
        2 * shared / np.maximum(either, 1) + (either == 0),
    )


def pooled_scores(clusterings: Iterable[tuple[ArrayLike, ArrayLike]]) -> PairwiseScores:
    """Pairwise precision, recall and F1 with pair counts pooled over blocks.

    Args:
        clusterings: (labels_true, labels_pred) of each block; without any all scores are 1.

    >>> pooled_scores([([0, 0, 1], [0, 0, 0]), ([0, 0], [0, 0])]).recall
    1.0
    """
    counts = [pair_counts(true, predicted) for true, predicted in clusterings]
    columns = zip(*counts, strict=True) if counts else ((), (), ())
    return scores_from_counts(PairCounts(*(sum(column) for column in columns)))


def pairwise_scores(labels_true: ArrayLike, labels_pred: ArrayLike) -> PairwiseScores:
    """Pairwise precision, recall and F1 of one clustering.

    `pooled_scores` scores several blocks together.

    Args:
        labels_true: (n,) true cluster of every point, integers or any hashables.
        labels_pred: (n,) predicted cluster of every point.

    Returns:
        Precision, recall and F1, each in [0, 1].

    Complexity: O(n log n) time, O(n) memory.

    >>> pairwise_scores([0, 0, 1, 1], [0, 0, 0, 1]).recall
    0.5
    """
    return scores_from_counts(pair_counts(labels_true, labels_pred))


def adjusted_rand(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Adjusted Rand index of two labelings: 1 for equal partitions, near 0 for unrelated ones.

    Args:
        labels_true: (n,) true cluster of every point, integers or any hashables.
        labels_pred: (n,) predicted cluster of every point.

    Returns:
        A number in [-0.5, 1].

    Complexity: O(n log n).

    >>> adjusted_rand(["a", "a", "b"], [1, 1, 0])
    1.0
    """
    codes = encode_pair(labels_true, labels_pred)
    true, predicted, both = _count(*codes)
    if true == predicted == both:
        return 1.0
    n = len(codes[0].values)
    missed, wrong = true - both, predicted - both
    neither = n * (n - 1) // 2 - both - missed - wrong
    # 2 (TP TN - FN FP) / ((TP + FN) (FN + TN) + (TP + FP) (FP + TN)), exact up to the division
    denominator = true * (missed + neither) + predicted * (wrong + neither)
    return 2.0 * (both * neither - missed * wrong) / denominator


def _pairs_within(sizes: NDArray[np.int64]) -> int:
    return int((sizes * (sizes - 1) // 2).sum())
