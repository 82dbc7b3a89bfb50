"""The best tree-consistent partition: every cluster is a node of its tree, at any height.

Under a partition, TP is the (expected) number of pairs that belong together and are in one cluster,
PP the number of pairs in one cluster, and P the number of pairs that belong together at all. The
best pooled F1 = 2 TP / (PP + P) over all tree-consistent partitions of one or many trees is found
exactly, by Dinkelbach's method: for a fixed lambda, maximise 2 TP - lambda PP bottom-up, where a
node either stays whole or is left to its two children; then set lambda to the F1 of the maximiser,
until it no longer rises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.cut.counts import labelled_merge_pairs
from supclust.hac.tree import Floats, Ints, check_tree, children_of, cut_labels, leaf_counts
from supclust.kernels import kernel


class Partition(NamedTuple):
    """Clusters of one tree and their (expected) pairwise F1."""

    labels: Ints
    """(n,) numbered from 0 by first appearance."""
    f1: float


class Partitions(NamedTuple):
    """Clusters of several trees and their (expected) pairwise F1, pairs pooled over the trees."""

    labels: list[Ints]
    f1: float


def best_partition(Z: ArrayLike, p: ArrayLike) -> Partition:
    """The tree-consistent partition with the best expected pairwise F1.

    Args:
        Z: (n - 1, 4) tree in SciPy's format; its heights are not used.
        p: (n - 1,) expected share, of the |left| |right| pairs that each merge joins, that belong
            together; in [0, 1].

    Complexity: O(n) time and memory per pass; about 3 to 6 passes.

    >>> best_partition([[0, 1, 1.0, 2], [2, 3, 2.0, 3]], [0.9, 0.1])
    Partition(labels=array([0, 0, 1]), f1=0.857...)
    """
    labels, f1 = best_partitions([Z], [p])
    return Partition(labels[0], f1)


def best_partitions(trees: Sequence[ArrayLike], p: Sequence[ArrayLike]) -> Partitions:
    """`best_partition` of several trees: the best F1 of the pairs of all of them.

    Args:
        trees: Z of each tree.
        p: of the merges of each tree.
    """
    forest = []
    for Z, shares in zip(trees, p, strict=True):
        children, values = children_of(check_tree(Z)), np.asarray(shares, dtype=np.float64)
        if values.shape != (len(children),) or not ((values >= 0) & (values <= 1)).all():
            raise ValueError(
                f"p must be {len(children)} numbers in [0, 1], one per merge; received "
                f"{values.size} numbers. Clip what a model predicts."
            )
        joined = joined_pairs(children)
        forest.append(WeightedTree(children, values * joined, joined))
    applied, f1 = maximise_f1(forest)
    labels = [cut_labels(one.children, kept) for one, kept in zip(forest, applied, strict=True)]
    return Partitions(labels, f1)


def ceiling(Z: ArrayLike, labels: ArrayLike) -> Partition:
    """The best cut of a tree by its true clusters: no way of cutting it reaches a better F1.

    Args:
        Z: (n - 1, 4) tree in SciPy's format.
        labels: (n,) true clusters; -1 for a stranger, see `supclust.cut.counts`.

    >>> ceiling([[0, 1, 1.0, 2], [2, 3, 2.0, 3]], ["a", "a", "b"])
    Partition(labels=array([0, 0, 1]), f1=1.0)
    """
    clusters, f1 = ceilings([(Z, labels)])
    return Partition(clusters[0], f1)


def ceilings(trees: Sequence[tuple[ArrayLike, ArrayLike]]) -> Partitions:
    """`ceiling` of several trees: the best F1 of the pairs of all of them.

    Args:
        trees: (Z, labels) of each block.
    """
    forest = []
    for Z, labels in trees:
        pairs = labelled_merge_pairs(Z, labels)
        shared, joined = pairs.same_label.astype(np.float64), pairs.joined.astype(np.float64)
        forest.append(WeightedTree(children_of(check_tree(Z)), shared, joined))
    applied, f1 = maximise_f1(forest)
    labels_of = [cut_labels(one.children, kept) for one, kept in zip(forest, applied, strict=True)]
    return Partitions(labels_of, f1)


class WeightedTree(NamedTuple):
    """Children of every merge, and the pairs that it joins."""

    children: Ints
    true: Floats
    """(n - 1,) of the pairs, those that (are expected to) belong together."""
    joined: Floats
    """(n - 1,)"""


def joined_pairs(children: Ints) -> Floats:
    """(n - 1,) pairs that every merge joins, |left| |right|."""
    sizes = leaf_counts(children)
    return np.asarray(sizes[children[:, 0]] * sizes[children[:, 1]], dtype=np.float64)


def maximise_f1(forest: Sequence[WeightedTree]) -> tuple[list[NDArray[np.bool_]], float]:
    """The merges to apply for the best pooled F1, and that F1; Dinkelbach's method."""
    applied = [np.zeros(len(tree.true), np.bool_) for tree in forest]
    total = sum(float(tree.true.sum()) for tree in forest)
    if total == 0:  # nothing belongs together, and no pair is predicted
        return applied, 1.0
    best = 0.0
    while True:
        kept = [maximising_merges(*tree, best) for tree in forest]
        true = sum(float(tree.true[k].sum()) for tree, k in zip(forest, kept, strict=True))
        joined = sum(float(tree.joined[k].sum()) for tree, k in zip(forest, kept, strict=True))
        f1 = 2 * true / (joined + total)
        if f1 <= best:
            return applied, best
        applied, best = kept, f1


@kernel
def maximising_merges(
    children: Ints, true: Floats, joined: Floats, exchange: float
) -> NDArray[np.bool_]:
    """The merges that maximise 2 TP - exchange * PP; a merge that changes nothing is not made."""
    n = children.shape[0] + 1
    applied = np.zeros(n - 1, dtype=np.bool_)
    whole = np.zeros(2 * n - 1)  # value of a node that is one cluster
    best = np.zeros(2 * n - 1)  # and of its best partition
    for k in range(n - 1):
        left, right = children[k, 0], children[k, 1]
        whole[n + k] = whole[left] + whole[right] + (2.0 * true[k] - exchange * joined[k])
        parts = best[left] + best[right]
        applied[k] = whole[n + k] > parts
        best[n + k] = max(whole[n + k], parts)
    inside = np.zeros(2 * n - 1, dtype=np.bool_)  # below a node that is one cluster
    for k in range(n - 2, -1, -1):
        applied[k] |= inside[n + k]
        inside[children[k, 0]] = inside[children[k, 1]] = applied[k]
    return applied
