"""The ExpLink merge rule as compiled code: one pair of clusters, or rows (see `hac.family`).

A row holds the linkage of one cluster to every column; with weights (`LINEAR`, `LOG`) a row of
weights goes with it. The value for (u, v) equals the value for (v, u) bit for bit, and is never
below the smaller of the values it merges. The kernels rely on both.
"""

from __future__ import annotations

import math

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from supclust.hac.cpu.simd.exp import exponential
from supclust.hac.family import EXTREME, LINEAR, LOG, MEAN
from supclust.kernels import kernel

Settings = tuple[int, np.floating, np.floating]


_LOG_LARGEST_SINGLE = math.log(np.finfo(np.float32).max)
_LOG_LARGEST_DOUBLE = math.log(np.finfo(np.float64).max)


@register_jitable
def choose_representation(
    alpha: float, low: float, high: float, n: int, sample: NDArray[np.floating]
) -> int:
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
    largest = _LOG_LARGEST_SINGLE if sample.itemsize == 4 else _LOG_LARGEST_DOUBLE
    margin = 0.75 * largest - 2 * math.log(n + 1)
    return LINEAR if exponent < margin else LOG


@register_jitable(inline="always")
def settings(matrix: NDArray[np.floating], alpha: float, low: float, high: float) -> Settings:
    """Return the weight representation, and alpha and the weights' centre in the matrix's type."""
    kind = matrix.dtype
    rule = choose_representation(alpha, low, high, matrix.shape[0], matrix)
    return rule, kind.type(alpha if rule >= LINEAR else 0.0), kind.type((low + high) / 2)


@kernel
def point_weight(rule, value, alpha, centre):
    """Weight of a single pair of points at dissimilarity ``value`` (`LINEAR`, `LOG`)."""
    return exponential(alpha * (value - centre)) if rule == LINEAR else 0.0 * value


@kernel
def clamped_mean(a, share_a, b, share_b):
    """Mean of a and b by their shares, kept between them.

    It takes two shares, because 1 - share loses a large value of small weight; and it is not
    a + (b - a) share, which loses a small b beside a stand-in for infinity of weight 0.
    """
    mean = a * share_a + b * share_b
    least = a if a < b else b
    most = b if a < b else a
    return least if mean < least else (most if mean > most else mean)


@kernel
def merge_linear(a, weight_a, b, weight_b, one):
    """Merge rule with `LINEAR` weights; returns (linkage, weight)."""
    total = weight_a + weight_b
    part = one / total
    return clamped_mean(a, weight_a * part, b, weight_b * part), total


@kernel
def merge_pair(rule, a, weight_a, b, weight_b, share_b, alpha, one):
    """Merge the linkages a and b of two clusters to a third one: the rule of `hac.family`.

    With `LOG`, log S = alpha Psi + H with H between 0 and the log of the number of pairs. Alpha
    multiplies only differences of linkages, so nothing is lost however large alpha Psi is.

    Args:
        rule: Weight representation.
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
    if rule == EXTREME:
        first = (a < b) if alpha < 0 else (a > b)
        if first or (a == b and weight_a < weight_b):
            return a, weight_a, one
        return b, weight_b, one - one
    if rule == MEAN:
        return clamped_mean(a, one - share_b, b, share_b), weight_a, one - share_b
    if rule == LINEAR:
        total = weight_a + weight_b
        part = one / total
        mean = clamped_mean(a, weight_a * part, b, weight_b * part)
        return mean, total, weight_a * part
    gap = (weight_b - weight_a) + alpha * (b - a)
    ratio = np.exp(-abs(gap))
    part = one / (one + ratio)
    share_a = (ratio if gap > 0 else one) * part
    share_b = (one if gap > 0 else ratio) * part
    mean = clamped_mean(a, share_a, b, share_b)
    heavier = b if gap > 0 else a
    entropy = weight_b if gap > 0 else weight_a
    return mean, entropy + (alpha * (heavier - mean) + np.log1p(ratio)), share_a


# Rows stand in flat arrays at offsets: Numba's slices cost more than the merge of a short row. Each
# function is compiled by itself: inlined into a large kernel, LLVM does not vectorise its loops.


@kernel
def merge_rows(
    rule, psi, into, other_psi, other, weight, ours, other_weight, theirs, width, share_b, alpha
):  # fmt: skip
    """Merge the row at ``other`` into the row at ``into``, in place, column by column.

    Args:
        rule: Weight representation.
        psi: Linkages; the row at ``into`` is updated.
        into: Offset of the first row.
        other_psi: Linkages of the second row, ``psi`` itself or another array.
        other: Offset of the second row.
        weight: Weights (`LINEAR`, `LOG`); the row at ``ours`` is updated.
        ours: Offset of the first row's weights.
        other_weight: Weights of the second row.
        theirs: Offset of the second row's weights.
        width: Columns.
        share_b: As in `merge_pair`.
        alpha: As in `merge_pair`.
    """
    one = psi.dtype.type(1.0)
    if rule == EXTREME:
        for i in range(width):
            a, b = psi[into + i], other_psi[other + i]
            psi[into + i] = a if a > b else b
    elif rule == MEAN:
        for i in range(width):
            psi[into + i] = clamped_mean(
                psi[into + i], one - share_b, other_psi[other + i], share_b
            )
    elif rule == LINEAR:
        for i in range(width):
            psi[into + i], weight[ours + i] = merge_linear(
                psi[into + i], weight[ours + i], other_psi[other + i], other_weight[theirs + i], one
            )
    else:
        for i in range(width):
            psi[into + i], weight[ours + i], _ = merge_pair(
                LOG, psi[into + i], weight[ours + i], other_psi[other + i],
                other_weight[theirs + i], one, alpha, one,
            )  # fmt: skip


@kernel
def merge_with_point(
    psi, into, other, point_first, weight, ours, known, width, size, alpha, centre
):  # fmt: skip
    """As `merge_rows` (`LINEAR`) where one of the two clusters is a single point.

    Args:
        psi: As in `merge_rows`.
        into: As in `merge_rows`.
        other: As in `merge_rows`.
        point_first: Whether the point is the row at ``into``.
        weight: Weights of the cluster at ``ours``, which become those of the union.
        ours: See ``weight``.
        known: Weights of the point to columns of ``size`` above 1; to others they are computed.
        width: Columns.
        size: (width,) int32 points of each cluster.
        alpha: Of the weights.
        centre: Of the weights.
    """
    one = psi.dtype.type(1.0)
    if point_first:
        for i in range(width):
            a, b = psi[into + i], psi[other + i]
            own = exponential((a - centre) * alpha)
            own = known[i] if size[i] > 1 else own
            psi[into + i], weight[ours + i] = merge_linear(a, own, b, weight[ours + i], one)
    else:
        for i in range(width):
            a, b = psi[into + i], psi[other + i]
            own = exponential((b - centre) * alpha)
            own = known[i] if size[i] > 1 else own
            psi[into + i], weight[ours + i] = merge_linear(a, weight[ours + i], b, own, one)


@kernel
def merge_points(psi, into, other, weight, ours, known, width, size, alpha, centre):
    """As `merge_with_point` for two points; weights of the second follow at ``known[width:]``."""
    one = psi.dtype.type(1.0)
    for i in range(width):
        a, b = psi[into + i], psi[other + i]
        first, second = exponential((a - centre) * alpha), exponential((b - centre) * alpha)
        first = known[i] if size[i] > 1 else first
        second = known[width + i] if size[i] > 1 else second
        psi[into + i], weight[ours + i] = merge_linear(a, first, b, second, one)
