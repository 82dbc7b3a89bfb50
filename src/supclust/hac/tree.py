"""A tree as one SciPy array: check it, count its leaves, cut it. NumPy and Numba only.

``Z`` has one row per merge, ``(left, right, height, size)``. Ids below n are leaves and merge k
makes node n + k, so ``Z`` of shape (0, 4) is the tree of one point. Every reader of a ``Z`` made
elsewhere comes through ``check_tree``, so the kernels below may assume that children precede their
parents.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def check_tree(Z: ArrayLike) -> Floats:
    """Return ``Z`` as float64 after checking that it is one binary tree over n points.

    Heights may be infinite (points never alike), may be negative and need not be sorted. NaN and
    -inf are refused, since no cut could lie below them.

    Args:
        Z: (n - 1, 4) merges in SciPy's format, n >= 1.

    Returns:
        (n - 1, 4) float64, C-contiguous; the input itself where it already is that.

    Raises:
        ValueError: for a wrong shape, height, child id or size, naming the first bad row.

    Complexity: O(n) time and memory.

    >>> check_tree([[0, 1, 0.5, 2]]).shape
    (1, 4)
    """
    tree = _as_matrix(Z)
    n = len(tree) + 1
    heights, ids = tree[:, 2], tree[:, :2]
    bad_height = np.isnan(heights) | np.isneginf(heights)
    if bad_height.any():
        row = int(np.argmax(bad_height))
        _refuse(
            "heights must be numbers above -inf",
            f"{heights[row]} in row {row}",
            "remove NaN and -inf from the dissimilarities before building the tree",
        )
    # Written so that a NaN or infinite id fails the test as well.
    legal = (ids >= 0) & (ids < n + np.arange(n - 1)[:, None]) & (ids == np.floor(ids))
    if not legal.all():
        row = int(np.argmax(~legal.all(axis=1)))
        _refuse(
            f"children of row {row} must be whole numbers from 0 to {n + row - 1}",
            f"{ids[row].tolist()}",
            "number leaves 0..n-1 and merges n, n+1, ... in row order, as SciPy's linkage does",
        )
    children = children_of(tree)
    uses = np.bincount(children.ravel(), minlength=2 * n - 2)
    if uses.max(initial=1) > 1:
        node = int(np.argmax(uses > 1))
        _refuse(
            "every node but the root must be merged exactly once",
            f"node {node} merged {uses[node]} times",
            "pass a whole tree, not several trees or a graph's edges",
        )
    wrong_size = tree[:, 3] != leaf_counts(children)[n:]
    if wrong_size.any():
        row = int(np.argmax(wrong_size))
        _refuse(
            "the fourth column must count the points under each merge",
            f"{tree[row, 3]} in row {row}",
            "fill it with supclust.hac.tree.leaf_counts(children)[n:]",
        )
    return tree


def children_of(tree: Floats) -> Ints:
    """(n - 1, 2) int64 child ids of a checked tree."""
    return np.ascontiguousarray(tree[:, :2], dtype=np.int64)


@kernel
def leaf_counts(children: Ints) -> Ints:
    """(2n - 1,) number of points under every node, leaves first; O(n)."""
    n = children.shape[0] + 1
    sizes = np.ones(2 * n - 1, dtype=np.int64)
    for k in range(n - 1):
        sizes[n + k] = sizes[children[k, 0]] + sizes[children[k, 1]]
    return sizes


@kernel
def joining_heights(children: Ints, heights: Floats) -> Floats:
    """(n - 1,) height at which each merge takes effect: the largest one in its subtree; O(n).

    Equal to ``heights`` where these never decrease up the tree. Where they do, a merge waits for
    those below it, which is how SciPy's ``fcluster`` reads such a tree.
    """
    n = children.shape[0] + 1
    joined = heights.copy()
    for k in range(n - 1):
        for side in range(2):
            child = children[k, side] - n
            if child >= 0 and joined[child] > joined[k]:
                joined[k] = joined[child]
    return joined


def cut_tree(Z: ArrayLike, *, height: float | None = None, n_clusters: int | None = None) -> Ints:
    """Cluster of every point after cutting the tree at a height or into a number of clusters.

    A cut at ``height`` applies every merge whose height, and whose subtree's heights, are <= it:
    the partition of ``scipy.cluster.hierarchy.fcluster(Z, height, "distance")``. A cut into
    ``n_clusters`` applies the lowest n - n_clusters merges, earlier rows first among equal heights,
    so it always gives exactly that many clusters.

    Args:
        Z: (n - 1, 4) tree in SciPy's format.
        height: where to cut; any number, +-inf included.
        n_clusters: how many clusters to leave, 1 to n. Give exactly one of the two.

    Returns:
        (n,) int64 labels, numbered from 0 in the order in which points first show them.

    Complexity: O(n); O(n log n) for ``n_clusters`` on a tree whose heights are not sorted.

    >>> cut_tree([[1, 2, 0.5, 2], [0, 3, 2.0, 3]], height=1.0)
    array([0, 1, 1])
    """
    tree = check_tree(Z)
    children = children_of(tree)
    joined = joining_heights(children, np.ascontiguousarray(tree[:, 2]))
    if height is not None and n_clusters is None:
        applied = joined <= _checked_height(height)
    elif n_clusters is not None and height is None:
        applied = _lowest_merges(joined, n_clusters)
    else:
        _refuse(
            "give exactly one of height and n_clusters",
            f"height={height}, n_clusters={n_clusters}",
            "drop one, or pass the missing one",
        )
    labels: Ints = cut_labels(children, applied)
    return labels


@kernel
def cut_labels(children: Ints, applied: NDArray[np.bool_]) -> Ints:
    """(n,) labels once the ``applied`` (n - 1,) merges are done; O(n), unchecked.

    ``applied`` must hold for everything under an applied merge. Parents come after their children,
    so one backward pass hands every node the topmost applied merge above it.
    """
    n = children.shape[0] + 1
    top = np.arange(2 * n - 1)
    for k in range(n - 2, -1, -1):
        if applied[k]:
            top[children[k, 0]] = top[n + k]
            top[children[k, 1]] = top[n + k]
    number = np.full(2 * n - 1, -1, dtype=np.int64)
    labels = np.empty(n, dtype=np.int64)
    count = 0
    for i in range(n):
        if number[top[i]] < 0:
            number[top[i]] = count
            count += 1
        labels[i] = number[top[i]]
    return labels


def _checked_height(height: Any) -> float:
    value = np.asarray(height)
    if value.ndim > 0 or value.dtype.kind not in "biuf":
        _refuse("height must be one real number", repr(height), "pass float(...) of one number")
    if np.isnan(value):
        _refuse("height must be a number", "NaN", "pass a number, inf to merge everything")
    return float(value)


def _lowest_merges(joined: Floats, n_clusters: int) -> NDArray[np.bool_]:
    n = len(joined) + 1
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, (int, np.integer)):
        _refuse("n_clusters must be an integer", repr(n_clusters), "pass int(n_clusters)")
    if not 1 <= n_clusters <= n:
        _refuse(
            f"n_clusters must lie between 1 and the number of points, {n}",
            f"{n_clusters}",
            "ask for fewer clusters than points, at least one",
        )
    applied = np.zeros(n - 1, dtype=np.bool_)
    # Stable: among equal heights children come first, being earlier rows.
    applied[np.argsort(joined, kind="stable")[: n - n_clusters]] = True
    return applied


def _as_matrix(Z: ArrayLike) -> Floats:
    try:
        tree = np.ascontiguousarray(Z, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Z must be numeric; received {type(Z).__name__} ({error}); "
            "pass the (n-1, 4) array of supclust.linkage or scipy.cluster.hierarchy.linkage"
        ) from error
    if tree.ndim != 2 or tree.shape[1] != 4:
        _refuse(
            "Z must have shape (n-1, 4)",
            f"shape {np.shape(Z)}",
            "pass the array of supclust.linkage; one point is the tree of shape (0, 4)",
        )
    return tree


def _refuse(requirement: str, received: str, repair: str) -> NoReturn:
    raise ValueError(f"{requirement}; received {received}; {repair}")
