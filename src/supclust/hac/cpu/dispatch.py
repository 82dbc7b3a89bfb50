"""The CPU kernel: the exact ExpLink tree of one matrix in O(n^2).

What fits the cache takes the nearest-neighbour chain on one core (`_small`), and `forest` runs many
of those side by side. Larger matrices are made smaller on all cores first (`shrinking`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from supclust.hac.cpu.checked_copy import copy_checked
from supclust.hac.cpu.condensed import unfold_checked
from supclust.hac.cpu.large.compaction import Shrinking
from supclust.hac.cpu.large.neighbour_candidates import Few
from supclust.hac.cpu.merge_rules import settings
from supclust.hac.cpu.numbering import number_linkage, number_merges
from supclust.hac.cpu.prim import prim
from supclust.hac.cpu.simd.argmin import VECTOR_BYTES
from supclust.hac.cpu.small_tree import Floats, Ints, divide, merge_all, numbers_needed
from supclust.hac.cpu.threads import over_parts
from supclust.hac.cpu.workspace import small_room
from supclust.hac.family import overflows
from supclust.hac.memory import require_memory

Tree = tuple[Ints, Floats, Ints]

SMALL = 2000  # clusters whose matrix fits a cache, where the chain alone is fastest
_ALONE = 6 * 2**20  # bytes below which another thread would come too late
_PARTS = 16  # more than there are threads: some rows take longer than others
_LARGEST = {np.dtype(kind): float(np.finfo(kind).max) for kind in (np.float32, np.float64)}


def build_small(given: Floats, n: int, alpha: float, Z: NDArray[np.float64]) -> bool:
    """Check and cluster 2 to `SMALL` points, reading what is given from memory once.

    Args:
        given: (n, n) or condensed float32 or float64; not changed.
        n: The number of points.
        alpha: Any member of the family.
        Z: (n - 1, 4) output, as SciPy's.

    Returns:
        False, and no tree, where `validate.check_square` has to look at the matrix first.
    """
    if overflows(alpha, _LARGEST[given.dtype]):
        return False
    weighted = _is_weighted(alpha)
    numbers, copied = numbers_needed(n, weighted), not given.flags.c_contiguous
    require_memory((numbers + copied * given.size) * given.itemsize, f"clustering {n:,} points")
    given = np.ascontiguousarray(given)
    psi, weight = divide(small_room(numbers, given.dtype), n, weighted)
    plain, low, high = fill_square(given, psi)
    if plain:
        number_linkage(*_merges(psi, weight, alpha, low, high), Z)
    return bool(plain)


def fill_square(given: Floats, square: Floats, streamed: bool = False) -> tuple[bool, float, float]:
    """Copy or unfold a matrix of at least 2 points on all cores, and check it on the way.

    Args:
        given: (n, n) or condensed, contiguous.
        square: (n, >= n) output.
        streamed: A condensed vector past the caches; see `unfold_checked`.

    Returns:
        Whether it is exactly symmetric and of moderate numbers, the smallest and the largest of
        them; where the first is False, the others mean nothing. Of the diagonal anything may come.
    """
    n = len(square)
    if square.nbytes < _ALONE:
        return _fill(given, square, 0, n, streamed)
    side = VECTOR_BYTES // square.itemsize
    found = np.tile([1.0, math.inf, -math.inf], (-(-n // side), 1))

    def fill_part(a: int, b: int) -> None:
        found[a] = _fill(given, square, a * side, min(b * side, n), streamed)

    over_parts(fill_part, len(found), _PARTS)
    return bool(found[:, 0].all()), float(found[:, 1].min()), float(found[:, 2].max())


def _fill(
    given: Floats, square: Floats, start: int, stop: int, streamed: bool = False
) -> tuple[bool, float, float]:
    """As `fill_square`, rows ``start`` to ``stop``."""
    n = len(square)
    if given.ndim == 1:
        return unfold_checked(given, n, square, start, stop, streamed)  # type: ignore[no-any-return]
    return copy_checked(given, n, square, start, stop)  # type: ignore[no-any-return]


def build_tree(
    matrix: Floats, alpha: float, low: float, high: float, before: Few | None = None
) -> Tree:
    """Build the greedy ExpLink tree of one checked matrix.

    Args:
        matrix: (n, n) contiguous float32 or float64, exactly symmetric, finite off the diagonal
            (the diagonal is ignored); not changed. `validate.check_square` makes such a matrix. It
            may have further columns, which are ignored.
        alpha: Any member of the family, -inf to inf.
        low: Smallest off-diagonal value.
        high: Largest off-diagonal value.
        before: The few nearest of the points before each, if known (`validate.CheckedMatrix`);
            used up.

    Returns:
        children (n - 1, 2), heights (n - 1,) non-decreasing, sizes (n - 1,), in SciPy's numbering.

    Complexity: O(n^2) time; at most two more matrices of memory (one for alpha 0 or inf, none for
    -inf).
    """
    n = len(matrix)
    if 1 < n <= SMALL and alpha != -math.inf:
        return _small_tree(matrix, alpha, low, high)
    pairs, heights = np.empty((max(n - 1, 0), 2), np.int64), np.empty(max(n - 1, 0), matrix.dtype)
    if n > 1 and alpha == -math.inf:
        prim(matrix, pairs, heights)
    elif n > 1:
        Shrinking(matrix, settings(matrix, alpha, low, high), pairs, heights).run(SMALL, before)
    return number_merges(pairs, heights)


def _small_tree(matrix: Floats, alpha: float, low: float, high: float) -> Tree:
    n, weighted = len(matrix), _is_weighted(alpha)
    psi, weight = divide(small_room(numbers_needed(n, weighted), matrix.dtype), n, weighted)
    psi[:] = matrix[:, :n]
    return number_merges(*_merges(psi, weight, alpha, low, high))


def _merges(
    psi: Floats, weight: Floats, alpha: float, low: float, high: float
) -> tuple[Ints, Floats]:
    """Return the merges of a matrix that fits the cache and may be destroyed (`number_merges`)."""
    n = len(psi)
    pairs, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1, psi.dtype)
    merge_all(psi, weight, alpha, low, high, pairs, heights)
    return pairs, heights


def _is_weighted(alpha: float) -> bool:
    """Whether linkages carry weights along."""
    return alpha != 0.0 and math.isfinite(alpha)
