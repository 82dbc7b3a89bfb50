"""Row operations of the CPU kernels, compiled by Numba: merging, weighing and searching rows.

A row holds the linkage of one cluster to every column; in the `LINEAR` and `LOG` forms a row of
weights goes with it. Every merge is written so that the value for (u, v) equals the value for (v,
u) bit for bit, and is never below the smaller of the values it merges. The kernels rely on both.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from supclust.hac._exponential import exponential

# How two linkages merge. Loops branch on the form outside, never per element.
MAX = 0  # alpha = inf: the larger value
MEAN = 1  # alpha = 0: weights are cluster sizes, no weight matrix
LINEAR = 2  # weights sum exp(alpha (f - centre)), where the range is proven safe
LOG = 3  # any range: weights exp(alpha Psi + H), of which H, the entropy of the softmax, is stored

_BLOCK = 256
_FINE = 64  # block of short rows, where searching the best block would outweigh finding it


@njit(cache=True, nogil=True, error_model="numpy")
def _least_32(bits):
    # Flipping the magnitude bits of negative floats makes integer order float order; integer
    # minima vectorise.
    least = np.int32(0x7FFFFFFF)
    for i in range(bits.size):
        value = bits[i]
        value ^= (value >> np.int32(31)) & np.int32(0x7FFFFFFF)
        least = min(least, value)
    return least


@njit(cache=True, nogil=True, error_model="numpy")
def _least_64(bits):
    least = np.int64(0x7FFFFFFFFFFFFFFF)
    for i in range(bits.size):
        value = bits[i]
        value ^= (value >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF)
        least = min(least, value)
    return least


@njit(cache=True, nogil=True, error_model="numpy")
def _greatest_32(bits):
    greatest = np.int32(-0x80000000)
    for i in range(bits.size):
        value = bits[i]
        value ^= (value >> np.int32(31)) & np.int32(0x7FFFFFFF)
        greatest = max(greatest, value)
    return greatest


@njit(cache=True, nogil=True, error_model="numpy")
def _greatest_64(bits):
    greatest = np.int64(-0x8000000000000000)
    for i in range(bits.size):
        value = bits[i]
        value ^= (value >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF)
        greatest = max(greatest, value)
    return greatest


@njit(cache=True, nogil=True, error_model="numpy")
def _float_32(ordered, room):
    room.view(np.int32)[0] = ordered ^ ((ordered >> np.int32(31)) & np.int32(0x7FFFFFFF))
    return room[0]


@njit(cache=True, nogil=True, error_model="numpy")
def _float_64(ordered, room):
    room.view(np.int64)[0] = ordered ^ ((ordered >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF))
    return room[0]


@njit(cache=True, nogil=True, error_model="numpy")
def row_range(row):
    """Return the smallest and largest value; a NaN among them comes out as one of the two."""
    room = np.empty(1, row.dtype)
    if row.itemsize == 4:
        bits32 = row.view(np.int32)
        return _float_32(_least_32(bits32), room), _float_32(_greatest_32(bits32), room)
    bits64 = row.view(np.int64)
    return _float_64(_least_64(bits64), room), _float_64(_greatest_64(bits64), room)


@njit(cache=True, nogil=True, error_model="numpy")
def row_argmin(row, length):
    """Return the lowest index of the smallest of the first ``length`` values (no NaN)."""
    best = 0
    step = _FINE if length < 2048 else _BLOCK
    if row.itemsize == 4:
        bits32 = row.view(np.int32)
        least32 = np.int32(0x7FFFFFFF)
        for start in range(0, length, step):
            found32 = _least_32(bits32[start : min(start + step, length)])
            if found32 < least32:
                least32 = found32
                best = start
    else:
        bits64 = row.view(np.int64)
        least64 = np.int64(0x7FFFFFFFFFFFFFFF)
        for start in range(0, length, step):
            found64 = _least_64(bits64[start : min(start + step, length)])
            if found64 < least64:
                least64 = found64
                best = start
    arg = best
    for i in range(best + 1, min(best + step, length)):
        if row[i] < row[arg]:
            arg = i
    return arg


@njit(cache=True, nogil=True, fastmath={"contract"})
def _exp_32(row, alpha, centre, out, scratch):
    # As `exponential`, with fewer digits and through an array, which turns floats into bits.
    bits = scratch.view(np.int32)
    for i in range(row.size):
        x = (row[i] - centre) * alpha
        shifted = x * np.float32(1.44269504) + np.float32(12582912.0)
        scratch[i] = shifted
        k = shifted - np.float32(12582912.0)
        r = (x - k * np.float32(0.693359375)) - k * np.float32(-2.12194440e-4)
        p = np.float32(1 / 5040)
        p = p * r + np.float32(1 / 720)
        p = p * r + np.float32(1 / 120)
        p = p * r + np.float32(1 / 24)
        p = p * r + np.float32(1 / 6)
        p = p * r + np.float32(0.5)
        p = p * r + np.float32(1.0)
        out[i] = p * r + np.float32(1.0)
    for i in range(row.size):
        bits[i] = (bits[i] << np.int32(23)) + np.int32(127 << 23)
    for i in range(row.size):
        out[i] *= scratch[i]


@njit(cache=True, nogil=True, error_model="numpy")
def weigh_row(form, row, alpha, centre, out, scratch):
    """Write the weights of single points: exp(alpha (f - centre)), or 0, the entropy of a pair."""
    if form == LINEAR:
        if row.itemsize == 4:
            _exp_32(row, alpha, centre, out, scratch)
        else:
            for i in range(row.size):
                out[i] = exponential((row[i] - centre) * alpha)
    elif form == LOG:
        for i in range(row.size):
            out[i] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def merge_entry(form, a, weight_a, b, weight_b, share_b, alpha, one):
    """Merge the linkages a and b of two clusters to a third; returns (linkage, weight).

    In the `LOG` form log S = alpha Psi + H with H between 0 and the log of the number of pairs.
    Only differences of linkages meet alpha then, so nothing is lost however large alpha Psi is.

    Args:
        form: How they merge.
        a: Linkage of the first cluster; ``weight_a`` its weight.
        weight_a: See a.
        b: Linkage of the second; ``weight_b`` its weight.
        weight_b: See b.
        share_b: The second cluster's share of the points (`MEAN`).
        alpha: Of the family (`LOG`).
        one: 1 in the float type of the matrix, for Numba widens float32 beside a Python constant.
    """
    if form == MAX:
        return max(a, b), weight_a
    total = weight_a
    larger = a
    small = one
    if form == LINEAR:
        total = weight_a + weight_b
        share_b = weight_b / total
    elif form == LOG:
        gap = (weight_b - weight_a) + alpha * (b - a)
        small = np.exp(-abs(gap))
        share_b = (one if gap > 0 else small) / (one + small)
        larger = b if gap > 0 else a
        total = weight_b if gap > 0 else weight_a
    # Not a + (b - a) share: that would lose a small b beside a stand-in for infinity of weight 0.
    mean = a * (one - share_b) + b * share_b
    least = a if a < b else b
    most = b if a < b else a
    mean = least if mean < least else (most if mean > most else mean)
    if form == LOG:
        total = total + (alpha * (larger - mean) + np.log1p(small))
    return mean, total


@njit(cache=True, nogil=True, error_model="numpy")
def merge_rows(form, psi_u, weight_u, psi_v, weight_v, share_v, alpha):
    """Merge the row of cluster v into the row of cluster u, in place, column by column."""
    one = psi_u.dtype.type(1.0)
    if form == MAX:
        # Through a buffer: written in place, the compiler turns the maximum into a conditional
        # store.
        larger = np.empty(_BLOCK, psi_u.dtype)
        for start in range(0, psi_u.size, _BLOCK):
            part_u = psi_u[start : start + _BLOCK]
            part_v = psi_v[start : start + _BLOCK]
            for i in range(part_u.size):
                larger[i], _ = merge_entry(MAX, part_u[i], one, part_v[i], one, one, one, one)
            for i in range(part_u.size):
                part_u[i] = larger[i]
    elif form == MEAN:
        for i in range(psi_u.size):
            psi_u[i], _ = merge_entry(MEAN, psi_u[i], one, psi_v[i], one, share_v, one, one)
    elif form == LINEAR:
        for i in range(psi_u.size):
            psi_u[i], weight_u[i] = merge_entry(
                LINEAR, psi_u[i], weight_u[i], psi_v[i], weight_v[i], one, one, one
            )
    else:
        for i in range(psi_u.size):
            psi_u[i], weight_u[i] = merge_entry(
                LOG, psi_u[i], weight_u[i], psi_v[i], weight_v[i], one, alpha, one
            )
