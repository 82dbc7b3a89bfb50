"""Single linkage by Prim's algorithm: one pass over each row, no matrix of our own.

The order in which Prim visits the points, with the height at which each was visited, already is the
single-linkage tree: at any threshold the clusters are the runs of that order between heights above
it. So no parent pointers are kept, only a row of smallest distances to the visited points.
"""

from __future__ import annotations

import numpy as np

from supclust.hac.cpu.simd.argmin import argmin
from supclust.kernels import kernel


@kernel
def prim(matrix, pairs, heights):
    """Fill the merges of single linkage on a symmetric matrix of finite dissimilarities.

    Args:
        matrix: (n, >= n) contiguous; the diagonal and further columns are ignored. Absolute values
            below a quarter of the largest float.
        pairs: (n - 1, 2) a point of either side of each merge.
        heights: (n - 1,) in the order visited, not sorted.

    Complexity: O(n^2) time, O(n) memory.
    """
    n = matrix.shape[0]
    # Distance to the visited points; infinite for those points themselves.
    nearest = np.full(n, np.finfo(heights.dtype).max / 2, heights.dtype)
    x, start, stop = 0, 0, n
    for k in range(n - 1):
        nearest[x] = np.inf
        # Points in the order of the tree leave half of the numbers unread.
        while nearest[start] == np.inf:
            start += 1
        while nearest[stop - 1] == np.inf:
            stop -= 1
        _relax(matrix[x], nearest, start, stop)
        following = start + argmin(nearest, start, stop - start)
        pairs[k, 0], pairs[k, 1], heights[k] = x, following, nearest[following]
        x = following


@kernel
def _relax(row, nearest, start, stop):
    """Prim's relaxation step: the smaller of known and new distances, where not visited."""
    infinite = nearest.dtype.type(np.inf)
    for i in range(np.uint64(start), np.uint64(stop)):
        new, known = row[i], nearest[i]
        nearest[i] = new if (new < known) & (known < infinite) else known
