"""Adjusted Rand index: scikit-learn's, behind our checks."""

from __future__ import annotations

from numpy.typing import ArrayLike

from supclust.metrics.labels import encode_pair


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
    true, pred = encode_pair(labels_true, labels_pred)
    # Imported here: scikit-learn takes over a second to import and nothing else needs it.
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(true.values, pred.values))
