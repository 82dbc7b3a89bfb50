"""The CPU kernel: the exact ExpLink tree of one matrix in O(n^2).

What fits the cache takes the nearest-neighbour chain on one core (`_small`), and `forest` runs many
of those side by side. Larger matrices are made smaller on all cores first (`shrinking`).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from supclust.hac._copy import copy_checked
from supclust.hac._few import Few
from supclust.hac._rows import LINEAR, LOG, MAX, MEAN
from supclust.hac._small import chain_in_cache
from supclust.hac._vector import VECTOR_BYTES
from supclust.hac.condensed import unfold_checked
from supclust.hac.explink import overflows
from supclust.hac.numbering import number_merges
from supclust.hac.prim import prim
from supclust.hac.rooms import rooms
from supclust.hac.shrinking import Floats, Ints, Settings, Shrinking
from supclust.hac.threads import over_parts

Tree = tuple[Ints, Floats, Ints]

SMALL = 2000  # clusters whose matrix fits a cache, where the chain alone is fastest
_ALONE = 2**21  # bytes below which another thread would come too late


@njit(cache=True, nogil=True)
def choose_form(alpha, low, high, n, sample):  # type: ignore[no-untyped-def]
    """Return how linkages merge: by max, by mean, or by weights, linear only where proven safe.

    Weights exp(alpha (f - middle)) span exp(+-|alpha| (high - low) / 2); their sums over at most
    n^2 / 4 pairs must stay inside the float range with room to spare on both sides, or logarithms
    are used. ``sample`` is any array of the matrix's float type.
    """
    if alpha == np.inf:
        return MAX
    if alpha == 0.0:
        return MEAN
    reach = abs(alpha) * (high - low) / 2
    room = 0.75 * np.log(np.float64(np.finfo(sample.dtype).max)) - 2 * np.log(n + 1)
    return LINEAR if reach < room else LOG


def build_small(dissimilarity: Floats, n: int, alpha: float) -> Tree | None:
    """Check and cluster 2 to `SMALL` points, reading what is given from memory once.

    Args:
        dissimilarity: (n, n) or condensed, contiguous float32 or float64; not changed.
        n: The number of points.
        alpha: Any member of the family.

    Returns:
        As `build_tree`; ``None`` where `validate.check_square` has to look at the matrix first.
    """
    if overflows(alpha, float(np.finfo(dissimilarity.dtype).max)):
        return None
    psi, weight = _small_rooms(n, dissimilarity.dtype, alpha)
    plain, low, high = fill_square(dissimilarity, psi)
    return _small_tree(psi, weight, alpha, low, high) if plain else None


def fill_square(
    dissimilarity: Floats, square: Floats, streamed: bool = False
) -> tuple[bool, float, float]:
    """Copy or unfold a matrix of at least 2 points on all cores, and check it on the way.

    Args:
        dissimilarity: (n, n) or condensed, contiguous.
        square: (n, >= n) output.
        streamed: See `unfold_checked`.

    Returns:
        Whether it is exactly symmetric and of moderate numbers, the smallest and the largest of
        them; where the first is False, the others mean nothing. Of the diagonal anything may come.
    """
    n = len(square)
    side = VECTOR_BYTES // square.itemsize
    found = np.tile([1.0, math.inf, -math.inf], (-(-n // side), 1))

    def fill(a: int, b: int) -> None:
        args = dissimilarity, n, square, a * side, min(b * side, n)
        condensed = dissimilarity.ndim == 1
        found[a] = unfold_checked(*args, streamed) if condensed else copy_checked(*args)

    over_parts(fill, len(found), 1 if square.nbytes < _ALONE else None)
    return bool(found[:, 0].all()), float(found[:, 1].min()), float(found[:, 2].max())


def build_tree(
    matrix: Floats, alpha: float, low: float, high: float, before: Few | None = None
) -> Tree:
    """Build the greedy ExpLink tree of one checked matrix.

    Args:
        matrix: (n, n) contiguous float32 or float64, exactly symmetric, finite off the diagonal
            (the diagonal is ignored); not changed. `validate.check_square` makes such a matrix. Of
            more than `SMALL` points it may have further columns, which are ignored.
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
        psi, weight = _small_rooms(n, matrix.dtype, alpha)
        psi[:] = matrix
        return _small_tree(psi, weight, alpha, low, high)
    pairs, heights = _no_merges(matrix)
    if n > 1 and alpha == -math.inf:
        prim(matrix, pairs, heights)
    elif n > 1:
        Shrinking(matrix, _settings(matrix, alpha, low, high), pairs, heights).run(SMALL, before)
    return number_merges(pairs, heights)


def _small_rooms(n: int, kind: np.dtype[np.generic], alpha: float) -> list[Floats]:
    return rooms((n, n), (n if alpha and math.isfinite(alpha) else 1, n), dtype=kind)


def _small_tree(psi: Floats, weight: Floats, alpha: float, low: float, high: float) -> Tree:
    """Chase the chain of a matrix that may be destroyed."""
    n = len(psi)
    pairs, heights = _no_merges(psi)
    if alpha == -math.inf:
        prim(psi, pairs, heights)
        return number_merges(pairs, heights)
    form, alpha_in, centre = _settings(psi, alpha, low, high)
    size, leaf = np.ones(n, np.int32), np.arange(n)
    chain_in_cache(form, psi, weight, alpha_in, centre, size, leaf, pairs, heights)
    return number_merges(pairs, heights)


def _no_merges(matrix: Floats) -> tuple[Ints, Floats]:
    """Room for the merges of a tree."""
    count = max(len(matrix) - 1, 0)
    return np.empty((count, 2), np.int64), np.empty(count, matrix.dtype)


def _settings(matrix: Floats, alpha: float, low: float, high: float) -> Settings:
    """Form, alpha and centre of the weights, in the matrix's type."""
    form, kind = choose_form(alpha, low, high, len(matrix), matrix), matrix.dtype.type
    return form, kind(alpha if form >= LINEAR else 0.0), kind((low + high) / 2)
