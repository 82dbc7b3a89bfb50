"""One height for all trees: the best pooled pairwise F1, strangers counted."""

from __future__ import annotations

from collections.abc import Sequence

from supclust.cut.counts import LabelledTree, labelled_merge_pairs
from supclust.metrics.threshold import BestThreshold, best_of_curve, curve_from_merges


def best_threshold(trees: Sequence[LabelledTree]) -> BestThreshold:
    """The one cut height with the best pairwise F1, pair counts pooled over all the trees.

    As `supclust.metrics.best_threshold`, but a labelled point's whole predicted cluster counts: a
    cut that is chosen among labelled points alone is too high where most points are strangers.

    Args:
        trees: (Z, labels) of each block; label -1: a stranger, see `supclust.cut.counts`.

    Complexity: O(N log N) for N points in all.

    >>> best_threshold([([[0, 1, 1.0, 2], [2, 3, 3.0, 3]], [0, 0, -1])]).threshold
    2.0
    """
    pairs = [labelled_merge_pairs(Z, labels) for Z, labels in trees]
    return best_of_curve(curve_from_merges(pairs))
