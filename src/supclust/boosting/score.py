"""Compiled kernels: the raw score of a row, with LightGBM's comparisons in LightGBM's order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supclust.boosting.model_text import Trees
from supclust.kernels import kernel

_ZERO = float(np.float32(1e-35))  # LightGBM counts values up to this size as zero


@kernel
def goes_left(row: NDArray[np.floating], trees: Trees, node: int) -> bool:
    """Whether a row goes to the left child of an inner node."""
    x = float(row[trees.feature[node]])
    missing = trees.missing[node]
    if abs(x) <= _ZERO or (x != x and missing != 2):
        x = 0.0
    if (missing == 2 and x != x) or (missing == 1 and x == 0.0):
        return bool(trees.missing_left[node])
    return bool(x <= trees.threshold[node])


@kernel
def score_row(row: NDArray[np.floating], trees: Trees) -> float:
    """Raw score of one row: the sum of the leaves that it falls into."""
    total = 0.0
    for root in trees.root:
        node = root
        while node >= 0:
            node = trees.left[node] if goes_left(row, trees, node) else trees.right[node]
        total += trees.value[~node]
    return total


@kernel
def score_rows(rows: NDArray[np.floating], trees: Trees, scores: NDArray[np.float64]) -> None:
    """Write the raw scores of the rows."""
    for i in range(rows.shape[0]):
        scores[i] = score_row(rows[i], trees)
