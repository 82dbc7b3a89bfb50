"""Read a dissimilarity matrix, square or condensed, into a square, and check it on the way."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from supclust.hac.cpu.simd.transpose import VECTOR_BYTES, is_symmetric_tile, unfold_tile
from supclust.hac.cpu.threads import over_parts
from supclust.hac.memory import require_memory
from supclust.kernels import kernel

Floats = NDArray[np.floating]

TILE = 16  # rows, of which parts of a matrix have multiples: the larger side of a tile
MODERATE = 1e30  # magnitudes at and beyond it, and infinities, are left to `validation`
_SINGLE_THREAD_BYTES = 6 * 2**20  # below it, starting another thread takes longer than reading
_PARTS = 16


def points_of(pairs: int) -> int:
    """Return n of n (n - 1) / 2 pairs; no pairs are those of one point, as for ``squareform``.

    >>> points_of(0), points_of(3), points_of(4950)
    (1, 3, 100)
    """
    n = (1 + math.isqrt(1 + 8 * pairs)) // 2
    if n * (n - 1) // 2 != pairs:
        lower, upper = n * (n - 1) // 2, n * (n + 1) // 2
        raise ValueError(
            "a condensed array must hold n (n - 1) / 2 pairs for some whole n; "
            f"received {pairs}, between {lower} ({n} points) and {upper} ({n + 1} "
            "points). Pass a square matrix, or the upper triangle row by row, as SciPy does."
        )
    return n


def square_of(condensed: Floats) -> Floats:
    """Return the square matrix of a contiguous condensed vector of at least two points."""
    n = points_of(condensed.size)
    require_memory(n * n * condensed.itemsize, f"unfolding a condensed vector of {n:,} points")
    square = np.zeros((n, n), condensed.dtype)
    unfold_checked(condensed, n, square, 0, n)
    return square


def fill_square(given: Floats, square: Floats | None) -> tuple[bool, float, float]:
    """Copy or unfold a matrix of at least 2 points on all cores, and check it on the way.

    Args:
        given: (n, n) or condensed, contiguous.
        square: (n, >= n) output, whose diagonal is undefined afterwards; None checks only.

    Returns:
        Whether it is exactly symmetric and of moderate numbers, the smallest and the largest of
        them. Where the first is False, the others are undefined.
    """
    n = len(given if square is None else square)

    def fill(start: int, stop: int) -> tuple[bool, float, float]:
        if square is None:
            result = check_rows(given, n, start, stop)
        elif given.ndim == 1:
            result = unfold_checked(given, n, square, start, stop)
        else:
            result = copy_checked(given, n, square, start, stop)
        return bool(result[0]), float(result[1]), float(result[2])

    if given.nbytes < _SINGLE_THREAD_BYTES:
        return fill(0, n)
    parts = np.tile([1.0, math.inf, -math.inf], (-(-n // TILE), 1))

    def fill_part(a: int, b: int) -> None:
        parts[a] = fill(a * TILE, min(b * TILE, n))

    over_parts(fill_part, len(parts), _PARTS)
    return bool(parts[:, 0].all()), float(parts[:, 1].min()), float(parts[:, 2].max())


@kernel
def is_moderate(regular, low, high):
    """Whether values that are symmetric, without NaN and in this range need no closer look."""
    return regular and low > -MODERATE and high < MODERATE


@kernel
def check_rows(matrix, n, start, stop):
    """Compare rows ``start`` to ``stop``, left of the diagonal, with their columns.

    Args:
        matrix: (>= n, >= n) with contiguous rows.
        n: Rows and columns that count.
        start: First row, a multiple of `TILE`.
        stop: Likewise, or n.

    Returns:
        Whether these rows are exactly symmetric and of moderate numbers, and their smallest and
        largest number; (True, inf, -inf) without any number.
    """
    side = VECTOR_BYTES // matrix.itemsize
    low, high = matrix.dtype.type(np.inf), matrix.dtype.type(-np.inf)
    extremes = np.empty(2 * side, matrix.dtype)
    for lane in range(side):
        extremes[lane], extremes[side + lane] = low, high
    symmetric = True
    for top in range(start, stop, side):
        bottom = min(top + side, n)
        # The last rows may be fewer than a tile has: the tile takes some that are checked already.
        tile = bottom - side
        done = max(tile // side * side, 0)
        for left in range(0, done, side):
            symmetric &= is_symmetric_tile(matrix, tile, left, extremes)
        for i in range(top, bottom):
            for j in range(done, i):
                value = matrix[i, j]
                symmetric &= value == matrix[j, i]
                low = min(low, value)
                high = max(high, value)
    for lane in range(side):
        low = min(low, extremes[lane])
        high = max(high, extremes[side + lane])
    return is_moderate(symmetric, low, high), np.float64(low), np.float64(high)


@kernel
def copy_checked(matrix, n, square, start, stop):
    """Copy rows ``start`` to ``stop`` of the first n rows and columns; else as `check_rows`."""
    for i in range(np.uint64(start), np.uint64(stop)):
        for j in range(np.uint64(n)):
            square[i, j] = matrix[i, j]
    return check_rows(matrix, n, start, stop)


@kernel
def unfold_checked(condensed, n, square, start, stop):
    """Write rows ``start`` to ``stop`` of the upper triangle and their transpose to the square.

    Args:
        condensed: (n (n - 1) / 2,) contiguous.
        n: At least 2.
        square: (n, >= n) output; its diagonal is left as it is.
        start: First row, a multiple of `TILE`.
        stop: Likewise, or n.

    Returns:
        As `check_rows`.
    """
    side = VECTOR_BYTES // square.itemsize
    low, high = square.dtype.type(np.inf), square.dtype.type(-np.inf)
    extremes = np.empty(2 * side, square.dtype)
    for lane in range(side):
        extremes[lane], extremes[side + lane] = low, high
    numbers = True
    for top in range(start, stop, side):
        bottom = min(top + side, n)
        # Tiles begin right of the diagonal; the last one may overlap the one before.
        tiled = bottom if n - bottom >= side and bottom - top == side else n
        at = top * n - top * (top + 1) // 2 - top - 1  # where column 0 of row ``top`` would be
        for j in range(tiled, n - side + 1, side):
            numbers &= unfold_tile(condensed, at + j, n - top - 2, square, top, j, extremes)
        if tiled < n:
            j = n - side
            numbers &= unfold_tile(condensed, at + j, n - top - 2, square, top, j, extremes)
        for i in range(top, bottom):
            for j in range(i + 1, tiled):
                value = condensed[at + j]
                square[i, j] = value
                square[j, i] = value
                numbers &= value == value
                low = min(low, value)
                high = max(high, value)
            at += n - i - 2
    for lane in range(side):
        low = min(low, extremes[lane])
        high = max(high, extremes[side + lane])
    return is_moderate(numbers, low, high), np.float64(low), np.float64(high)
