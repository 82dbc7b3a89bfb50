"""Dendrogram purity, and its ingredients: the labelled pairs that each merge of a tree joins."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supclust.hac.tree import (
    Floats,
    Ints,
    check_tree,
    children_of,
    joining_heights,
    leaf_counts,
)
from supclust.kernels import kernel
from supclust.metrics.labels import encode_labels


class MergePairs(NamedTuple):
    """Pairs of points that each merge of one tree joins, in row order."""

    heights: Floats
    """(n - 1,) height at which a cut applies the merge."""
    joined: Ints | Floats
    """(n - 1,) pairs joined, |left| |right|."""
    same_label: Ints
    """(n - 1,) of these, the pairs with one label, sum_k l_k r_k."""
    purity: Floats
    """(n - 1,) sum over the same-label pairs of their label's share of the merged node."""


def merge_pairs(Z: ArrayLike, labels: ArrayLike) -> MergePairs:
    """Count the pairs that every merge joins, without enumerating any.

    With l_k and r_k the points of label k on the two sides of a merge,
    same_label = sum_k l_k r_k and purity = sum_k l_k r_k (l_k + r_k) / (|left| + |right|).

    Args:
        Z: (n - 1, 4) tree in SciPy's format.
        labels: (n,) label of every point.

    Returns:
        Arrays of shape (n - 1,), one entry per merge.

    Complexity: O(n log n) time, O(n) memory; O(n) on a chain.

    >>> merge_pairs([[0, 1, 1.0, 2], [2, 3, 2.0, 3]], ["a", "a", "b"]).same_label
    array([1, 0])
    """
    tree = check_tree(Z)
    codes = encode_labels(labels, len(tree) + 1)
    children = children_of(tree)
    sizes = leaf_counts(children)
    same_label, purity = _sweep_heavy_paths(children, sizes, codes.values, codes.n_labels)
    return MergePairs(
        heights=joining_heights(children, np.ascontiguousarray(tree[:, 2])),
        joined=sizes[children[:, 0]] * sizes[children[:, 1]],
        same_label=same_label,
        purity=purity,
    )


class MeanPurity(NamedTuple):
    """Dendrogram purity over several blocks."""

    mean: float
    """Mean over the blocks where purity is defined; NaN where there is none."""
    defined: int
    """Blocks that entered the mean."""
    undefined: int
    """Blocks left out: no two of their points share a label."""


def dendrogram_purity(Z: ArrayLike, labels: ArrayLike) -> float:
    """Mean, over pairs of points with one label, of that label's share of their smallest subtree.

    DP = (1 / |W|) sum over merges and labels k of l_k r_k (l_k + r_k) / |node|, W the same-label
    pairs: every such pair is joined by exactly one merge. Heights are not used.

    Args:
        Z: (n - 1, 4) tree in SciPy's format.
        labels: (n,) label of every point, integers or any hashables.

    Returns:
        A number in (0, 1]; 1 when every label is a subtree; NaN when no two points share a label.

    Complexity: O(n log n) time, O(n) memory.

    >>> dendrogram_purity([[0, 1, 1.0, 2], [2, 3, 2.0, 3]], ["a", "b", "a"])
    0.6666666666666666
    """
    return purity_from_merges(merge_pairs(Z, labels))


def purity_from_merges(merges: MergePairs) -> float:
    """Finish ``dendrogram_purity`` from the result of ``merge_pairs``."""
    pairs = int(merges.same_label.sum())
    return float(merges.purity.sum()) / pairs if pairs else math.nan


def mean_purity(values: Iterable[float]) -> MeanPurity:
    """Average purities over blocks, leaving out and counting the undefined (NaN) ones.

    >>> mean_purity([1.0, float("nan"), 0.5])
    MeanPurity(mean=0.75, defined=2, undefined=1)
    """
    everything = [float(value) for value in values]
    defined = [value for value in everything if not math.isnan(value)]
    mean = math.fsum(defined) / len(defined) if defined else math.nan
    return MeanPurity(mean, len(defined), len(everything) - len(defined))


@kernel
def _layout(children: Ints, sizes: Ints) -> tuple[Ints, Ints, Ints]:
    """Order the leaves so that a node is an interval with its larger child in front.

    Returns each node's first position, its parent (-1 at the root), and whether it is the larger
    child of that parent (the root is not).
    """
    n = children.shape[0] + 1
    start = np.zeros(2 * n - 1, dtype=np.int64)
    parent = np.full(2 * n - 1, -1, dtype=np.int64)
    heavy = np.zeros(2 * n - 1, dtype=np.int64)
    for k in range(n - 2, -1, -1):
        large, small = children[k, 0], children[k, 1]
        if sizes[small] > sizes[large]:
            large, small = small, large
        heavy[large] = 1
        parent[large] = parent[small] = n + k
        start[large] = start[n + k]
        start[small] = start[n + k] + sizes[large]
    return start, parent, heavy


@kernel
def _sweep_heavy_paths(
    children: Ints, sizes: Ints, labels: Ints, n_labels: int
) -> tuple[Ints, Floats]:
    """Same-label pairs and purity of every merge, one walk up each path of larger children.

    Counts of the larger side are kept while walking up and only the smaller side is read, so a
    point is read once per path above it: at most log2(n) + 1 times. In the leaf order of
    ``_layout`` a node is an interval, so two arrays indexed by label replace hash maps.
    """
    n = children.shape[0] + 1
    start, parent, heavy = _layout(children, sizes)
    ordered = np.empty(n, dtype=np.int64)
    for i in range(n):
        ordered[start[i]] = labels[i]
    same_label = np.zeros(n - 1, dtype=np.int64)
    purity = np.zeros(n - 1)
    large = np.zeros(n_labels, dtype=np.int64)
    small = np.zeros(n_labels, dtype=np.int64)
    for leaf in range(n):
        if heavy[leaf] == 0:
            continue
        node = leaf
        large[labels[leaf]] = 1
        while heavy[node] == 1:
            above = parent[node]
            first, last = start[node] + sizes[node], start[node] + sizes[above]
            for position in range(first, last):
                small[ordered[position]] += 1
            pairs = 0
            weighted = 0.0  # float: l r (l + r) passes int64 near three million points
            for position in range(first, last):
                k = ordered[position]
                if small[k] > 0:
                    met = large[k] * small[k]
                    large[k] += small[k]
                    small[k] = 0
                    pairs += met
                    weighted += float(met) * float(large[k])
            same_label[above - n] = pairs
            purity[above - n] = weighted / sizes[above]
            node = above
        for position in range(start[node], start[node] + sizes[node]):
            large[ordered[position]] = 0
    return same_label, purity
