"""`dissimilarity="auto"`: the dissimilarity with the best trees of held-out clusters.

Candidates are compared as they start: closed-form maps (`mahalanobis`), logistic regression
(`linear`), boosted trees (`stacked`); a small network (`encoder`) is trained. The first candidate
of a kind of data is kept unless another is clearly better. Folds are small, so that the comparison
takes seconds whatever the size of the data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform
from threadpoolctl import threadpool_limits

from supclust.data.block import Block, Kind
from supclust.data.splits import DatasetSplit
from supclust.model.best.guard import smaller
from supclust.model.best.starts import Start, best_map, square_of
from supclust.model.options import FitOptions
from supclust.model.selection import Fold, Squares, compare, guard_folds, score_grid, unit_of
from supclust.model.trained import TrainedModel
from supclust.objectives.baselines import boosted_pairs
from supclust.objectives.closed_form import pair_features

CANDIDATES: dict[Kind, tuple[str, ...]] = {
    "vectors": ("mahalanobis", "linear", "encoder", "stacked"),
    "pairs": ("linear", "stacked"),
}
FEWEST_CLUSTERS = 12
"""Below, nothing is compared: too few clusters are held out to tell candidates apart."""
ENTRIES: dict[Kind, int] = {"vectors": 40_000, "pairs": 200_000}
"""Of the matrices of either side of a fold."""
POINTS: dict[Kind, int] = {"vectors": 200, "pairs": 400}
"""Of a block there."""
ENCODER_EPOCHS, ENCODER_FOLDS, ENCODER_CLUSTERS = 60, 2, 50
"""A network is trained for the comparison, which takes longest; with fewer clusters it is not: from
random values it has nothing to learn from."""

Fit = Callable[..., list[TrainedModel]]  # `supclust.model.fit.fit_splits`, which imports this


@threadpool_limits.wrap(limits=1)  # folds are small: several threads spin-wait for each other
def choose_dissimilarity(
    train: Sequence[Block],
    dev: Sequence[Block],
    feature_names: Sequence[str],
    options: FitOptions,
    fit: Fit,
) -> tuple[str, dict[str, Any]]:
    """Compare the candidates on folds over clusters, or over blocks where there are several.

    Args:
        train: labelled blocks.
        dev: labelled blocks; they take part in the folds.
        feature_names: (d,).
        options: objective, recipe and seed.
        fit: `supclust.model.fit.fit_splits`, which trains an encoder.

    Returns:
        Name, and what it rests on: mean scores of the candidates over folds, their number, and the
        seconds that it took.
    """
    start = time.perf_counter()
    kind = train[0].kind
    names, limits = CANDIDATES[kind], (ENTRIES[kind], POINTS[kind])
    folds = [smaller(fold, *limits) for fold in guard_folds(train, dev, options.seed)]
    clusters = sum(block.n_clusters for block in (*train, *dev))
    if clusters < FEWEST_CLUSTERS or len(folds) < 2:
        return names[0], {"chosen": names[0], "folds": 0, "scores": {}}
    if clusters < ENCODER_CLUSTERS:
        names = tuple(name for name in names if name != "encoder")
    scores = {}
    for name in names:
        used = folds[:ENCODER_FOLDS] if name == "encoder" else folds
        squares = _held_out(name, used, feature_names, options, fit)
        scores[name] = [_score(*each) for each in zip(squares, used, strict=True)]
    ahead = {
        name: compare(scores[name], scores[names[0]][: len(scores[name])]) for name in names[1:]
    }
    clear = [name for name, result in ahead.items() if result.is_clear]
    chosen = max(clear, key=lambda name: ahead[name].mean, default=names[0])
    return chosen, {
        "chosen": chosen,
        "folds": len(folds),
        "scores": {name: sum(values) / len(values) for name, values in scores.items()},
        "seconds": time.perf_counter() - start,
    }


def _held_out(
    name: str,
    folds: Sequence[Fold],
    feature_names: Sequence[str],
    options: FitOptions,
    fit: Fit,
) -> list[Squares]:
    """Dissimilarities of the held-out blocks of every fold by one candidate."""
    blocks = [[block for block in fold.held_out if block.n > 1] for fold in folds]
    if name == "encoder":
        epochs = min(int(options.recipe.get("max_epochs") or ENCODER_EPOCHS), ENCODER_EPOCHS)
        short = replace(
            options, dissimilarity=name, recipe={**options.recipe, "max_epochs": epochs}
        )
        parts = [DatasetSplit(fold.fit, (), ()) for fold in folds]
        models = fit(parts, feature_names, short, splits=range(len(parts)))
        return [
            [model.distances(block.features) for block in held_out]
            for model, held_out in zip(models, blocks, strict=True)
        ]
    return [
        _squares(name, fold.fit, held_out, options.seed)
        for fold, held_out in zip(folds, blocks, strict=True)
    ]


def _squares(name: str, fit: Sequence[Block], held_out: Sequence[Block], seed: int) -> Squares:
    if name == "stacked":
        booster = boosted_pairs(fit, seed)
        scores = [booster.predict_raw(pair_features(block)) for block in held_out]
        return [squareform(score.astype(np.float32), checks=False) for score in scores]
    start = Start("logistic", 0.0)
    if name == "mahalanobis":
        start = best_map(DatasetSplit(tuple(fit), (), ()), seed)
    fitted = start.fit(fit)
    return [square_of(fitted, block) for block in held_out]


def _score(squares: Squares, fold: Fold) -> float:
    """Under the best alpha of the grid, which is as good a guess for every candidate."""
    labels = [block.known_labels for block in fold.held_out if block.n > 1]
    return float(score_grid(squares, labels, unit_of(squares, "pairs")).total.max())
