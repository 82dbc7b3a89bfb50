"""Copy a matrix and check it on the way: a small matrix is read from memory only once."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types

from supclust.hac.cpu.simd.argmin import VECTOR_BYTES, intrinsic, prefetch
from supclust.hac.cpu.simd.transpose import is_mirrored_within

_MODERATE = 1e30  # beyond it (and for infinities) `validate` looks closer


@njit(cache=True, nogil=True, error_model="numpy")
def copy_checked(block, n, psi, start, stop):
    """Copy rows ``start`` to ``stop`` of the first n rows and columns.

    Args:
        block: (>= n, >= n) with contiguous rows.
        n: At least 2.
        psi: (n, n) output.
        start: First row, a multiple of `VECTOR_BYTES` over the size of a number.
        stop: Likewise, or n.

    Returns:
        Whether these rows are symmetric to the last bit and of moderate numbers, the smallest and
        the largest number left of the diagonal. Where the first is False, the others mean nothing.
    """
    side = VECTOR_BYTES // psi.itemsize
    flat = psi.reshape(-1)
    extremes = np.full(2 * side, block[1, 0])
    low = high = block[1, 0]
    mirrored = True
    for top in range(start, stop, side):
        bottom = min(top + side, n)
        for i in range(top, bottom):
            for j in range(np.uint64(n)):
                flat[np.uint64(i * n) + j] = block[np.uint64(i), j]
        # The last rows may be fewer than a tile has: it takes some that are copied already.
        tile = bottom - side
        done = max(tile // side * side, 0)
        for left in range(0, done, side):
            mirrored &= is_mirrored_within(block, block, tile, left, extremes)
        for i in range(top, bottom):
            for j in range(done, i):
                number = block[i, j]
                mirrored &= number == block[j, i]
                low = min(low, number)
                high = max(high, number)
    low = min(low, extremes[:side].min())
    high = max(high, extremes[side:].max())
    return is_plain(mirrored, low, high), np.float64(low), np.float64(high)


@njit(cache=True, nogil=True)
def is_plain(regular, low, high):
    """Whether numbers that are symmetric, without NaN and in this range need no closer look."""
    return regular and low > -_MODERATE and high < _MODERATE


def _build_fetch(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    prefetch(builder, builder.inttoptr(args[0], ir.IntType(8).as_pointer()), soon=False)
    return context.get_dummy_value()


@intrinsic
def _fetch(_: Any, address: Any) -> Any:
    return types.void(types.uint64), _build_fetch


@njit(cache=True, nogil=True)
def fetch_ahead(address, lines):
    """Ask for the next ``lines`` of memory, without waiting; returns the address behind them.

    Of an address that is nobody's nothing comes.
    """
    for _ in range(lines):
        _fetch(address)
        address += np.uint64(VECTOR_BYTES)
    return address
