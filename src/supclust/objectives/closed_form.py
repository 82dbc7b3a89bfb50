"""Dissimilarities that are computed from labelled blocks without gradient steps.

Points: linear maps from the within-cluster covariance. Pairs: logistic regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.data.block import Block

Matrix = NDArray[np.float64]

POWERS = {"euclidean": 0.0, "half whitening": 0.5, "whitening": 1.0}
"""Closed-form maps W^(-p/2) of the within-cluster covariance W, by name."""
_SAMPLE = 1000  # points of a block in the mean of its distances
_PAIRS = 1_000_000  # pairs that a regression reads; of more, a sample


class Scatter(NamedTuple):
    """Statistics that closed-form maps are computed from."""

    within: Matrix
    """(d, d) covariance of the points around the mean of their cluster."""
    means: Matrix
    """(k, d) means of the clusters, minus the mean of those of their block."""


def scatter_of(blocks: Sequence[Block]) -> Scatter:
    """Within-cluster covariance, shrunk by OAS, and centred cluster means."""
    residuals, means = [], []
    for block in blocks:
        points = block.features.astype(np.float64)
        sizes = np.bincount(block.labels)
        sums = np.zeros((len(sizes), block.d))
        np.add.at(sums, block.labels, points)
        centres = sums / sizes[:, None]
        # Singletons carry no information about the spread within clusters.
        residuals.append((points - centres[block.labels])[sizes[block.labels] > 1])
        if block.strangers is not None:  # they are not clusters
            centres = centres[np.unique(block.labels[~block.strangers])]
        if len(centres):
            means.append(centres - centres.mean(axis=0))
    return Scatter(_covariance(np.concatenate(residuals)), np.concatenate(means))


def whitening(scatter: Scatter, power: float = 1.0) -> Matrix:
    """W^(-p/2), symmetric; p = 1 is relevant component analysis (RCA), p = 0 the identity."""
    if power == 0:
        return np.eye(len(scatter.within))
    values, vectors = np.linalg.eigh(scatter.within)
    floor = max(float(values[-1]), np.finfo(float).tiny) * 1e-12
    scales = np.maximum(values, floor) ** (-power / 2)
    return np.asarray((vectors * scales) @ vectors.T)


def kiss_map(scatter: Scatter) -> Matrix:
    """The map of KISS metric learning: whitening, then directions weighted by their signal.

    diag(sqrt(l / (1 + l))) V' W^(-1/2), with V diag(l) V' the covariance of the whitened means.
    """
    white = whitening(scatter)
    k = len(scatter.means)
    between = _covariance(scatter.means @ white) * (k / max(k - 1, 1))
    values, vectors = np.linalg.eigh(between)
    values = np.maximum(values, 0.0)
    return np.asarray(np.sqrt(values / (1 + values))[:, None] * vectors.T @ white)


def closed_form_maps(blocks: Sequence[Block]) -> dict[str, Matrix]:
    """The candidate maps by name, each with mean distance 1 on the blocks."""
    scatter = scatter_of(blocks)
    maps = {name: whitening(scatter, power) for name, power in POWERS.items()}
    maps["KISS"] = kiss_map(scatter)
    return {name: scaled_map(matrix, blocks) for name, matrix in maps.items()}


def scaled_map(matrix: Matrix, blocks: Sequence[Block]) -> Matrix:
    """A map divided by the mean distance of two points of a block."""
    from scipy.spatial.distance import pdist

    total = count = 0.0
    for block in blocks:
        step = -(-block.n // _SAMPLE)
        distances = pdist(block.features[::step].astype(np.float64) @ matrix.T)
        total, count = total + float(distances.sum()), count + len(distances)
    return matrix / ((total / count if count else 0.0) or 1.0)


def _covariance(rows: Matrix) -> Matrix:
    """OAS covariance of centred rows; the identity where they are all zero."""
    from sklearn.covariance import oas

    if not rows.any():
        return np.eye(rows.shape[1])
    covariance, _ = oas(rows, assume_centered=True)
    return np.atleast_2d(np.asarray(covariance, np.float64))


class LinearScore(NamedTuple):
    """w . (x - mean) / deviation + b, a score of a pair that is higher for other clusters."""

    weight: Matrix
    bias: float
    mean: Matrix
    deviation: Matrix

    def raw(self) -> tuple[Matrix, float]:
        """Weights and bias for features as they are."""
        weight = self.weight / self.deviation
        return weight, self.bias - float(weight @ self.mean)


class LabelledPairs(NamedTuple):
    """Pairs of points of all blocks."""

    features: NDArray[np.floating]
    """(e, d)."""
    across: NDArray[np.bool_]
    """(e,) whether the two belong to different clusters."""
    weight: Matrix
    """(e,) such that every block weighs the same, 1 on average."""


def pair_features(block: Block) -> NDArray[np.floating]:
    """(e, d) features of the pairs of a block in condensed order; |x - x'| for points."""
    if block.kind == "pairs":
        return block.features
    i, j = np.triu_indices(block.n, 1)
    return np.abs(block.features[i] - block.features[j])


def labelled_pairs(blocks: Sequence[Block], limit: int = _PAIRS) -> LabelledPairs:
    """Every pair of every block, or a sample that stands for them.

    Pairs within clusters are few and the most informative, so they are kept as far as they fill
    half of the limit; of the others every k-th is kept and stands for k.

    Args:
        blocks: with labels.
        limit: number of pairs from which a sample is taken.
    """
    several = [block for block in blocks if block.n > 1]
    sides = [_known_pairs(block) for block in several]
    within, across = (sum(len(side[k]) for side in sides) for k in (0, 1))
    steps = (1, 1)
    if within + across > limit:
        step = -(-within // (limit // 2)) or 1
        steps = (step, -(-across // (limit - within // step)))
    features, apart, weights = [], [], []
    for block, side in zip(several, sides, strict=True):
        kept = [pairs[::step] for pairs, step in zip(side, steps, strict=True)]
        order = np.argsort(np.concatenate(kept), kind="stable")
        features.append(pair_features(block)[np.concatenate(kept)[order]])
        apart.append(np.repeat([False, True], list(map(len, kept)))[order])
        total = len(side[0]) + len(side[1])
        each = [len(a) / (max(len(b), 1) * total) for a, b in zip(side, kept, strict=True)]
        weights.append(np.repeat(each, list(map(len, kept)))[order])
    weight = np.concatenate(weights)
    scale = len(weight) / (weight.sum() or 1.0)
    return LabelledPairs(np.concatenate(features), np.concatenate(apart), weight * scale)


def _known_pairs(block: Block) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs, in condensed order, within clusters and across; not those of two strangers."""
    i, j = np.triu_indices(block.n, 1)
    across = block.labels[i] != block.labels[j]
    known = (
        across if block.strangers is None else across & ~(block.strangers[i] & block.strangers[j])
    )
    return np.flatnonzero(~across), np.flatnonzero(known)


def logistic_score(pairs: LabelledPairs, l2: float = 1.0) -> LinearScore:
    """Logistic regression of "different clusters" on standardised features.

    Args:
        pairs: of the training blocks.
        l2: factor of |w|^2 / 2 beside the sum over pairs.

    Returns:
        Log odds as a score with standard deviation 1; 0 is still even odds.
    """
    from sklearn.linear_model import LogisticRegression

    mean, deviation = moments(pairs)
    if pairs.across.all() or not pairs.across.any():
        raise ValueError(
            "pairs within clusters and pairs across clusters are needed to tell them apart; "
            "received only one kind. Label more rows."
        )
    standard = (pairs.features - mean) / deviation
    model = LogisticRegression(C=1 / l2, max_iter=1000)
    model.fit(standard, pairs.across, sample_weight=pairs.weight)
    weight, bias = model.coef_[0].astype(np.float64), float(model.intercept_[0])
    return unit_score(LinearScore(weight, bias, mean, deviation), pairs)


def unit_score(score: LinearScore, pairs: LabelledPairs) -> LinearScore:
    """A score divided by its standard deviation over the pairs."""
    values = ((pairs.features - score.mean) / score.deviation) @ score.weight
    centre = float(np.average(values, weights=pairs.weight))
    spread = float(np.average((values - centre) ** 2, weights=pairs.weight)) ** 0.5 or 1.0
    return score._replace(weight=score.weight / spread, bias=score.bias / spread)


def moments(pairs: LabelledPairs) -> tuple[Matrix, Matrix]:
    """Mean and standard deviation of every feature, 1 for a constant one."""
    mean = np.average(pairs.features, axis=0, weights=pairs.weight).astype(np.float64)
    squares = np.average((pairs.features - mean) ** 2, axis=0, weights=pairs.weight)
    deviation = np.sqrt(squares)
    return mean, np.where(deviation > 1e-12 * np.maximum(1.0, np.abs(mean)), deviation, 1.0)
