"""`stacked`: boosted trees score every pair; features and that score together are linear.

f = w . x + v (-logit(x)) + b with logit the log odds of "same cluster" by LightGBM. Boosted trees
fit their own training pairs too well, so the linear stage is trained on logits of trees that have
not seen the block (out of fold by block). Nothing here imports torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from supclust.boosting import Booster
from supclust.data.block import Block, Kind
from supclust.hac.cpu.fill import points_of
from supclust.objectives.baselines import Weights, boosted_pairs
from supclust.objectives.closed_form import (
    LinearScore,
    labelled_pairs,
    moments,
    pair_features,
    unit_score,
)

if TYPE_CHECKING:
    from supclust.model.trained import TrainedModel

Logits = list[NDArray[np.floating]]
BOOSTER = "booster"
"""Name of the weights that are LightGBM's text, as bytes."""
FOLDS = 5
OOF_STREAM = 401  # kind of random numbers drawn from the seed
_KEPT = 50  # results of `out_of_fold`: the splits of one job
_LAST: dict[tuple[Any, ...], Logits] = {}


def out_of_fold(blocks: Sequence[Block], seed: int) -> Logits:
    """Log odds of the pairs of every block by trees trained on other blocks.

    One block alone is scored by its own trees: there are no others. The last results are kept,
    because a model's cut is chosen with the log odds that its linear stage was trained on.
    """
    key = (
        seed,
        *(
            (b.name, *(crc32(np.ascontiguousarray(a).data) for a in (b.labels, b.features)))
            for b in blocks
        ),
    )
    if key not in _LAST:
        if len(_LAST) >= _KEPT:
            _LAST.pop(next(iter(_LAST)))
        _LAST[key] = _out_of_fold(blocks, seed)
    return _LAST[key]


def _out_of_fold(blocks: Sequence[Block], seed: int) -> Logits:
    k = min(FOLDS, len(blocks))
    fold = np.arange(len(blocks)) % max(k, 1)
    np.random.default_rng([seed, OOF_STREAM]).shuffle(fold)
    scores: dict[int, NDArray[np.floating]] = {}
    for i in range(k):
        seen = [block for block, part in zip(blocks, fold, strict=True) if part != i or k == 1]
        booster = boosted_pairs(seen, seed)
        for place in np.flatnonzero(fold == i).tolist():
            block = blocks[place]
            logits = booster.predict_raw(pair_features(block))
            scores[place] = logits.astype(block.features.dtype)
    return [scores[place] for place in range(len(blocks))]


def distances_as_unseen(
    model: TrainedModel, train: Sequence[Block], seed: int
) -> Callable[[Block], NDArray[np.floating]]:
    """A function that gives the dissimilarities of a block as if it had not been trained on.

    Boosted trees are too sure of their own training pairs: alpha and a cut that are chosen on such
    trees do not suit new blocks. For other models it is `TrainedModel.distances`.

    Args:
        model: of any dissimilarity.
        train: the blocks that it was trained on; with fewer than two nothing can be held out.
        seed: of the folds.
    """
    from scipy.spatial.distance import squareform

    stacked = model.spec["name"] == "stacked" and len(train) > 1
    unseen = dict(zip(map(id, train), out_of_fold(train, seed), strict=True)) if stacked else {}

    def distances(block: Block) -> NDArray[np.floating]:
        logits = unseen.get(id(block))
        if logits is None or block.n < 2:
            return model.distances(block.features)
        scores = stacked_scores(model.weights, pair_features(block), logits)
        return np.asarray(squareform(scores, checks=False))

    return distances


def with_logit(block: Block, logits: NDArray[np.floating]) -> Block:
    """The block with the log odds as one more feature of every pair."""
    features = np.column_stack([pair_features(block), logits])
    return replace(block, kind="pairs", features=features.astype(block.features.dtype))


def logit_score(blocks: Sequence[Block]) -> LinearScore:
    """The start of the linear stage: the last feature alone, with standard deviation 1."""
    pairs = labelled_pairs(blocks)
    mean, deviation = moments(pairs)
    weight = np.zeros(pairs.features.shape[1])
    weight[-1] = deviation[-1]
    return unit_score(LinearScore(weight, float(mean[-1]), mean, deviation), pairs)


def stacked_weights(linear: Mapping[str, NDArray[Any]], booster: Booster) -> Weights:
    """Weights of a stacked model: those of the linear stage, the logit's last, and the trees."""
    return {
        "average_weight": linear["average_weight"],
        "average_bias": linear["average_bias"],
        BOOSTER: np.frombuffer(booster.text.encode(), np.uint8),
    }


def stacked_scores(
    weights: Mapping[str, NDArray[Any]],
    features: NDArray[np.floating],
    logits: NDArray[np.floating] | None = None,
) -> NDArray[np.floating]:
    """(e,) dissimilarities of pairs from their (e, d) features.

    Args:
        weights: of a stacked model.
        features: of the pairs.
        logits: (e,) their log odds. Default: by the trees of the model.
    """
    weight = np.asarray(weights["average_weight"])
    logits = booster_of(weights).predict_raw(features) if logits is None else logits
    linear = features.astype(np.float64) @ weight[:-1].astype(np.float64)
    scores = linear + float(weight[-1]) * logits + float(weights["average_bias"])
    return scores.astype(weight.dtype)


def stacked_distances(
    weights: Mapping[str, NDArray[Any]], features: NDArray[np.floating], kind: Kind
) -> NDArray[np.floating]:
    """(n, n) dissimilarities of one block, from (n, d) points or (e, d) condensed pair features."""
    from scipy.spatial.distance import squareform

    if kind == "vectors":
        i, j = np.triu_indices(len(features), 1)
        n, features = len(features), np.abs(features[i] - features[j])
    else:
        n = points_of(len(features))
    if n < 2:
        return np.zeros((n, n), weights["average_weight"].dtype)
    return np.asarray(squareform(stacked_scores(weights, features), checks=False))


def booster_of(weights: Mapping[str, NDArray[Any]]) -> Booster:
    """The boosted trees of a stacked model."""
    return _read(np.asarray(weights[BOOSTER], np.uint8).tobytes())


@lru_cache(maxsize=8)
def _read(text: bytes) -> Booster:
    return Booster.from_text(text.decode())
