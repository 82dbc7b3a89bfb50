"""B-cubed: precision and recall of each point's own cluster, averaged over points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supclust.metrics.labels import encode_pair


class BCubedSums(NamedTuple):
    """Per-point scores added up; add field by field to pool blocks."""

    precision: float
    recall: float
    points: int


class BCubedScores(NamedTuple):
    """B-cubed precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def bcubed_sums(labels_true: ArrayLike, labels_pred: ArrayLike) -> BCubedSums:
    """Add up |C(i) & D(i)| / |D(i)| (precision) and / |C(i)| (recall) over the points i.

    C(i) is the true and D(i) the predicted cluster of i. All c points that share both give the same
    term, so a cell of the contingency table adds c^2 / |D| and c^2 / |C|.

    Args:
        labels_true: (n,) true cluster of every point.
        labels_pred: (n,) predicted cluster of every point.

    Returns:
        The two sums and n.

    Complexity: O(n log n) time, O(n) memory.

    >>> bcubed_sums([0, 0], [0, 1])
    BCubedSums(precision=2.0, recall=1.0, points=2)
    """
    true, pred = encode_pair(labels_true, labels_pred)
    cells, shared = np.unique(true.values * pred.n_labels + pred.values, return_counts=True)
    true_sizes = np.bincount(true.values)[cells // pred.n_labels]
    pred_sizes = np.bincount(pred.values)[cells % pred.n_labels]
    return BCubedSums(
        float((shared * shared / pred_sizes).sum()),
        float((shared * shared / true_sizes).sum()),
        len(true.values),
    )


def bcubed_from_sums(sums: BCubedSums) -> BCubedScores:
    """Means over points, and the harmonic mean of the two means."""
    if sums.points < 1:
        raise ValueError("B-cubed needs at least one point; received none; skip empty blocks")
    precision, recall = sums.precision / sums.points, sums.recall / sums.points
    # Every point shares at least itself, so neither mean can be zero.
    return BCubedScores(precision, recall, 2 * precision * recall / (precision + recall))


def bcubed_scores(labels_true: ArrayLike, labels_pred: ArrayLike) -> BCubedScores:
    """B-cubed precision, recall and F1 of one clustering.

    Args:
        labels_true: (n,) true cluster of every point, integers or any hashables.
        labels_pred: (n,) predicted cluster of every point.

    Returns:
        Precision, recall and F1, each in (0, 1].

    Complexity: O(n log n) time, O(n) memory.

    >>> bcubed_scores([0, 0, 1, 1], [0, 0, 1, 1]).f1
    1.0
    """
    return bcubed_from_sums(bcubed_sums(labels_true, labels_pred))
