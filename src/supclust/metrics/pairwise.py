"""Pairwise precision, recall and F1 of a clustering, from pair counts that pool over blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.metrics.labels import encode_pair


class PairCounts(NamedTuple):
    """Unordered pairs of points put together; add field by field to pool blocks."""

    true: int
    """Pairs in one true cluster."""
    predicted: int
    """Pairs in one predicted cluster."""
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
    true, pred = encode_pair(labels_true, labels_pred)
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
    true, predicted, shared = counts
    return PairwiseScores(
        shared / predicted if predicted else 1.0,
        shared / true if true else 1.0,
        2 * shared / (predicted + true) if predicted + true else 1.0,
    )


def pairwise_scores(labels_true: ArrayLike, labels_pred: ArrayLike) -> PairwiseScores:
    """Pairwise precision, recall and F1 of one clustering.

    To score several blocks together add up their ``pair_counts`` and call ``scores_from_counts``.

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


def _pairs_within(sizes: NDArray[np.int64]) -> int:
    return int((sizes * (sizes - 1) // 2).sum())
