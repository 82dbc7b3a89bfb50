"""What the trees of matrices that fit the cache have in common, one by one or many in a call.

Python runs these functions as they are, and compiled code makes them part of its own.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from supclust.hac.cpu.merge_rules import settings
from supclust.hac.cpu.nn_chain import chain_in_cache
from supclust.hac.cpu.prim import prim

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]

_TOGETHER = 16  # numbers, at a multiple of which weights begin


@register_jitable(inline="always")
def _weights_begin(n: int) -> int:
    return -(-n * n // _TOGETHER) * _TOGETHER


@register_jitable(inline="always")
def numbers_needed(n: int, weighted: bool) -> int:
    """Return how many numbers a tree of n points needs room for; see `divide`."""
    return _weights_begin(n) + (n if weighted else 1) * n


@register_jitable(inline="always")
def divide(room: Floats, n: int, weighted: bool) -> tuple[Floats, Floats]:
    """Return an (n, n) matrix and one of weights, of a single row if there are none."""
    start = _weights_begin(n)
    rows = n if weighted else 1
    return room[: n * n].reshape(n, n), room[start : start + rows * n].reshape(rows, n)


@register_jitable(inline="always")
def merge_all(
    psi: Floats, weight: Floats, alpha: float, low: float, high: float, pairs: Ints,
    heights: Floats, later: int = 0, later_bytes: int = 0,
) -> None:  # fmt: skip
    """Merge the points of a matrix to the root, destroying it.

    Args:
        psi: (n, n) dissimilarities between ``low`` and ``high``, exactly symmetric, finite.
        weight: See `divide`.
        alpha: Member of the family, -inf to inf, within the matrix's float type.
        low: Smallest dissimilarity.
        high: Largest.
        pairs: (n - 1, 2) output: a point of either side of each merge.
        heights: (n - 1,) output; not sorted.
        later: See `chain_in_cache`.
        later_bytes: Likewise.
    """
    if alpha == -np.inf:
        prim(psi, pairs, heights)
    else:
        n = psi.shape[0]
        form, alpha_in, centre = settings(psi, alpha, low, high)
        chain_in_cache(
            form, psi, weight, alpha_in, centre, np.ones(n, np.int32), np.arange(n), pairs, heights,
            later, later_bytes,
        )  # fmt: skip
