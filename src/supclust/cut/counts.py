"""Pairs that the merges of a tree join, and cuts scored by them, with unlabelled strangers.

The label -1 marks a point that belongs to none of the labelled clusters and whose own cluster is
unknown. Its pairs with labelled points are known to be wrong; each counts one half as a predicted
pair, because the other half would be counted from the stranger's cluster if that were labelled. Its
pairs with other strangers are unknown and do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.hac.tree import Ints, check_tree, children_of, leaf_counts
from supclust.kernels import kernel
from supclust.metrics.pairwise import PairCounts, PairwiseScores, pair_counts, score_arrays
from supclust.metrics.purity import MergePairs, merge_pairs
from supclust.metrics.threshold import BestThreshold, best_of_curve, curve_from_merges

UNLABELLED = -1
LabelledTree: TypeAlias = tuple[ArrayLike, ArrayLike]
"""Z and the label of every point."""


def labelled_merge_pairs(Z: ArrayLike, labels: ArrayLike) -> MergePairs:
    """`merge_pairs` with strangers: ``joined`` counts labelled pairs and half of the mixed ones.

    Args:
        Z: (n - 1, 4) tree in SciPy's format.
        labels: (n,); -1 for a stranger, where labels are integers.

    >>> labelled_merge_pairs([[0, 1, 1.0, 2], [2, 3, 2.0, 3]], [5, 5, -1]).joined
    array([1., 1.])
    """
    codes = np.asarray(labels)
    if codes.dtype.kind != "i" or not (codes == UNLABELLED).any():
        return merge_pairs(Z, labels)
    stranger = codes == UNLABELLED
    distinct = codes.astype(np.int64)
    distinct[stranger] = codes.max() + 1 + np.arange(np.count_nonzero(stranger))
    pairs = merge_pairs(Z, distinct)
    children = children_of(check_tree(Z))
    left, right = children[:, 0], children[:, 1]
    sizes, labelled = leaf_counts(children), _sums(children, ~stranger)
    strangers = sizes - labelled
    mixed = labelled[left] * strangers[right] + strangers[left] * labelled[right]
    return pairs._replace(joined=labelled[left] * labelled[right] + mixed / 2)


def has_pairs(trees: Sequence[LabelledTree]) -> bool:
    """Whether any two points of a tree share a label."""
    return any(labelled_merge_pairs(Z, labels).same_label.any() for Z, labels in trees)


def best_threshold(trees: Sequence[LabelledTree]) -> BestThreshold:
    """The one cut height with the best pairwise F1, pair counts pooled over all the trees.

    As `supclust.metrics.best_threshold`, but a labelled point's whole predicted cluster counts: a
    cut that is chosen among labelled points alone is too high where most points are strangers.

    Args:
        trees: (Z, labels) of each block; label -1: a stranger.

    Complexity: O(N log N) for N points in all.

    >>> best_threshold([([[0, 1, 1.0, 2], [2, 3, 3.0, 3]], [0, 0, -1])]).threshold
    2.0
    """
    pairs = [labelled_merge_pairs(Z, labels) for Z, labels in trees]
    return best_of_curve(curve_from_merges(pairs))


def scores_of_cut(
    pairs: Sequence[MergePairs], applied: Iterable[NDArray[np.bool_]]
) -> PairwiseScores:
    """Pooled precision, recall and F1 of the partitions that apply some merges of each tree.

    Args:
        pairs: of each tree.
        applied: (n - 1,) of each tree; holds for everything under an applied merge.
    """
    true = sum(float(one.same_label.sum()) for one in pairs)
    predicted = shared = 0.0
    for one, kept in zip(pairs, applied, strict=True):
        predicted += float(one.joined[kept].sum())
        shared += float(one.same_label[kept].sum())
    return PairwiseScores(*map(float, score_arrays(true, predicted, shared)))


def labelled_pair_counts(labels_true: ArrayLike, labels_pred: ArrayLike) -> PairCounts:
    """`supclust.metrics.pairwise.pair_counts` with strangers, true label -1, in the same way.

    >>> labelled_pair_counts([0, 0, -1], [5, 5, 5])
    PairCounts(true=1, predicted=2.0, shared=1)
    """
    true, predicted = np.asarray(labels_true), np.asarray(labels_pred)
    known = true != UNLABELLED
    counts = pair_counts(true[known], predicted[known])
    clusters = np.unique(predicted, return_inverse=True)[1]
    size = int(clusters.max(initial=-1)) + 1
    labelled, all_points = (np.bincount(c, minlength=size) for c in (clusters[known], clusters))
    mixed = float((labelled * (all_points - labelled)).sum())
    return PairCounts(counts.true, counts.predicted + mixed / 2, counts.shared)


@kernel
def _sums(children: Ints, of_leaves: NDArray[np.bool_]) -> Ints:
    """(2n - 1,) number of marked leaves under every node."""
    n = children.shape[0] + 1
    sums = np.zeros(2 * n - 1, dtype=np.int64)
    sums[:n] = of_leaves
    for k in range(n - 1):
        sums[n + k] = sums[children[k, 0]] + sums[children[k, 1]]
    return sums
