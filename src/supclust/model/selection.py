"""Choices by scores of trees: alpha from a grid, and candidates by cross-validation over clusters.

A score is dendrogram purity plus half of the best pairwise F1 of a cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.cut.counts import labelled_merge_pairs
from supclust.data.block import Block, encode_labels
from supclust.hac import linkages
from supclust.metrics.purity import mean_purity, purity_from_merges
from supclust.metrics.threshold import best_of_curve, curve_from_merges
from supclust.model.stacked import distances_as_unseen
from supclust.model.trained import TrainedModel

ALPHAS = (-math.inf, -60.0, -30.0, -20.0, -15.0, -11.0, -8.0, -6.0, -4.0, -2.0, 0.0, 2.0, 4.0, 8.0,
          math.inf)  # fmt: skip
"""Alphas that are tried, in units of one over the typical dissimilarity (`unit_of`)."""
HALVINGS = 4
CLEAR = 2.0
"""Standard errors by which a challenger has to be better than the preferred candidate."""
FOLD_STREAM = 301  # kind of random numbers drawn from the seed
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

    @property
    def best_alpha(self) -> float:
        """The alpha of `ALPHAS` with the largest total."""
        return ALPHAS[int(np.argmax(self.total))]


def score_grid(squares: Squares, labels: Sequence[NDArray[np.int64]], unit: float) -> Grid:
    """Score the trees of blocks under every alpha.

    Args:
        squares: dissimilarities of every block.
        labels: true clusters of every block, -1 for strangers.
        unit: of the dissimilarities.
    """
    scores = [_purity_and_f1(squares, labels, alpha / unit) for alpha in ALPHAS]
    return Grid(*(np.array(column) for column in zip(*scores, strict=True)))


def score_trees(squares: Squares, labels: Sequence[NDArray[np.int64]], alpha: float) -> float:
    """Purity plus half of the best F1 of blocks under one alpha."""
    purity, f1 = _purity_and_f1(squares, labels, alpha)
    return float(np.nan_to_num(purity)) + f1 / 2


def _purity_and_f1(
    squares: Squares, labels: Sequence[NDArray[np.int64]], alpha: float
) -> tuple[float, float]:
    """Mean purity of the trees of blocks, and the pooled F1 of their best cut."""
    trees = linkages(squares, "exp", alpha=alpha)
    merges = [labelled_merge_pairs(Z, true) for Z, true in zip(trees, labels, strict=True)]
    purity = mean_purity(map(purity_from_merges, merges)).mean
    return purity, best_of_curve(curve_from_merges(merges)).f1


def smoothed(values: Floats) -> Floats:
    """Weighted means 1-2-1 of neighbours; an end counts as its own neighbour.

    >>> smoothed(np.array([0.0, 4.0, 0.0]))
    array([1., 2., 1.])
    """
    padded = np.pad(values, 1, mode="edge")
    return (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4


def choose_alpha(
    model: TrainedModel, train: Sequence[Block], dev: Sequence[Block] = (), seed: int = 0
) -> float:
    """The alpha of the grid with the best trees of labelled blocks.

    Args:
        model: without linkage.
        train: the blocks that it was trained on.
        dev: others.
        seed: of folds, see `distances_as_unseen`.
    """
    train = [sampled(block) for block in train if block.n > 1]
    blocks = [*train, *(sampled(block) for block in dev if block.n > 1)]
    if not blocks:
        return 0.0
    distances = distances_as_unseen(model, train, seed)
    squares = [distances(block) for block in blocks]
    unit = unit_of(squares, model.kind)
    grid = score_grid(squares, [block.known_labels for block in blocks], unit)
    return grid.best_alpha / unit


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


class Fold(NamedTuple):
    """Labelled blocks to fit a candidate on, and others to score it on."""

    fit: tuple[Block, ...]
    held_out: tuple[Block, ...]


def halvings(train: Sequence[Block], dev: Sequence[Block], seed: int) -> list[Fold]:
    """Train | dev and `HALVINGS` random halvings of both together, each in both directions."""
    given = [Fold(tuple(train), tuple(dev)), Fold(tuple(dev), tuple(train))] if dev else []
    rng = np.random.default_rng([seed, FOLD_STREAM])
    pool = pooled(train, dev)
    return [*given, *(fold for _ in range(HALVINGS) for fold in deal(pool, 2, rng))]


def guard_folds(train: Sequence[Block], dev: Sequence[Block], seed: int) -> list[Fold]:
    """Four folds of train and dev together, or one per block where there are two to five."""
    pool = pooled(train, dev)
    few = 2 <= len(pool) <= 5
    rng = np.random.default_rng([seed, FOLD_STREAM, 1])
    return deal(pool, len(pool) if few else 4, rng, whole_blocks=len(pool) > 1)


def pooled(train: Sequence[Block], dev: Sequence[Block]) -> list[Block]:
    """All blocks; those of one block of points, divided for holding out, are put together again."""
    blocks = [*train, *dev]
    if len(train) == len(dev) == 1 and train[0].kind == "vectors":
        names = [f"{k}/{b.cluster_names[c]}" for k, b in enumerate(blocks) for c in b.labels]
        labels, cluster_names = encode_labels(names)
        ids = tuple(f"{k}/{point}" for k, block in enumerate(blocks) for point in block.ids)
        features = np.concatenate([block.features for block in blocks])
        marked = any(block.strangers is not None for block in blocks)
        marks = np.concatenate([block.known_labels < 0 for block in blocks]) if marked else None
        whole = Block("train and dev", ids, labels, "vectors", features, cluster_names)
        return [replace(whole, strangers=marks)]
    return blocks


def deal(
    blocks: Sequence[Block], k: int, rng: np.random.Generator, *, whole_blocks: bool | None = None
) -> list[Fold]:
    """Deal blocks out into k parts; each fold holds out one part.

    Args:
        blocks: labelled.
        k: number of parts.
        rng: of the order.
        whole_blocks: whether units are blocks, or clusters of each block. Default: blocks where
            there are at least two for each part.

    Returns:
        The folds whose two sides both have pairs within and across clusters.
    """
    if len(blocks) >= 2 * k if whole_blocks is None else whole_blocks:
        part_of = np.arange(len(blocks)) % k
        rng.shuffle(part_of)
        sides = [
            [tuple(b for b, part in zip(blocks, part_of, strict=True) if (part == i) == out)
             for out in (False, True)]
            for i in range(k)
        ]  # fmt: skip
    else:
        parts = [np.arange(block.n_clusters) % k for block in blocks]
        for part in parts:
            rng.shuffle(part)
        sides = [
            [tuple(_of_clusters(b, np.flatnonzero((part == i) == out))
                   for b, part in zip(blocks, parts, strict=True) if ((part == i) == out).any())
             for out in (False, True)]
            for i in range(k)
        ]  # fmt: skip
    folds = [Fold(fit, held_out) for fit, held_out in sides]
    return [fold for fold in folds if all(map(_is_informative, fold))]


def _of_clusters(block: Block, codes: NDArray[np.int64]) -> Block:
    return block.select(np.flatnonzero(np.isin(block.labels, codes)))


def _is_informative(blocks: Sequence[Block]) -> bool:
    return any(block.n_clusters > 1 for block in blocks) and any(
        block.n_clusters < block.n for block in blocks
    )


class Comparison(NamedTuple):
    """A challenger beside the candidate that is preferred unless it is clearly worse."""

    mean: float
    """Of the differences of their scores over folds, challenger minus preferred."""
    error: float
    """Standard error of the mean; infinite for fewer than two folds."""
    folds: int

    @property
    def is_clear(self) -> bool:
        """Whether the challenger is better by more than `CLEAR` standard errors."""
        return self.mean > max(CLEAR * self.error, 1e-9)


def compare(challenger: Sequence[float], preferred: Sequence[float]) -> Comparison:
    """Compare the scores of two candidates on the same folds.

    >>> compare([0.9, 0.8, 0.9], [0.5, 0.5, 0.4]).is_clear
    True
    """
    differences = np.subtract(challenger, preferred)
    n = len(differences)
    error = float(differences.std(ddof=1)) / n**0.5 if n > 1 else math.inf
    return Comparison(float(differences.mean()) if n else 0.0, error, n)
