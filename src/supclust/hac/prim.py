"""Single linkage by Prim's algorithm: one pass over each row, no matrix of our own.

The order in which Prim reaches the points, with the height at which it reached each, already is the
single-linkage tree: at any threshold the clusters are the runs of that order between heights above
it. So no parent pointers are kept, only a row of smallest distances to the part already reached.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from supclust.hac._vector import argmin, smaller


@njit(cache=True, nogil=True)
def prim(matrix, pairs, heights):  # type: ignore[no-untyped-def]
    """Fill the merges of single linkage on a symmetric matrix of finite dissimilarities.

    Args:
        matrix: (n, n); the diagonal is ignored. Absolute values below a quarter of the largest
            float.
        pairs: (n - 1, 2) a point of either side of each merge.
        heights: (n - 1,) in the order reached, not sorted.

    Complexity: O(n^2) time, O(n) memory.
    """
    n = matrix.shape[0]
    far = matrix.dtype.type(np.finfo(matrix.dtype).max / 2)
    reached = np.zeros(n, matrix.dtype)
    nearest = np.full(n, far, matrix.dtype)
    at = np.uint64(0)
    start, stop = 0, n  # outside of them all are reached: of ordered data half is never read
    for k in range(n - 1):
        reached[at] = far
        while reached[start] != 0:
            start += 1
        while reached[stop - 1] != 0:
            stop -= 1
        for i in range(np.uint64(start), np.uint64(stop)):
            nearest[i] = smaller(matrix[at, i] + reached[i], nearest[i])
        nearest[at] = far  # whatever the diagonal holds
        following = start + argmin(nearest, start, stop - start)
        pairs[k, 0] = at
        pairs[k, 1] = following
        heights[k] = nearest[following]
        at = np.uint64(following)
