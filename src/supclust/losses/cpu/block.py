"""One block before its merges: its values checked, how they are read, and its linkage (Numba).

NaN, -inf and asymmetry are refused here, in the pass that gathers what the kernels need.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.hac.cpu.merge_rules import choose_representation, merge_pair, point_weight
from supclust.hac.cpu.scan import GAP, HIGH, INFINITE, LOW, refuse_bad, scan_rows
from supclust.hac.cpu.threads import over_parts
from supclust.hac.family import EXTREME, LINEAR, LOG, MEAN, infinite_above, infinity_stand_in
from supclust.kernels import kernel
from supclust.losses.hinge import EQUAL

Floats = NDArray[np.floating]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST_EXPONENT = 1e300

# Columns of the facts: range, whether to average the triangles, the finite number that replaces
# +inf, the linkage above which +inf has weight, and the difference up to which linkages are equal.
LOWEST, HIGHEST, AVERAGE, STAND_IN, CEILING, SLACK = range(6)


# These tuples hold numbers only: Numba counts references to arrays in tuples, which costs more than
# the arithmetic.
class Reading(NamedTuple):
    """How the dissimilarity of a pair is read from its block."""

    average: bool  # the triangles differ by rounding
    stand_in: float  # replaces +inf


class Linkage(NamedTuple):
    """One member of the ExpLink family; see `supclust.hac.family` for the weights."""

    form: int  # weight representation: EXTREME, LINEAR or LOG
    alpha: float
    centre: float
    ceiling: float  # linkages above it stand for +inf
    every: bool  # EXTREME: of several extreme pairs each has the whole gradient


def block_facts(batch: Floats, lengths: Ints, alphas: Doubles) -> Doubles:
    """(b, 6) facts on each block of (b, n, n); NaN, -inf and asymmetry are refused.

    Complexity: O(b n^2), one pass, blocks in parallel.
    """
    scans = np.zeros((len(batch), 7))
    over_parts(lambda start, stop: _scan_blocks(batch, lengths, scans, start, stop), len(batch))
    facts = np.empty((len(batch), 6))
    for k, row in enumerate(scans):
        refuse_bad(batch[k], row, k)
        low, high = float(row[LOW]), float(row[HIGH])
        if low > high:
            low = high = 0.0  # no finite pair
        scale = max(abs(low), abs(high))
        stand_in = ceiling = math.inf
        if row[INFINITE]:
            alpha = 0.0 if math.isinf(alphas[k]) else float(alphas[k])
            stand_in = high = infinity_stand_in(scale, int(lengths[k]), alpha)
            ceiling = infinite_above(scale)
        facts[k] = low, high, row[GAP] > 0.0, stand_in, ceiling, EQUAL * scale
    return facts


@kernel
def _scan_blocks(batch, lengths, scans, start, stop):
    """Range, infinities, asymmetry and bad values of each block."""
    for k in range(start, stop):
        scan_rows(batch[k], lengths[k], scans[k], 0, lengths[k])


@kernel
def choose_linkage(alpha, low, high, ceiling, n, every):
    """Return the linkage for ``n`` points with dissimilarities from low to high.

    Alpha = 0 has weights, too, equal ones. Where alpha f would leave the float range, alpha is
    limited to a value at which the mean is already the extreme to rounding.
    """
    centre = 0.5 * low + 0.5 * high
    form = choose_representation(alpha, low, high, n, np.empty(0))
    if form == LOG:
        bound = _LARGEST_EXPONENT / max(1.0, high - low)
        alpha = min(max(alpha, -bound), bound)
    form = LINEAR if form == MEAN else form
    return Linkage(form, float(alpha), centre, ceiling, every and form == EXTREME)


@kernel
def value_of(D, reading, i, j):
    """Dissimilarity of an unordered pair of points."""
    value = float(D[i, j])
    if reading.average:
        value = 0.5 * value + 0.5 * D[j, i]
    return value if value < np.inf else reading.stand_in


@kernel
def leaf_weight(linkage, value, i, j, n):
    """Weight of a pair of points, or its code i n + j (`EXTREME`)."""
    if linkage.form == EXTREME:
        return float(min(i, j) * n + max(i, j))
    return point_weight(linkage.form, value, linkage.alpha, linkage.centre)


@kernel(error_model="numpy")
def merge(linkage, a, weight_a, b, weight_b):
    """Linkage and weight of a union, and the share of its first part in it (`merge_pair`)."""
    return merge_pair(linkage.form, a, weight_a, b, weight_b, 0.0, linkage.alpha, 1.0)


@kernel
def place_of(live, count, position):
    """Number of the first ``count`` ascending positions that come before ``position``."""
    low = 0
    while low < count:
        middle = (low + count) // 2
        if live[middle] < position:
            low = middle + 1
        else:
            count = middle
    return low
