"""Single linkage by Prim's algorithm: one pass over each row, no matrix of our own.

The order in which Prim reaches the points, with the height at which it reached each, already is the
single-linkage tree: at any threshold the clusters are the runs of that order between heights above
it. So no parent pointers are kept, only a row of smallest distances to the part already reached.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from supclust.hac.cpu.simd.relax import reach


@njit(cache=True, nogil=True)
def prim(matrix, pairs, heights):  # type: ignore[no-untyped-def]
    """Fill the merges of single linkage on a symmetric matrix of finite dissimilarities.

    Args:
        matrix: (n, >= n) contiguous; the diagonal and further columns are ignored. Absolute values
            below a quarter of the largest float.
        pairs: (n - 1, 2) a point of either side of each merge.
        heights: (n - 1,) in the order reached, not sorted.

    Complexity: O(n^2) time, O(n) memory.
    """
    go_on(matrix, pairs, heights, nothing_reached(matrix.shape[0], heights), 0)


@njit(cache=True, nogil=True)
def nothing_reached(n, sample):  # type: ignore[no-untyped-def]
    """Return the distance of each point to what is reached: too far; infinite once it is itself."""
    return np.full(n, np.finfo(sample.dtype).max / 2, sample.dtype)


@njit(cache=True, nogil=True)
def go_on(matrix, pairs, heights, nearest, done):  # type: ignore[no-untyped-def]
    """As `prim`, after ``done`` merges, which have left ``nearest``."""
    n, width = matrix.shape
    flat = matrix.reshape(-1)
    at, start, stop = pairs[done - 1, 1] if done > 0 else 0, 0, n
    for k in range(done, n - 1):
        start, stop = _take_in(at, nearest, start, stop)
        following = start + reach(flat, at * width + start, nearest, start, stop - start)
        pairs[k, 0], pairs[k, 1], heights[k] = at, following, nearest[following]
        at = following


@njit(cache=True, nogil=True)
def prim_in_order(condensed, n, pairs, heights, nearest, patience):  # type: ignore[no-untyped-def]
    """As `prim`, of a condensed vector, as long as points come nearly in the order of the tree.

    A row of the upper triangle is read at once. What stands before the diagonal has to be picked
    from as many rows: ``patience`` times at most.

    Returns:
        How many merges there are; if not all, `go_on` takes over with ``nearest``.
    """
    at, start, stop = 0, 0, n
    for k in range(n - 1):
        start, stop = _take_in(at, nearest, start, stop)
        end = min(at, stop)
        patience -= max(0, end - start)
        if patience < 0:
            return k
        for i in range(start, end):
            if nearest[i] < np.inf:
                nearest[i] = min(nearest[i], condensed[_place(n, i, at)])
        begin = max(start, at + 1)
        following = start
        if begin < stop:
            row = _place(n, at, begin)
            following = begin + reach(condensed, row, nearest, begin, stop - begin)
        for i in range(start, end):
            if nearest[i] < nearest[following] or (
                nearest[i] == nearest[following] and i < following
            ):
                following = i
        pairs[k, 0], pairs[k, 1], heights[k] = at, following, nearest[following]
        at = following
    return n - 1


@njit(cache=True, nogil=True)
def _take_in(x, nearest, start, stop):  # type: ignore[no-untyped-def]
    """Count x among the reached; returns the first of the others, and one past the last.

    So of data in order half of the numbers are never read.
    """
    nearest[x] = np.inf
    while nearest[start] == np.inf:
        start += 1
    while nearest[stop - 1] == np.inf:
        stop -= 1
    return start, stop


@njit(cache=True, nogil=True)
def _place(n, i, j):  # type: ignore[no-untyped-def]
    """Where a condensed vector has the pair i < j."""
    return i * n - i * (i + 1) // 2 + j - i - 1
