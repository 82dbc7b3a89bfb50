"""SciPy's condensed form of a matrix, the upper triangle row by row, made square.

It is half as long as the square, and symmetric by its form: there is less to read, and less to
check.
"""

from __future__ import annotations

import math
import threading

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supclust.hac.cpu.checked_copy import is_plain
from supclust.hac.cpu.simd.argmin import VECTOR_BYTES, argmax, argmin
from supclust.hac.cpu.simd.streaming_store import settle
from supclust.hac.cpu.simd.transpose import unfold, unfold_past_caches
from supclust.hac.cpu.threads import over_parts
from supclust.hac.memory import require_memory

_CHUNK = 2**13  # numbers that stay in a cache while they are looked at three times


def points_of(condensed: NDArray[np.floating]) -> int:
    """Return n of n (n - 1) / 2 numbers; an empty vector is one point, as for ``squareform``."""
    n = (1 + math.isqrt(1 + 8 * condensed.size)) // 2
    if n * (n - 1) // 2 != condensed.size:
        lower, upper = n * (n - 1) // 2, n * (n + 1) // 2
        raise ValueError(
            "a condensed vector must hold n (n - 1) / 2 dissimilarities for some whole n; "
            f"received {condensed.size}, between {lower} ({n} points) and {upper} ({n + 1} "
            "points). Pass a square matrix, or the upper triangle row by row, as SciPy does."
        )
    return n


def square_of(condensed: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the square matrix of a contiguous condensed vector of at least two points."""
    n = points_of(condensed)
    require_memory(n * n * condensed.itemsize, f"unfolding a condensed vector of {n:,} points")
    square = np.zeros((n, n), condensed.dtype)
    unfold_checked(condensed, n, square, 0, n)
    return square


def is_plain_vector(condensed: NDArray[np.floating]) -> bool:
    """Whether a contiguous vector needs no closer look (`_copy.is_plain`)."""
    odd = threading.Event()

    def look(a: int, b: int) -> None:
        if not odd.is_set() and not _are_plain(condensed[a:b]):
            odd.set()

    over_parts(look, condensed.size)
    return not odd.is_set()


@njit(cache=True, nogil=True)
def _are_plain(values):  # type: ignore[no-untyped-def]
    plain = True
    for start in range(0, values.size, _CHUNK):
        length = min(_CHUNK, values.size - start)
        low = values[start + argmin(values, start, length)]
        high = values[start + argmax(values, start, length)]
        odd = 0  # counted: of a flag the compiler makes no vectors
        for i in range(np.uint64(start), np.uint64(start + length)):
            odd += values[i] != values[i]
        plain &= is_plain(odd == 0, low, high)
    return plain


@njit(cache=True, nogil=True, error_model="numpy")
def unfold_checked(condensed, n, square, start, stop, streamed=False):  # type: ignore[no-untyped-def]
    """Write rows ``start`` to ``stop`` of the upper triangle to the square, and their images.

    Args:
        condensed: (n (n - 1) / 2,) contiguous.
        n: At least 2.
        square: (n, >= n) output; its diagonal is left alone.
        start: First row, a multiple of `VECTOR_BYTES` over the size of a number.
        stop: Likewise, or n.
        streamed: Past the caches: all rows of the square begin where lines of memory do.

    Returns:
        As `copy_checked`; without any number in these rows, (True, inf, -inf).
    """
    side = VECTOR_BYTES // square.itemsize
    low = square.dtype.type(np.inf)
    high = -low
    extremes = np.empty(2 * side, square.dtype)
    extremes[:side] = low
    extremes[side:] = high
    numbers = True
    for top in range(start, stop, side):
        bottom = min(top + side, n)
        # Tiles begin behind the diagonal; the last one may overlap the one before.
        tiled = bottom if n - bottom >= side and bottom - top == side else n
        at = top * n - top * (top + 1) // 2 - top - 1  # where column 0 of row ``top`` would be
        step = n - top - 2
        for j in range(tiled, n - side + 1, side):
            if streamed:
                numbers &= unfold_past_caches(condensed, at + j, step, square, top, j, extremes)
            else:
                numbers &= unfold(condensed, at + j, step, square, top, j, extremes)
        if tiled < n:
            j = n - side
            numbers &= unfold(condensed, at + j, step, square, top, j, extremes)
        for i in range(top, bottom):
            for j in range(i + 1, tiled):
                number = condensed[at + j]
                square[i, j] = number
                square[j, i] = number
                numbers &= number == number
                low = min(low, number)
                high = max(high, number)
            at += n - i - 2
    low = min(low, extremes[:side].min())
    high = max(high, extremes[side:].max())
    settle()
    return is_plain(numbers, low, high), np.float64(low), np.float64(high)
