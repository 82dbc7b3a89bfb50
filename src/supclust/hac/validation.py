"""What a dissimilarity matrix must be: checked once, at the border, in one pass over tiles.

The kernels behind this border rely on exact symmetry and finite values, and get both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from supclust.hac.cpu.large.neighbour_candidates import Few, find_few, room_for_few
from supclust.hac.cpu.simd.argmin import VECTOR_BYTES, argmax, argmin
from supclust.hac.cpu.simd.transpose import is_mirrored
from supclust.hac.cpu.threads import over_parts
from supclust.hac.family import infinite_above, infinity_stand_in, overflows
from supclust.hac.memory import require_memory

Floats = NDArray[np.floating]

_TILE = 64
_PANEL = 256  # bytes of a column that are read together, in four tiles of `is_mirrored`
_UNEQUAL_PARTS = 32  # where the last rows take longest
_ALONE = 2**24  # bytes below which starting threads would take longer than checking
_SYMMETRY = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-8}  # of the largest magnitude
_LARGEST = {np.dtype(np.float32): 1e30, np.dtype(np.float64): 1e290}  # room for sums over pairs

# What `_scan` finds, one row per part.
_LOW, _HIGH, _ASYMMETRY, _INFINITE, _BAD_I, _BAD_J, _UNEQUAL_I, _UNEQUAL_J = range(8)


class CheckedMatrix(NamedTuple):
    """A matrix the kernels may trust.

    Attributes:
        values: (n, n) contiguous, exactly symmetric, finite off the diagonal.
        low: Smallest off-diagonal value.
        high: Largest off-diagonal value.
        infinite_above: Heights above this stand for +inf; inf when there was no infinity.
        before: The few nearest of the points before each, if the check has listed them.
    """

    values: Floats
    low: float
    high: float
    infinite_above: float
    before: Few | None = None

    def restore(self, heights: Floats) -> Floats:
        """Return heights with +inf where a pair "never alike" has weight."""
        return np.where(heights > self.infinite_above, np.inf, heights).astype(heights.dtype)


@njit(cache=True, nogil=True)
def _plain_range(  # type: ignore[no-untyped-def]
    matrix, found, before, listed, height, first_panel, last_panel
):
    """Gather the range of panels of rows that are finite and exactly symmetric, at vector speed.

    In passing, ``before`` gets the few nearest of the points before each, if they are ``listed``.

    Where anything is out of the ordinary, ``found[panel, 2]`` is set and `_scan` looks closer.
    """
    n = matrix.shape[0]
    side = VECTOR_BYTES // matrix.itemsize
    whole = n // side * side
    for panel in range(first_panel, last_panel):
        top = panel * height
        bottom = min(top + height, n)
        low, high, mirrored = np.inf, -np.inf, True
        for i in range(max(top, 1), bottom):
            row = matrix[i]
            least = row[argmin(row, 0, i)] if not listed else find_few(row, 0, i, i, before)[1]
            low = min(low, np.float64(least))
            high = max(high, np.float64(row[argmax(row, 0, i)]))
            for j in range(top if i < whole else 0, i):
                mirrored &= row[j] == matrix[j, i]
        for left in range(0, top, side):
            for tile in range(top, min(bottom, whole), side):
                mirrored &= is_mirrored(matrix, matrix, tile, left)
        found[panel, 0] = low
        found[panel, 1] = high
        found[panel, 2] = not (mirrored and low > -np.inf and high < np.inf)


@njit(cache=True, nogil=True)
def _scan(matrix, part, first_tile, last_tile):  # type: ignore[no-untyped-def]
    """Compare the triangles tile by tile; gather range, infinities and the first bad entry."""
    n = matrix.shape[0]
    low, high, gap, infinite = np.inf, -np.inf, 0.0, 0.0
    part[_BAD_I] = part[_UNEQUAL_I] = -1.0
    for tile in range(first_tile, last_tile):
        top = tile * _TILE
        bottom = min(top + _TILE, n)
        for left in range(top, n, _TILE):
            right = min(left + _TILE, n)
            for i in range(top, bottom):
                for j in range(max(left, i + 1), right):
                    a = matrix[i, j]
                    b = matrix[j, i]
                    if a == b and abs(a) < np.inf:
                        low = a if a < low else low
                        high = a if a > high else high
                    elif a != a or b != b or a == -np.inf or b == -np.inf:
                        part[_BAD_I], part[_BAD_J] = i, j
                        return
                    elif a == b:
                        infinite += 1
                    else:
                        low = min(low, min(a, b))
                        high = max(high, max(a, b))
                        if abs(a - b) > gap or part[_UNEQUAL_I] < 0:
                            gap = abs(a - b)
                            part[_UNEQUAL_I], part[_UNEQUAL_J] = i, j
    part[_LOW], part[_HIGH], part[_ASYMMETRY], part[_INFINITE] = low, high, gap, infinite


def check_square(
    dissimilarity: ArrayLike,
    alpha: float,
    *,
    listed: bool = False,
    meanwhile: Callable[[], None] | None = None,
) -> CheckedMatrix:
    """Check a square matrix of dissimilarities and make it safe for the kernels.

    Args:
        dissimilarity: (n, n) numbers, symmetric up to a relative 1e-5 (float32) or 1e-8 (float64)
            of the largest magnitude; the diagonal is ignored; +inf means "never alike". Not
            changed; copied only if it is not exactly symmetric, not contiguous, not
            float32/float64, or holds infinities.
        alpha: The member of the family it will be used with (it decides what stands for +inf).
        listed: Whether to list the few nearest of the points before each in passing.
        meanwhile: Something else for another thread to do.

    Returns:
        The checked matrix.

    Complexity: O(n^2), one pass.
    """
    matrix = as_floats(dissimilarity)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"dissimilarities must be a square (n, n) matrix; received shape {matrix.shape}. "
            "For vectors, compute distances first, e.g. scipy.spatial.distance.pdist(X)."
        )
    n = len(matrix)
    if n == 0:
        raise ValueError(
            "at least one point is needed; received an empty matrix. Pass at least one point."
        )
    copies = 2 if math.isfinite(alpha) and alpha else int(alpha > -math.inf)
    copies += not matrix.flags.c_contiguous
    require_memory(copies * matrix.size * matrix.itemsize, f"clustering {n:,} points")
    matrix = np.ascontiguousarray(matrix)
    found, before = _scanned(matrix, listed, meanwhile)
    _refuse_bad(matrix, found)
    checked = _made_safe(matrix, found, alpha)
    return checked._replace(before=before if checked.values is matrix else None)


def as_floats(values: ArrayLike) -> Floats:
    """Return numbers as float32 (float16 and float32) or float64 (any other real kind)."""
    if np.ma.is_masked(values):
        raise ValueError(
            "every dissimilarity must be known; received an array with masked entries. "
            "Fill them, e.g. with .filled(np.inf) for 'never alike'."
        )
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:  # ragged lists, odd tensors
        raise ValueError(
            f"dissimilarities must be an array of real numbers; received {type(values).__name__} "
            f"({error}). Pass rows of one length, or tensor.detach().float().cpu().numpy()."
        ) from None
    if array.dtype.kind not in "fiub":
        raise ValueError(
            f"dissimilarities must be real numbers; received dtype {array.dtype}. "
            "Convert them, e.g. with .astype(float)."
        )
    if array.dtype in (np.float32, np.float64):
        return array
    single = array.dtype.newbyteorder("=") in (np.float16, np.float32)
    kind = np.dtype(np.float32 if single else np.float64)
    require_memory(array.size * kind.itemsize, f"a copy of {array.dtype} numbers as {kind}")
    return array.astype(kind)


def _scanned(
    matrix: Floats, listed: bool, meanwhile: Callable[[], None] | None
) -> tuple[NDArray[np.float64], Few | None]:
    """Return what `_scan` finds, and the few nearest of the points before each (`CheckedMatrix`).

    The usual matrix, with nothing to find, takes the fast way, which lists the latter.
    """
    n = len(matrix)
    height = _PANEL // matrix.itemsize
    plain = np.empty((-(-n // height), 3))
    before = room_for_few(n if listed else 0, matrix.dtype)
    parts = 1 if meanwhile is None and matrix.nbytes < _ALONE else _UNEQUAL_PARTS
    over_parts(
        lambda a, b: _plain_range(matrix, plain, before, listed, height, a, b), len(plain), parts,
        meanwhile,
    )  # fmt: skip
    if not plain[:, 2].any():
        found = np.zeros((1, 8))
        found[0, [_LOW, _HIGH, _BAD_I, _UNEQUAL_I]] = plain[:, 0].min(), plain[:, 1].max(), -1, -1
        return found, before if listed else None
    tiles = -(-n // _TILE)
    found = np.zeros((tiles, 8))
    found[:, _LOW], found[:, _HIGH], found[:, _BAD_I], found[:, _UNEQUAL_I] = (
        np.inf,
        -np.inf,
        -1,
        -1,
    )

    def scan(start: int, stop: int) -> None:
        for tile in range(
            start, stop
        ):  # one row of tiles each: the triangle makes equal parts unequal work
            _scan(matrix, found[tile], tile, tile + 1)

    if tiles > 8:
        over_parts(scan, tiles, parts=tiles // 2)
    else:
        scan(0, tiles)
    return found, None


def _refuse_bad(matrix: Floats, found: NDArray[np.float64]) -> None:
    bad = found[found[:, _BAD_I] >= 0]
    if len(bad):
        i, j = int(bad[0, _BAD_I]), int(bad[0, _BAD_J])
        raise ValueError(
            "dissimilarities must be numbers or +inf, neither NaN nor -inf; "
            f"received {matrix[i, j]} at [{i}, {j}] and {matrix[j, i]} at [{j}, {i}]. "
            "Replace missing pairs by a number, or by +inf for 'never alike'."
        )
    scale = _max_abs(found)
    worst = found[np.argmax(found[:, _ASYMMETRY])]
    if worst[_ASYMMETRY] > _SYMMETRY[matrix.dtype] * scale:
        i, j = int(worst[_UNEQUAL_I]), int(worst[_UNEQUAL_J])
        raise ValueError(
            "dissimilarities must be symmetric; "
            f"received {matrix[i, j]} at [{i}, {j}] but {matrix[j, i]} at [{j}, {i}]. "
            "Symmetrise them first, e.g. (D + D.T) / 2."
        )


def _max_abs(found: NDArray[np.float64]) -> float:
    low, high = float(found[:, _LOW].min()), float(found[:, _HIGH].max())
    return max(abs(v) for v in (low, high) if math.isfinite(v)) if low <= high else 0.0


def _made_safe(matrix: Floats, found: NDArray[np.float64], alpha: float) -> CheckedMatrix:
    """Return a matrix without asymmetry, infinities or numbers too large to add up."""
    n = len(matrix)
    low, high = float(found[:, _LOW].min()), float(found[:, _HIGH].max())
    if low > high:
        low = high = 0.0  # one point, or nothing but infinities
    max_abs = max(abs(low), abs(high))
    infinite = bool(found[:, _INFINITE].any())
    stand_in = infinity_stand_in(max_abs, n, alpha if abs(alpha) != math.inf else 0.0)
    largest = max(max_abs, stand_in) if infinite else max_abs
    if largest > _LARGEST[matrix.dtype] or overflows(alpha, float(np.finfo(matrix.dtype).max)):
        if largest > _LARGEST[np.dtype(np.float64)]:
            needed = f"; infinite ones need {stand_in:.0e} (alpha {alpha:g}, n {n})" * infinite
            raise ValueError(
                f"dissimilarities must stay below 1e290 in magnitude{needed}; "
                f"received up to {max_abs:g}. Divide them by a constant"
                f"{', or take an alpha of 0 or further from it' * infinite}."
            )
        matrix = matrix.astype(np.float64)
    if found[:, _ASYMMETRY].any():
        matrix = (matrix + matrix.T) / 2
    if not infinite:
        return CheckedMatrix(matrix, low, high, math.inf)
    matrix = np.where(np.isinf(matrix), matrix.dtype.type(stand_in), matrix)
    return CheckedMatrix(matrix, low, stand_in, infinite_above(max_abs))
