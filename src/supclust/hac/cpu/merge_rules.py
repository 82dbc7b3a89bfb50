"""Row operations of the CPU kernels, compiled by Numba: merging and weighing rows.

A row holds the linkage of one cluster to every column; in the `LINEAR` and `LOG` forms a row of
weights goes with it. Every merge is written so that the value for (u, v) equals the value for (v,
u) bit for bit, and is never below the smaller of the values it merges. The kernels rely on both.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from supclust.hac.cpu.simd.argmin import larger
from supclust.hac.cpu.simd.exp import exponentials

Settings = tuple[int, np.floating, np.floating]

# How two linkages merge. Loops branch on the form outside, never per element.
MAX = 0  # alpha = inf: the larger value
MEAN = 1  # alpha = 0: weights are cluster sizes, no weight matrix
LINEAR = 2  # weights sum exp(alpha (f - centre)), where the range is proven safe
LOG = 3  # any range: weights exp(alpha Psi + H), of which H, the entropy of the softmax, is stored


@njit(cache=True, nogil=True)
def choose_form(alpha, low, high, n, sample):
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


@register_jitable(inline="always")
def settings(matrix: NDArray[np.floating], alpha: float, low: float, high: float) -> Settings:
    """Return how linkages merge, and alpha and the centre of the weights in the matrix's type."""
    kind = matrix.dtype
    form = choose_form(alpha, low, high, matrix.shape[0], matrix)
    return form, kind.type(alpha if form >= LINEAR else 0.0), kind.type((low + high) / 2)


@njit(cache=True, nogil=True, error_model="numpy")
def weigh(form, values, start, weights, begin, length, alpha, centre):
    """Write the weights of single points: exp(alpha (f - centre)), or 0, the entropy of a pair.

    The dissimilarities are those of ``values`` from ``start`` on; weights go to ``begin`` and on.
    """
    if form == LINEAR:
        exponentials(values, start, weights, begin, length, alpha, centre)
    elif form == LOG:
        for i in range(np.uint64(begin), np.uint64(begin + length)):
            weights[i] = 0.0


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
    # Two shares, for the rest of one would lose a large number of little weight; and not
    # a + (b - a) share, which would lose a small b beside a stand-in for infinity of weight 0.
    share_a = one - share_b
    if form == LINEAR:
        total = weight_a + weight_b
        part = one / total
        share_a = weight_a * part
        share_b = weight_b * part
    elif form == LOG:
        gap = (weight_b - weight_a) + alpha * (b - a)
        small = np.exp(-abs(gap))
        part = one / (one + small)
        share_a = (small if gap > 0 else one) * part
        share_b = (one if gap > 0 else small) * part
        larger = b if gap > 0 else a
        total = weight_b if gap > 0 else weight_a
    mean = a * share_a + b * share_b
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
        for i in range(psi_u.size):
            psi_u[i] = larger(psi_u[i], psi_v[i])
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


@njit(cache=True, nogil=True, error_model="numpy")
def merge_lists(form, a, weight_a, b, weight_b, shares_b, alpha):
    """Merge list b into list a, in place; every entry has its own share (`MEAN`)."""
    one = a.dtype.type(1.0)
    if form == MEAN:
        for i in range(a.size):
            a[i], _ = merge_entry(MEAN, a[i], one, b[i], one, shares_b[i], one, one)
    else:
        merge_rows(form, a, weight_a, b, weight_b, one, alpha)
