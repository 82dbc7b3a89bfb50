"""Scan a matrix pair by pair: its range, its asymmetry and its bad pairs, for the error messages.

`fill` has a faster check, which only tells whether there is anything to look for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supclust.hac.cpu.threads import over_parts
from supclust.kernels import kernel

Floats = NDArray[np.floating]

SYMMETRY = {4: 1e-5, 8: 1e-8}  # tolerance relative to the largest magnitude, by bytes of a number
_TILE = 64

# Columns of the result of `scan_rows`: range of finite values; largest difference between the
# triangles; number of infinite pairs; 1 for NaN or -inf; the first bad, else the most uneven pair.
LOW, HIGH, GAP, INFINITE, BAD, ROW, COLUMN = range(7)


@kernel
def scan_rows(matrix, n, result, start, stop):
    """Compare rows ``start`` to ``stop``, right of the diagonal, with their columns.

    Args:
        matrix: (>= n, >= n).
        n: Rows and columns that count.
        result: (7,) float64 output, see `LOW` and following.
        start: First row.
        stop: One past the last.
    """
    low, high, gap = np.inf, -np.inf, 0.0
    result[:] = 0.0
    for top in range(start, stop, _TILE):
        for left in range(top, n, _TILE):
            for i in range(top, min(top + _TILE, stop)):
                for j in range(max(left, i + 1), min(left + _TILE, n)):
                    a, b = np.float64(matrix[i, j]), np.float64(matrix[j, i])
                    if a == b and abs(a) < np.inf:
                        low, high = min(low, a), max(high, a)
                    elif a == b and a > 0.0:
                        result[INFINITE] += 1.0
                    elif not (a > -np.inf and b > -np.inf):
                        if result[BAD] == 0.0:
                            result[BAD], result[ROW], result[COLUMN] = 1.0, i, j
                    else:
                        for value in (a, b):
                            if value < np.inf:
                                low, high = min(low, value), max(high, value)
                        if abs(a - b) > gap:
                            gap = abs(a - b)
                            if result[BAD] == 0.0:
                                result[ROW], result[COLUMN] = i, j
    result[LOW], result[HIGH], result[GAP] = low, high, gap


def scan(matrix: Floats) -> NDArray[np.float64]:
    """Return the result of `scan_rows` for a whole matrix, in parallel."""
    n = len(matrix)
    parts = np.zeros((-(-n // _TILE), 7))

    def scan_part(first: int, last: int) -> None:
        for part in range(first, last):
            scan_rows(matrix, n, parts[part], part * _TILE, min((part + 1) * _TILE, n))

    over_parts(scan_part, len(parts), parts=max(1, len(parts) // 4))
    bad = parts[:, BAD] > 0
    chosen = np.argmax(bad) if bad.any() else np.argmax(parts[:, GAP])
    result = np.array(parts[chosen])
    result[LOW], result[HIGH] = parts[:, LOW].min(), parts[:, HIGH].max()
    result[INFINITE] = parts[:, INFINITE].sum()
    return result


def refuse_bad(matrix: Floats, result: NDArray[np.float64], block: int | None = None) -> None:
    """Raise ValueError for NaN, -inf and asymmetry that a scan of the matrix has found.

    Args:
        matrix: float32 or float64.
        result: (7,) of `scan_rows`.
        block: Number of the block, for the message.
    """
    where = "" if block is None else f"block {block}: "
    i, j = int(result[ROW]), int(result[COLUMN])
    if result[BAD]:
        raise ValueError(
            f"{where}dissimilarities must be numbers or +inf, neither NaN nor -inf; "
            f"received {matrix[i, j]} at [{i}, {j}] and {matrix[j, i]} at [{j}, {i}]. "
            "Replace missing pairs by a number, or by +inf for 'never alike'."
        )
    if result[GAP] > SYMMETRY[matrix.itemsize] * max_magnitude(result):
        raise ValueError(
            f"{where}dissimilarities must be symmetric; "
            f"received {matrix[i, j]} at [{i}, {j}] but {matrix[j, i]} at [{j}, {i}]. "
            "Symmetrise them first, e.g. (D + D.T) / 2."
        )


def max_magnitude(result: NDArray[np.float64]) -> float:
    """Return the largest finite magnitude that a scan has found; 0 without any."""
    low, high = float(result[LOW]), float(result[HIGH])
    return max(abs(low), abs(high)) if low <= high else 0.0
