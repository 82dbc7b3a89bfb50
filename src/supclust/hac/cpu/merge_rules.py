"""The ExpLink merge rule as compiled code: one pair of clusters, a row, a list (see `hac.family`).

A row holds the linkage of one cluster to every column; with weights (`LINEAR`, `LOG`) a row of
weights goes with it. The value for (u, v) equals the value for (v, u) bit for bit, and is never
below the smaller of the values it merges. The kernels rely on both.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from supclust.hac.cpu.simd.argmin import larger
from supclust.hac.cpu.simd.exp import exponential, exponentials
from supclust.hac.family import EXTREME, LINEAR, LOG, MEAN

Settings = tuple[int, np.floating, np.floating]


@njit(cache=True, nogil=True)
def choose_representation(alpha, low, high, n, sample):
    """Choose the weight representation; `LINEAR` only where the range is proven safe.

    Weights exp(alpha (f - middle)) span exp(+-|alpha| (high - low) / 2). Their sums over at most
    n^2 / 4 pairs must stay inside the float range with a margin on both sides; otherwise `LOG`.
    ``sample`` is any array of the matrix's float type.
    """
    if abs(alpha) == np.inf:
        return EXTREME
    if alpha == 0.0:
        return MEAN
    exponent = abs(alpha) * (high - low) / 2
    margin = 0.75 * np.log(np.float64(np.finfo(sample.dtype).max)) - 2 * np.log(n + 1)
    return LINEAR if exponent < margin else LOG


@register_jitable(inline="always")
def settings(matrix: NDArray[np.floating], alpha: float, low: float, high: float) -> Settings:
    """Return the weight representation, and alpha and the weights' centre in the matrix's type."""
    kind = matrix.dtype
    form = choose_representation(alpha, low, high, matrix.shape[0], matrix)
    return form, kind.type(alpha if form >= LINEAR else 0.0), kind.type((low + high) / 2)


@njit(cache=True, nogil=True)
def point_weight(form, value, alpha, centre):
    """Weight of a single pair of points at dissimilarity ``value`` (`LINEAR`, `LOG`)."""
    return exponential(alpha * (value - centre)) if form == LINEAR else 0.0 * value


@njit(cache=True, nogil=True, error_model="numpy")
def weigh(form, values, start, weights, begin, length, alpha, centre):
    """Write the weights of pairs of points, as `point_weight`, for a stretch of a row.

    The dissimilarities are those of ``values`` from ``start`` on; weights go to ``begin`` and on.
    """
    if form == LINEAR:
        exponentials(values, start, weights, begin, length, alpha, centre)
    elif form == LOG:
        for i in range(np.uint64(begin), np.uint64(begin + length)):
            weights[i] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def merge_pair(form, a, weight_a, b, weight_b, share_b, alpha, one):
    """Merge the linkages a and b of two clusters to a third one: the rule of `hac.family`.

    With `LOG`, log S = alpha Psi + H with H between 0 and the log of the number of pairs. Alpha
    multiplies only differences of linkages, so nothing is lost however large alpha Psi is.

    Args:
        form: Weight representation.
        a: Linkage of the first cluster.
        weight_a: Its weight (`LINEAR`, `LOG`), or the code of its extreme pair (`EXTREME`).
        b: Linkage of the second cluster.
        weight_b: Its weight, as ``weight_a``.
        share_b: Share of the second cluster in the points of both (`MEAN` only).
        alpha: Of the family (`LOG`); its sign decides between minimum and maximum (`EXTREME`).
        one: 1 in the float type of the matrix, since Numba widens float32 beside a Python constant.

    Returns:
        (linkage, weight, share of the first cluster). With `EXTREME` the lower code wins a tie.
    """
    if form == EXTREME:
        first = (a < b) if alpha < 0 else (a > b)
        if first or (a == b and weight_a < weight_b):
            return a, weight_a, one
        return b, weight_b, one - one
    total = weight_a
    heavier = a
    ratio = one
    # Two shares, because 1 - share loses a large value of small weight; and not a + (b - a) share,
    # which loses a small b beside a stand-in for infinity of weight 0.
    share_a = one - share_b
    if form == LINEAR:
        total = weight_a + weight_b
        part = one / total
        share_a = weight_a * part
        share_b = weight_b * part
    elif form == LOG:
        gap = (weight_b - weight_a) + alpha * (b - a)
        ratio = np.exp(-abs(gap))
        part = one / (one + ratio)
        share_a = (ratio if gap > 0 else one) * part
        share_b = (one if gap > 0 else ratio) * part
        heavier = b if gap > 0 else a
        total = weight_b if gap > 0 else weight_a
    mean = a * share_a + b * share_b
    least = a if a < b else b
    most = b if a < b else a
    mean = least if mean < least else (most if mean > most else mean)
    if form == LOG:
        total = total + (alpha * (heavier - mean) + np.log1p(ratio))
    return mean, total, share_a


@njit(cache=True, nogil=True, error_model="numpy")
def merge_rows(form, psi_u, weight_u, psi_v, weight_v, share_v, alpha):
    """Merge the row of cluster v into the row of cluster u, in place, column by column."""
    one = psi_u.dtype.type(1.0)
    if form == EXTREME:
        for i in range(psi_u.size):
            psi_u[i] = larger(psi_u[i], psi_v[i])
    elif form == MEAN:
        for i in range(psi_u.size):
            psi_u[i], _, _ = merge_pair(MEAN, psi_u[i], one, psi_v[i], one, share_v, one, one)
    elif form == LINEAR:
        for i in range(psi_u.size):
            psi_u[i], weight_u[i], _ = merge_pair(
                LINEAR, psi_u[i], weight_u[i], psi_v[i], weight_v[i], one, one, one
            )
    else:
        for i in range(psi_u.size):
            psi_u[i], weight_u[i], _ = merge_pair(
                LOG, psi_u[i], weight_u[i], psi_v[i], weight_v[i], one, alpha, one
            )


@njit(cache=True, nogil=True, error_model="numpy")
def merge_lists(form, a, weight_a, b, weight_b, shares_b, alpha):
    """Merge list b into list a, in place; every entry has its own share (`MEAN`)."""
    one = a.dtype.type(1.0)
    if form == MEAN:
        for i in range(a.size):
            a[i], _, _ = merge_pair(MEAN, a[i], one, b[i], one, shares_b[i], one, one)
    else:
        merge_rows(form, a, weight_a, b, weight_b, one, alpha)
