"""Layout of a drawn tree: positions of its branches, and the true clusters below them."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supclust.hac.tree import Floats, Ints, check_tree, children_of, leaf_counts


class TreeShape(NamedTuple):
    """A tree as it is drawn, leaves from left to right."""

    order: Ints
    """(n,) leaves from left to right; leaf order[i] is at x = i."""
    x: Floats
    """(2n - 1,) horizontal position of every node, midway between its children."""
    branches: Floats
    """(n - 1, 4, 2) corners of every merge: up from the left child, across, down to the right."""
    floor: float
    """Height of the leaves."""
    top: float
    """Height that infinite merges are drawn at, above the finite ones."""


class MergeKind(IntEnum):
    """Effect of a merge on the true clusters."""

    PURE = 0
    """All points below it are of one cluster."""
    WHOLE = 1
    """It joins several clusters, each of them complete: a lower cut can still be right."""
    BROKEN = 2
    """It joins part of a cluster with points of another."""


def tree_shape(Z: ArrayLike) -> TreeShape:
    """Lay out a tree.

    Leaves are at height 0, or a little below the lowest merge where heights are negative.

    Args:
        Z: (n - 1, 4) SciPy linkage matrix; heights of any sign, +inf allowed.

    Returns:
        Positions and branches; the order of the leaves is SciPy's: left children first.

    Complexity: O(n).

    >>> tree_shape([[1, 2, 0.5, 2], [0, 3, 2.0, 3]]).branches[1].tolist()
    [[0.0, 0.0], [0.0, 2.0], [1.5, 2.0], [1.5, 0.5]]
    """
    tree = check_tree(Z)
    n, children = len(tree) + 1, children_of(tree)
    finite = tree[np.isfinite(tree[:, 2]), 2]
    low, high = float(finite.min(initial=0.0)), float(finite.max(initial=0.0))
    spread = high - low or 1.0
    floor, top = (low - 0.05 * spread if low < 0 else 0.0), high + 0.1 * spread
    sizes = leaf_counts(children)
    starts = np.zeros(2 * n - 1, dtype=np.int64)
    for k in range(n - 2, -1, -1):
        left, right = children[k]
        starts[left] = starts[n + k]
        starts[right] = starts[n + k] + sizes[left]
    x = starts.astype(np.float64)
    for k, (left, right) in enumerate(children):
        x[n + k] = (x[left] + x[right]) / 2
    heights = np.concatenate([np.full(n, floor), np.minimum(tree[:, 2], top)])
    corners = np.empty((n - 1, 4, 2))
    corners[:, :2, 0] = x[children[:, :1]]
    corners[:, 2:, 0] = x[children[:, 1:]]
    corners[:, 0, 1], corners[:, 3, 1] = heights[children[:, 0]], heights[children[:, 1]]
    corners[:, 1:3, 1] = heights[n:, None]
    return TreeShape(np.argsort(starts[:n]), x, corners, floor, top)


def merge_kinds(Z: ArrayLike, codes: Ints) -> tuple[Ints, Ints]:
    """Cluster and kind of every merge.

    Args:
        Z: (n - 1, 4) SciPy linkage matrix.
        codes: (n,) cluster of every point, numbers from 0.

    Returns:
        (n - 1,) cluster of a pure merge, -1 of others, and (n - 1,) `MergeKind`.

    Complexity: O(n log n): the smaller set of clusters is merged into the larger.

    >>> merge_kinds([[0, 1, 1, 2], [2, 3, 2, 3]], np.array([0, 0, 1]))[1].tolist()
    [0, 1]
    """
    children = children_of(check_tree(Z))
    n, totals = len(children) + 1, np.bincount(codes)
    inside: list[set[int] | None] = [{int(code)} for code in codes]
    expected = [int(totals[code]) for code in codes]  # points of all clusters that are present
    sizes = leaf_counts(children)
    clusters, kinds = np.full(n - 1, -1), np.full(n - 1, int(MergeKind.PURE))
    for k, (left, right) in enumerate(children):
        large, small = inside[left] or set(), inside[right] or set()
        inside[left] = inside[right] = None
        if len(large) < len(small):
            large, small = small, large
        expected.append(
            expected[left] + expected[right] - sum(int(totals[c]) for c in large & small)
        )
        large |= small
        inside.append(large)
        if len(large) == 1:
            clusters[k] = next(iter(large))
        else:
            whole = expected[-1] == sizes[n + k]
            kinds[k] = MergeKind.WHOLE if whole else MergeKind.BROKEN
    return clusters, kinds
