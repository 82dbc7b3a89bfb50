"""Starts of ``recipe=best``: dissimilarities in closed form, with the best alpha of the grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from threadpoolctl import threadpool_limits

from supclust.data.block import Block
from supclust.data.splits import DatasetSplit
from supclust.model.selection import ALPHAS, halvings, sampled, score_grid
from supclust.model.stacked import logit_score
from supclust.objectives.baselines import Weights, linear_weights
from supclust.objectives.closed_form import (
    LinearScore,
    Matrix,
    closed_form_maps,
    labelled_pairs,
    logistic_score,
    pair_features,
)

Fitted = Matrix | LinearScore


@dataclass(frozen=True)
class Start:
    """A dissimilarity in closed form, and alpha.

    Attributes:
        name: of a map, ``logistic``, or ``logit`` of a stacked model.
        alpha: best of the grid, for fitted dissimilarities in their unit.
    """

    name: str
    alpha: float

    def fit(self, blocks: Sequence[Block]) -> Fitted:
        """The dissimilarity of some training blocks."""
        if self.name == "logistic":
            return logistic_score(labelled_pairs(blocks))
        if self.name == "logit":
            return logit_score(blocks)
        return closed_form_maps(blocks)[self.name]


@threadpool_limits.wrap(limits=1)  # small matrices: several threads spin-wait for each other
def best_map(part: DatasetSplit, seed: int) -> Start:
    """The map and alpha with the best trees of held-out clusters."""
    scores: dict[str, NDArray[np.float64]] = {}
    for fold in halvings(part.train, part.dev, seed):
        held_out = [sampled(block, 600) for block in fold.held_out if block.n > 1]
        labels = [block.known_labels for block in held_out]
        for name, matrix in closed_form_maps(fold.fit).items():
            grid = score_grid([square_of(matrix, block) for block in held_out], labels, 1.0)
            scores[name] = scores.get(name, 0.0) + grid.total
    if not scores:  # too few clusters to hold any out: nothing is learned but alpha
        return start_with_alpha("euclidean", part)
    table = np.stack(list(scores.values()))
    row, column = np.unravel_index(int(table.argmax()), table.shape)
    return Start(list(scores)[row], ALPHAS[column])


def start_with_alpha(name: str, part: DatasetSplit) -> Start:
    """A start by name, with the alpha that is best on train and dev."""
    return Start(name, best_alpha(Start(name, 0.0).fit(part.train), part))


def best_alpha(fitted: Fitted, part: DatasetSplit) -> float:
    """The alpha of the grid that is best on train and dev."""
    blocks = [sampled(block) for block in (*part.train, *part.dev) if block.n > 1]
    squares = [square_of(fitted, block) for block in blocks]
    return score_grid(squares, [block.known_labels for block in blocks], 1.0).best_alpha


def square_of(fitted: Fitted, block: Block) -> NDArray[np.float32]:
    """(n, n) dissimilarities of a block."""
    if isinstance(fitted, LinearScore):
        weight, bias = fitted.raw()
        condensed = pair_features(block) @ weight + bias
    else:
        condensed = pdist(block.features.astype(np.float64) @ fitted.T)
    return np.asarray(squareform(condensed.astype(np.float32), checks=False))


def weights_of_start(fitted: Fitted) -> Weights:
    """Weights of a `Mahalanobis` or `LinearPair`."""
    return linear_weights(fitted) if isinstance(fitted, LinearScore) else {"weight": fitted}
