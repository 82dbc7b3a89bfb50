"""Choices by scores of trees: alpha from a grid.

A score is dendrogram purity plus half of the best pairwise F1 of a cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.data.block import Block
from supclust.hac import linkages
from supclust.metrics.purity import mean_purity, merge_pairs, purity_from_merges
from supclust.metrics.threshold import best_of_curve, curve_from_merges
from supclust.model.trained import TrainedModel

ALPHAS = (-math.inf, -60.0, -30.0, -20.0, -15.0, -11.0, -8.0, -6.0, -4.0, -2.0, 0.0, 2.0, 4.0, 8.0,
          math.inf)  # fmt: skip
"""Alphas that are tried, in units of one over the typical dissimilarity (`unit_of`)."""
MAX_POINTS = 1500
"""Points of a block that a choice reads; of a larger block, those of some of its clusters."""

Squares = Sequence[NDArray[np.floating[Any]]]
Floats = NDArray[np.float64]


class Grid(NamedTuple):
    """Scores under every alpha of `ALPHAS`."""

    purity: Floats
    """(15,) mean over blocks."""
    f1: Floats
    """(15,) of the best cut, pair counts pooled over blocks."""

    @property
    def total(self) -> Floats:
        """(15,) what choices maximise, smoothed over neighbouring alphas."""
        return smoothed(np.nan_to_num(self.purity) + self.f1 / 2)


def score_grid(squares: Squares, labels: Sequence[NDArray[np.int64]], unit: float) -> Grid:
    """Score the trees of blocks under every alpha.

    Args:
        squares: dissimilarities of every block.
        labels: true clusters of every block.
        unit: of the dissimilarities.
    """
    purity, f1 = [], []
    for alpha in ALPHAS:
        trees = linkages(squares, "exp", alpha=alpha / unit)
        merges = [merge_pairs(Z, true) for Z, true in zip(trees, labels, strict=True)]
        purity.append(mean_purity(map(purity_from_merges, merges)).mean)
        f1.append(best_of_curve(curve_from_merges(merges)).f1)
    return Grid(np.array(purity), np.array(f1))


def smoothed(values: Floats) -> Floats:
    """Weighted means 1-2-1 of neighbours; an end counts as its own neighbour.

    >>> smoothed(np.array([0.0, 4.0, 0.0]))
    array([1., 2., 1.])
    """
    padded = np.pad(values, 1, mode="edge")
    return (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4


def choose_alpha(model: TrainedModel, blocks: Sequence[Block]) -> float:
    """The alpha of the grid with the best trees of labelled blocks."""
    blocks = [sampled(block) for block in blocks if block.n > 1]
    if not blocks:
        return 0.0
    squares = [model.distances(block.features) for block in blocks]
    unit = unit_of(squares, model.kind)
    grid = score_grid(squares, [block.labels for block in blocks], unit)
    return ALPHAS[int(np.argmax(grid.total))] / unit


def unit_of(squares: Squares, kind: str) -> float:
    """Typical size of dissimilarities: their mean for points, their deviation for pairs."""
    values = np.concatenate([square[np.triu_indices(len(square), 1)] for square in squares])
    unit = values.mean(dtype=np.float64) if kind == "vectors" else values.std(dtype=np.float64)
    return float(unit) or 1.0


def sampled(block: Block, limit: int = MAX_POINTS) -> Block:
    """The points of some clusters of a large block, chosen at random, the same every time."""
    if block.n <= limit:
        return block
    sizes = np.bincount(block.labels)
    order = np.random.default_rng(block.n).permutation(len(sizes))
    chosen = order[: max(2, int(np.searchsorted(np.cumsum(sizes[order]), limit)))]
    return block.select(np.flatnonzero(np.isin(block.labels, chosen)), block.name)
