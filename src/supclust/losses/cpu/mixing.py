"""How the linkage of a union follows from those of its two parts, one pair at a time (Numba).

A pair of clusters carries its linkage Psi and a weight. What the weight is depends on the form:

* `EXTREME` (alpha = +-inf): the code i n + j of the pair of points that Psi is the value of;
* `LINEAR`: S = sum exp(alpha (f - centre)), where the range is proven safe;
* `LOG`: log S, for any range.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from supclust.hac.cpu.simd.exp import exponential

EXTREME = 0
LINEAR = 1
LOG = 2

_SAFE_EXPONENT = 600.0  # exp(709) is the largest float64, exp(-708) the smallest normal one
_LARGEST_EXPONENT = 1e300


# These tuples hold numbers only: Numba counts references to arrays in tuples, which costs more than
# the arithmetic. Its cache knows the classes by name: after renaming one, delete `__pycache__`.
class Reading(NamedTuple):
    """How the dissimilarity of a pair is read from its block."""

    average: bool  # the triangles differ by rounding
    stand_in: float  # what stands for +inf


class Linkage(NamedTuple):
    """One member of the ExpLink family."""

    form: int
    sign: float  # EXTREME: 1 for the minimum, -1 for the maximum
    alpha: float
    centre: float
    ceiling: float  # linkages above it stand for +inf
    every: bool  # EXTREME: of several extreme pairs each has the whole gradient


class Rules(NamedTuple):
    """Which impure terms count, and for how much."""

    ranking: bool
    adjacent: bool
    high: float  # an impure term is worth high - Psi, or (ranking, where high is 0) h - Psi
    ceiling: float  # linkages above it stand for +inf


@njit(cache=True, nogil=True)
def choose_linkage(alpha, low, high, ceiling, n, every):  # type: ignore[no-untyped-def]
    """Return the linkage for ``n`` points with dissimilarities from low to high.

    Where alpha f would leave the float range alpha is pulled in, to a value at which the mean is
    already the extreme to rounding. In the `EXTREME` form alpha has no part in gradients: 0.
    """
    centre = 0.5 * low + 0.5 * high
    sign = 1.0 if alpha < 0.0 else -1.0
    if abs(alpha) == np.inf:
        return Linkage(EXTREME, sign, 0.0, centre, ceiling, every)
    reach = abs(alpha) * 0.5 * (high - low) + 2.0 * np.log(max(n, 1))
    if reach < _SAFE_EXPONENT:
        return Linkage(LINEAR, sign, float(alpha), centre, ceiling, False)
    bound = _LARGEST_EXPONENT / max(1.0, high - low)
    return Linkage(LOG, sign, min(max(alpha, -bound), bound), centre, ceiling, False)


@njit(cache=True, nogil=True)
def value_of(D, reading, i, j):  # type: ignore[no-untyped-def]
    """Dissimilarity of an unordered pair of points."""
    value = float(D[i, j])
    if reading.average:
        value = 0.5 * value + 0.5 * D[j, i]
    return value if value < np.inf else reading.stand_in


@njit(cache=True, nogil=True)
def leaf_weight(linkage, value, i, j, n):  # type: ignore[no-untyped-def]
    """Weight of a pair of points."""
    if linkage.form == EXTREME:
        return float(min(i, j) * n + max(i, j))
    exponent = linkage.alpha * (value - linkage.centre)
    return exponential(exponent) if linkage.form == LINEAR else exponent


@njit(cache=True, nogil=True, error_model="numpy")
def mix(linkage, a, weight_a, b, weight_b):  # type: ignore[no-untyped-def]
    """Return linkage and weight of the union, and the share of the first part in it.

    In the `EXTREME` form the lower code wins a tie. The linkage never leaves the interval between a
    and b, so heights of greedy merges never fall.
    """
    if linkage.form == EXTREME:
        gap = linkage.sign * (a - b)
        if gap < 0.0 or (gap == 0.0 and weight_a < weight_b):
            return a, weight_a, 1.0
        return b, weight_b, 0.0
    if linkage.form == LINEAR:
        total = weight_a + weight_b
        unit = 1.0 / total
        share_a = weight_a * unit
        share_b = weight_b * unit
    else:
        small = np.exp(-abs(weight_a - weight_b))
        less = small / (1.0 + small)
        more = 1.0 / (1.0 + small)
        share_a = more if weight_a > weight_b else less
        share_b = less if weight_a > weight_b else more
        total = max(weight_a, weight_b) + np.log1p(small)
    # Exact where a share is 1; the bounds make it exact where a = b. No branch to mispredict.
    mean = share_a * a + share_b * b
    low = a if a < b else b
    high = b if a < b else a
    mean = low if mean < low else mean
    return (high if mean > high else mean), total, share_a
