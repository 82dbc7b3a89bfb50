"""Copy a matrix and check it on the way: a small matrix is read from memory only once."""

from __future__ import annotations

import numpy as np
from numba import njit

from supclust.hac._tile import is_mirrored
from supclust.hac._vector import VECTOR_BYTES, argmax, argmin

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
    low = high = block[1, 0]
    mirrored = True
    whole = n // side * side
    for top in range(start, stop, side):
        bottom = min(top + side, n)
        for i in range(top, bottom):
            for j in range(np.uint64(n)):
                flat[np.uint64(i * n) + j] = block[np.uint64(i), j]
            if i:
                low = min(low, flat[i * n + argmin(flat, i * n, i)])
                high = max(high, flat[i * n + argmax(flat, i * n, i)])
        if bottom <= whole:
            for left in range(0, top, side):
                mirrored &= is_mirrored(psi, block, top, left)
        for i in range(top, bottom):
            for j in range(top if bottom <= whole else 0, i):
                mirrored &= psi[i, j] == block[j, i]
    plain = mirrored and low > -_MODERATE and high < _MODERATE
    return plain, np.float64(low), np.float64(high)
