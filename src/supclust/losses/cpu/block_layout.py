"""What the host kernel has to know of each block before it starts; bad values are refused here."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supclust.hac.cpu.threads import over_parts
from supclust.hac.family import infinite_above, infinity_stand_in
from supclust.losses.terms import EQUAL

Floats = NDArray[np.floating]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]

_TILE = 32
_SYMMETRY = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-8}  # of the largest magnitude

# What `_scan_blocks` finds, one row per block.
_LOW, _HIGH, _GAP, _INFINITE, _BAD, _I, _J = range(7)
# Columns of the facts: range, whether to average the triangles, what stands for +inf and from where
# on linkages mean it, and the difference up to which linkages are equal.
LOWEST, HIGHEST, AVERAGE, STAND_IN, CEILING, SLACK = range(6)


def block_facts(batch: Floats, lengths: Ints, alphas: Doubles) -> Doubles:
    """(b, 6) facts on each block of (b, n, n); NaN, -inf and asymmetry are refused.

    Complexity: O(b n^2), one pass, blocks in parallel.
    """
    found = np.zeros((len(batch), 7))
    over_parts(lambda start, stop: _scan_blocks(batch, lengths, found, start, stop), len(batch))
    facts = np.empty((len(batch), 6))
    for k, row in enumerate(found):
        _refuse_bad(batch[k], k, row)
        low, high = float(row[_LOW]), float(row[_HIGH])
        if low > high:
            low = high = 0.0  # no finite pair
        scale = max(abs(low), abs(high))
        stand_in = ceiling = math.inf
        if row[_INFINITE]:
            alpha = 0.0 if math.isinf(alphas[k]) else float(alphas[k])
            stand_in = high = infinity_stand_in(scale, int(lengths[k]), alpha)
            ceiling = infinite_above(scale)
        facts[k] = low, high, row[_GAP] > 0.0, stand_in, ceiling, EQUAL * scale
    return facts


def _refuse_bad(D: Floats, k: int, row: Doubles) -> None:
    i, j = int(row[_I]), int(row[_J])
    if row[_BAD]:
        if D[i, j] > -math.inf:
            i, j = j, i
        raise ValueError(
            f"block {k}: dissimilarities must be numbers or +inf, neither NaN nor -inf; "
            f"received {D[i, j]} at [{i}, {j}]. "
            "Replace missing pairs by a number, or by +inf for 'never alike'."
        )
    scale = max(abs(row[_LOW]), abs(row[_HIGH]))
    if row[_GAP] == math.inf or row[_GAP] > _SYMMETRY[D.dtype] * scale:
        raise ValueError(
            f"block {k}: dissimilarities must be symmetric; received {D[i, j]} at [{i}, {j}] "
            f"but {D[j, i]} at [{j}, {i}]. Symmetrise them first, e.g. (D + D.mT) / 2."
        )


@njit(cache=True, nogil=True)
def _scan_blocks(batch, lengths, found, start, stop):  # type: ignore[no-untyped-def]
    """Range, infinities, asymmetry and bad values of each block, tile by tile."""
    for k in range(start, stop):
        D = batch[k]
        n = lengths[k]
        low, high = np.inf, -np.inf
        for top in range(0, n, _TILE):
            for left in range(top, n, _TILE):
                for i in range(top, min(top + _TILE, n)):
                    for j in range(max(left, i + 1), min(left + _TILE, n)):
                        a = float(D[i, j])
                        other = float(D[j, i])
                        if a == other and abs(a) < np.inf:
                            low = min(low, a)
                            high = max(high, a)
                        elif a == other and a > 0.0:
                            found[k, _INFINITE] = 1.0
                        elif not (a > -np.inf and other > -np.inf):
                            found[k, _BAD] = 1.0
                            found[k, _I], found[k, _J] = i, j
                        else:
                            low = min(low, min(a, other))
                            high = max(high, max(a, other))
                            if abs(a - other) > found[k, _GAP] and found[k, _BAD] == 0.0:
                                found[k, _GAP] = abs(a - other)
                                found[k, _I], found[k, _J] = i, j
        found[k, _LOW], found[k, _HIGH] = low, high
