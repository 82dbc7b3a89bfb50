"""The exact ExpLink tree of one matrix in O(n^2): which CPU kernel builds it.

Matrices that fit the cache take the nearest-neighbour chain on one core, and `forest` builds many
of those side by side. Larger matrices merge pairs on all cores (`large`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from supclust.hac.cpu.chain_rows import numbers_needed, split_workspace
from supclust.hac.cpu.fill import fill_square
from supclust.hac.cpu.merge_rules import settings
from supclust.hac.cpu.nn_chain import Floats, Ints, merge_all
from supclust.hac.cpu.numbering import number_linkage, number_merges
from supclust.hac.cpu.prim import prim
from supclust.hac.family import is_weighted, overflows
from supclust.hac.memory import require_memory, workspace

Tree = tuple[Ints, Floats, Ints]

SMALL = 3000  # clusters up to which the chain on one core is fastest


def build_small(given: Floats, n: int, alpha: float, Z: NDArray[np.float64]) -> bool:
    """Check and cluster 2 to `SMALL` points, reading what is given from memory once.

    Args:
        given: (n, n) or condensed float32 or float64; not changed.
        n: The number of points.
        alpha: Any member of the family.
        Z: (n - 1, 4) output, as SciPy's.

    Returns:
        False, and no tree, where `validation.check_square` has to look at the matrix first.
    """
    if overflows(alpha, float(np.finfo(given.dtype).max)):
        return False
    weighted = is_weighted(alpha)
    numbers, copied = numbers_needed(n, weighted), not given.flags.c_contiguous
    require_memory((numbers + copied * given.size) * given.itemsize, f"clustering {n:,} points")
    given = np.ascontiguousarray(given)
    psi, weight = split_workspace(workspace("chain", numbers, given.dtype), n, weighted)
    moderate, low, high = fill_square(given, psi)
    if moderate:
        number_linkage(*_merges(psi, weight, alpha, low, high), Z)
    return moderate


def build_tree(matrix: Floats, alpha: float, low: float, high: float) -> Tree:
    """Build the greedy ExpLink tree of one checked matrix.

    Args:
        matrix: (n, n) contiguous float32 or float64, exactly symmetric, finite off the diagonal
            (the diagonal is ignored); not changed. `validation.check_square` makes such a matrix.
        alpha: Any member of the family, -inf to inf.
        low: Smallest off-diagonal value.
        high: Largest off-diagonal value.

    Returns:
        children (n - 1, 2), heights (n - 1,) non-decreasing, sizes (n - 1,), in SciPy's numbering.

    Complexity: O(n^2) time; at most two more matrices of memory (one for alpha 0 or inf, none for
    -inf).
    """
    n = len(matrix)
    pairs, heights = np.empty((max(n - 1, 0), 2), np.int64), np.empty(max(n - 1, 0), matrix.dtype)
    if n > 1 and alpha == -math.inf:
        prim(matrix, pairs, heights)
    elif 1 < n <= SMALL:
        numbers, weighted = numbers_needed(n, is_weighted(alpha)), is_weighted(alpha)
        psi, weight = split_workspace(workspace("chain", numbers, matrix.dtype), n, weighted)
        psi[:] = matrix
        pairs, heights = _merges(psi, weight, alpha, low, high)
    elif n > 1:
        from supclust.hac.cpu.large.compaction import LargeTree

        LargeTree(matrix, settings(matrix, alpha, low, high), pairs, heights).build(SMALL)
    return number_merges(pairs, heights)


def _merges(
    psi: Floats, weight: Floats, alpha: float, low: float, high: float
) -> tuple[Ints, Floats]:
    """Return the merges of a matrix that fits the cache, destroying it (see `number_merges`)."""
    n = len(psi)
    pairs, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1, psi.dtype)
    merge_all(psi, weight, alpha, low, high, pairs, heights)
    return pairs, heights
