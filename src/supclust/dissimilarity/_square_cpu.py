"""Between the condensed pairs of a block and its square matrix, on the host (Numba)."""

from __future__ import annotations

from numba import njit

_TILE = 32  # rows and columns at a time: the transposed half stays in the cache


@njit(cache=True, nogil=True)
def spread_pairs(condensed, square):
    """Write condensed values (e,) of n points into both triangles of ``square`` (n, n)."""
    n = square.shape[0]
    for top in range(0, n, _TILE):
        for left in range(top, n, _TILE):
            for i in range(top, min(top + _TILE, n)):
                base = i * (2 * n - i - 3) // 2 - 1
                for j in range(max(left, i + 1), min(left + _TILE, n)):
                    value = condensed[base + j]
                    square[i, j] = value
                    square[j, i] = value


@njit(cache=True, nogil=True)
def gather_pairs(square, condensed):
    """Add up both triangles of ``square`` (n, n) into ``condensed`` (e,)."""
    n = square.shape[0]
    for top in range(0, n, _TILE):
        for left in range(top, n, _TILE):
            for i in range(top, min(top + _TILE, n)):
                base = i * (2 * n - i - 3) // 2 - 1
                for j in range(max(left, i + 1), min(left + _TILE, n)):
                    condensed[base + j] = square[i, j] + square[j, i]
