"""A matrix without its dead columns, made of rows that do not know of each other's merges.

Of two clusters the one that was born later knows the other. So with the clusters in the order of
their births, every row is right up to the diagonal, and the rest of it is the image of later rows:
there is nothing to compute.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from supclust.hac.cpu.large.neighbour_candidates import find_few
from supclust.hac.cpu.merge_rules import weigh
from supclust.hac.cpu.simd.argmin import VECTOR_BYTES
from supclust.hac.cpu.simd.streaming_store import settle, write_row
from supclust.hac.cpu.simd.transpose import turn
from supclust.hac.family import LINEAR


@njit(cache=True, nogil=True, error_model="numpy")
def compact(rows, living, psi, weight, few, start, stop):
    """Write rows ``start`` to ``stop`` of a smaller matrix, up to the diagonal, and their images.

    Args:
        rows: Of the larger matrix (`_noted`).
        living: (m,) the clusters that are left, in the order of their births.
        psi: (m, >= m) output; rows begin at lines of memory.
        weight: Weights of the same layout (`LINEAR`, `LOG`), or anything 2-d.
        few: Output: the few nearest of the clusters before each.
        start: First row, a multiple of `VECTOR_BYTES` over the size of a number.
        stop: Likewise, or m.
    """
    kind = psi.dtype
    side = VECTOR_BYTES // psi.itemsize
    weighted = rows.form >= LINEAR
    panel = np.empty((side, psi.shape[1]), kind)
    weights = np.empty((side, psi.shape[1] if weighted else 1), kind)
    for top in range(start, stop, side):
        bottom = min(top + side, living.size)
        for i in range(top, bottom):
            x, row = living[i], panel[i - top]
            r = np.int64(rows.slot[x])
            _gather(rows.base[x] if r < 0 else rows.psi[r], living[:i], row)
            row[i] = rows.dead
            if i > 0:
                find_few(row, 0, i, i, few)
            if weighted and r < 0 and rows.base_weight.size == 0:
                weigh(rows.form, row, 0, weights[i - top], 0, i, rows.alpha, rows.centre)
            elif weighted:
                source = rows.base_weight[x] if r < 0 else rows.weight[r]
                _gather(source, living[:i], weights[i - top])
            if weighted:
                weights[i - top, i] = 1.0  # of nothing; but no NaN must come of it
        _write_with_images(panel, psi, top, bottom)
        if weighted:
            _write_with_images(weights, weight, top, bottom)
    settle()


@njit(cache=True, nogil=True, error_model="numpy")
def _gather(source, columns, target):
    for c in range(columns.size):
        target[c] = source[columns[c]]


@njit(cache=True, nogil=True, error_model="numpy")
def _write_with_images(panel, square, top, bottom):
    """Write a panel that is known up to the diagonal to rows ``top`` to ``bottom``."""
    side = panel.shape[0]
    for i in range(top, bottom):
        for j in range(top, i):
            panel[j - top, i] = panel[i - top, j]
    for i in range(top, bottom):
        write_row(panel[i - top], square[i], bottom)
    for left in range(0, top, side):
        if bottom - top == side:
            turn(panel, left, square, top)
        else:
            for i in range(top, bottom):
                for j in range(left, left + side):
                    square[j, i] = panel[i - top, j]
