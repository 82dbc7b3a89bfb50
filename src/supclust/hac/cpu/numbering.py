"""From merges in any order to SciPy's order and numbering."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supclust.kernels import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.floating]


def number_merges(pairs: Ints, heights: Floats) -> tuple[Ints, Floats, Ints]:
    """Sort the merges of one tree by height and give them SciPy's ids.

    The sort is stable, so a parent made after its children, with a height no lower than theirs,
    stays behind them.

    Args:
        pairs: (n - 1, 2) a point of either side of each merge, in order of creation.
        heights: (n - 1,) heights.

    Returns:
        children (n - 1, 2) with the smaller id first, heights sorted, sizes (n - 1,).

    Complexity: O(n log n).
    """
    children = np.empty((len(pairs), 2), np.int64)
    sizes = np.empty(len(pairs), np.int64)
    return children, _number(pairs, heights, children, sizes), sizes


def number_linkage(pairs: Ints, heights: Floats, Z: NDArray[np.float64]) -> None:
    """As `number_merges`; the output is SciPy's (n - 1, 4) array."""
    Z[:, 2] = _number(pairs, heights, Z[:, :2], Z[:, 3])


def _number(pairs: Ints, heights: Floats, children: Ints | Floats, sizes: Ints | Floats) -> Floats:
    """Fill children and sizes; returns the heights, sorted."""
    order = np.argsort(heights, kind="stable")
    join_sorted(pairs[order], children, sizes)
    return heights[order]


_COUNTED = 400  # heights up to which comparing all with all is faster than sorting
_STEP = 32  # compared at once


@kernel
def order_of(heights):
    """Return the places of the heights in ascending order, the first of equal ones first.

    A sort mispredicts every other branch; counting the lower heights is a loop without a branch.
    """
    count = heights.size
    if count > _COUNTED:
        return np.argsort(heights, kind="mergesort")
    padded = -(-count // _STEP) * _STEP
    numbers = np.empty(padded, heights.dtype)
    numbers[:count] = heights
    numbers[count:] = np.inf
    order = np.full(count, -1)
    for i in range(np.uint64(count)):
        lower = 0
        for j in range(np.uint64(padded)):
            lower += numbers[j] < numbers[i]
        if order[lower] >= 0:  # an equal one
            return np.argsort(heights, kind="mergesort")
        order[lower] = i
    return order


@kernel
def join_sorted(pairs, children, sizes):
    """Walk sorted merges with a union-find whose roots hold their node; fills the outputs."""
    n = len(pairs) + 1
    parent, node, points = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        parent[i] = node[i] = i
        points[i] = 1
    for k in range(n - 1):
        a = root_of(parent, pairs[k, 0])
        b = root_of(parent, pairs[k, 1])
        in_order = node[a] < node[b]
        children[k, 0] = node[a] if in_order else node[b]
        children[k, 1] = node[b] if in_order else node[a]
        if points[a] < points[b]:
            a, b = b, a
        parent[b] = a
        points[a] += points[b]
        node[a] = n + k
        sizes[k] = points[a]


@kernel
def root_of(parent, i):
    """Root of i in a union-find, with path halving."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
