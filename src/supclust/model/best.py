"""`recipe=best`: a start in closed form, trained from there only where that generalises.

Points: the map and alpha that are best in cross-validation over clusters; training from there is
one more candidate, which must be clearly better. Pairs: logistic regression with the best alpha of
the grid, then trained with a pull towards it, unless training is clearly worse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from torch import nn

from supclust.cut import best_threshold
from supclust.data.block import Block, Kind
from supclust.data.datamodule import BlockDataModule
from supclust.data.splits import DatasetSplit
from supclust.dissimilarity.from_start import LinearFromStart, MapFromStart
from supclust.hac import linkages
from supclust.model.options import FitOptions, objective_factory, step_unit
from supclust.model.recipe import complete_recipe, make_recipe
from supclust.model.selection import (
    ALPHAS,
    Fold,
    compare,
    guard_folds,
    halvings,
    sampled,
    score_grid,
    score_trees,
)
from supclust.model.stacked import logit_score, out_of_fold, stacked_weights, with_logit
from supclust.objectives import Objective, quiet_trainer
from supclust.objectives.baselines import boosted_pairs, linear_weights
from supclust.objectives.closed_form import (
    LinearScore,
    Matrix,
    closed_form_maps,
    labelled_pairs,
    logistic_score,
    pair_features,
)

Weights = dict[str, NDArray[Any]]
Fitted = Matrix | LinearScore
STEEPEST = 60.0  # a learned alpha starts from a finite number
GUARD_ENTRIES = {"vectors": 200_000, "pairs": 1_500_000}
"""Of the matrices of either side of a fold that compares trained with closed form."""
GUARD_POINTS = {"vectors": 300, "pairs": 600}
"""Of one block there."""
PAIR_MARGIN = 0.5


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


@dataclass(frozen=True)
class BestFit:
    """What `fit_best` returns for a split: weights, alpha, and what the record says about them."""

    weights: Weights
    alpha: float
    epochs: int
    record: dict[str, Any]
    objective: Objective | None = None
    position: int = 0


def fit_best(
    parts: Sequence[DatasetSplit],
    options: FitOptions,
    dissimilarity: str,
    *,
    trainer: pl.Trainer | None = None,
    ckpt_path: str | None = None,
) -> list[BestFit]:
    """Fit the models of some splits.

    Args:
        parts: training and dev blocks of every split.
        options: objective, settings and seed.
        dissimilarity: ``mahalanobis``, ``linear`` or ``stacked``.
        trainer: for the training of the splits that are trained.
        ckpt_path: of a checkpoint of that training.
    """
    if dissimilarity == "stacked":
        return [_fit_stacked(part, options) for part in parts]
    choose = best_map if dissimilarity == "mahalanobis" else logistic_start
    starts = [choose(part, options.seed) for part in parts]
    guards = _guard(starts, parts, options)
    fitted = [start.fit(part.train) for start, part in zip(starts, parts, strict=True)]
    models = [
        BestFit(weights_of_start(closed), start.alpha, 0, {"start": start.name, "guard": guard})
        for start, closed, guard in zip(starts, fitted, guards, strict=True)
    ]
    chosen = [i for i, guard in enumerate(guards) if guard["shipped"] == "trained"]
    if chosen:
        training = train_from(
            [fitted[i] for i in chosen],
            [parts[i] for i in chosen],
            [starts[i].alpha for i in chosen],
            options,
            trainer=trainer,
            ckpt_path=ckpt_path,
        )
        for place, i in enumerate(chosen):
            models[i] = replace(
                models[i],
                weights=training.weights(place),
                alpha=training.alpha(place, parts[i]),
                epochs=len(training.objective.history),
                objective=training.objective,
                position=place,
            )
    return models


def _fit_stacked(part: DatasetSplit, options: FitOptions) -> BestFit:
    """Boosted trees of the training blocks, then the linear stage on log odds out of fold."""
    booster = boosted_pairs(part.train, options.seed)
    logits = out_of_fold(part.train, options.seed)
    train = [with_logit(block, one) for block, one in zip(part.train, logits, strict=True)]
    dev = [with_logit(block, booster.predict_raw(pair_features(block))) for block in part.dev]
    stage = DatasetSplit(tuple(train), tuple(dev), ())
    start = _start_with_alpha("logit", stage)
    (guard,) = _guard([start], [stage], options)
    fitted = start.fit(train)
    linear, alpha, training = weights_of_start(fitted), start.alpha, None
    if guard["shipped"] == "trained":
        training = train_from([fitted], [stage], [alpha], options)
        linear, alpha = training.weights(0), training.alpha(0, stage)
    objective = None if training is None else training.objective
    return BestFit(
        stacked_weights(linear, booster),
        alpha,
        0 if objective is None else len(objective.history),
        {"start": start.name, "guard": guard},
        objective,
    )


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
        return _start_with_alpha("euclidean", part)
    table = np.stack(list(scores.values()))
    row, column = np.unravel_index(int(table.argmax()), table.shape)
    return Start(list(scores)[row], ALPHAS[column])


def logistic_start(part: DatasetSplit, seed: int) -> Start:
    """Logistic regression, with the alpha that is best on train and dev."""
    return _start_with_alpha("logistic", part)


def _start_with_alpha(name: str, part: DatasetSplit) -> Start:
    blocks = [sampled(block) for block in (*part.train, *part.dev) if block.n > 1]
    fitted = Start(name, 0.0).fit(part.train)
    grid = score_grid([square_of(fitted, b) for b in blocks], [b.known_labels for b in blocks], 1.0)
    return Start(name, ALPHAS[int(np.argmax(grid.total))])


def _guard(
    starts: Sequence[Start], parts: Sequence[DatasetSplit], options: FitOptions
) -> list[dict[str, Any]]:
    """For every split, which of closed form and trained to ship, and the scores it rests on."""
    folds = [
        [_small(fold) for fold in guard_folds(part.train, part.dev, options.seed)] for part in parts
    ]
    units = [(i, fold) for i, own in enumerate(folds) for fold in own]
    fitted = [starts[i].fit(fold.fit) for i, fold in units]
    scores: list[tuple[list[float], list[float]]] = [([], []) for _ in parts]
    if units:
        training = train_from(
            fitted,
            [DatasetSplit(fold.fit, (), ()) for _, fold in units],
            [starts[i].alpha for i, _ in units],
            options,
        )
        for place, (i, fold) in enumerate(units):
            blocks = [block for block in fold.held_out if block.n > 1]
            labels = [block.known_labels for block in blocks]
            trained = training.fitted(place)
            alpha = training.alpha(place, DatasetSplit(fold.fit, (), ()))
            for side, (form, a) in enumerate([(fitted[place], starts[i].alpha), (trained, alpha)]):
                squares = [square_of(form, block) for block in blocks]
                scores[i][side].append(score_trees(squares, labels, a))
    return [_verdict(start, *both) for start, both in zip(starts, scores, strict=True)]


def _verdict(start: Start, closed: list[float], trained: list[float]) -> dict[str, Any]:
    """Few weights (pairs): trained unless clearly worse. A whole map: only if clearly better.

    The linear stage on boosted trees: if it is better, because the trees are a model of their own.
    """
    if start.name == "logistic":
        result = compare(closed, trained)
        ship = "closed form" if result.is_clear else "trained"
    elif start.name == "logit":
        result = compare(trained, closed)
        ship = "trained" if result.mean > 0 else "closed form"
    else:
        result = compare(trained, closed)
        ship = "trained" if result.is_clear else "closed form"
    ahead = float(np.mean(trained) - np.mean(closed)) if trained else None
    return {
        "shipped": ship,
        "folds": result.folds,
        "closed_form": float(np.mean(closed)) if closed else None,
        "trained": float(np.mean(trained)) if trained else None,
        "difference": ahead,
        "standard_error": None if math.isinf(result.error) else result.error,
    }


def _small(fold: Fold) -> Fold:
    """A fold of about `GUARD_ENTRIES`: of many blocks some, of a large block some clusters.

    The blocks that stay are whole where that is possible: how a linkage and a cut do on a few
    points of a block says little about the block.
    """
    return Fold(*(_some(side) for side in fold))


def _some(side: Sequence[Block]) -> tuple[Block, ...]:
    kind = side[0].kind
    order = np.random.default_rng(len(side)).permutation(len(side))
    chosen: list[Block] = []
    left = GUARD_ENTRIES[kind]
    for i in order:
        block = sampled(side[i], GUARD_POINTS[kind])
        if len(chosen) >= 2 and block.n**2 > left:
            continue
        chosen.append(block)
        left -= block.n**2
    return tuple(chosen)


class Training:
    """Models of some splits trained from their starts."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def weights(self, place: int) -> Weights:
        """Of a `Mahalanobis` or `LinearPair`."""
        module: Any = self.objective.dissimilarity
        weights: Weights = module.weights(place)
        return weights

    def fitted(self, place: int) -> Fitted:
        """As `square_of` takes it."""
        weights = self.weights(place)
        if isinstance(self.objective.dissimilarity, MapFromStart):
            return weights["weight"].astype(np.float64)
        weight = weights["weight"].astype(np.float64)
        plain = np.zeros_like(weight), np.ones_like(weight)
        return LinearScore(weight, float(weights["bias"]), *plain)

    def alpha(self, place: int, part: DatasetSplit) -> float:
        """The learned one; for other objectives the best of the grid."""
        if self.objective.learns_alpha:
            return float(self.objective.alpha.detach()[place])
        blocks = [sampled(block) for block in (*part.train, *part.dev) if block.n > 1]
        squares = [square_of(self.fitted(place), block) for block in blocks]
        grid = score_grid(squares, [block.known_labels for block in blocks], 1.0)
        return ALPHAS[int(np.argmax(grid.total))]


def train_from(
    starts: Sequence[Fitted],
    parts: Sequence[DatasetSplit],
    alphas: Sequence[float],
    options: FitOptions,
    *,
    trainer: pl.Trainer | None = None,
    ckpt_path: str | None = None,
) -> Training:
    """Train from starts with a penalty on the distance from them, all together."""
    kind, numbers = parts[0].train[0].kind, range(len(parts))
    settings = complete_recipe(kind, options.recipe, "best")
    units: list[float] | None = None
    if settings["threshold"] == "auto" and isinstance(starts[0], LinearScore):
        settings |= {"threshold": 0.0, "margin": PAIR_MARGIN}
    elif settings["threshold"] == "auto":
        units = [_cut(*each) for each in zip(starts, parts, alphas, strict=True)]
    module = _module(starts, kind, numbers)
    recipe = make_recipe(settings)
    objective = objective_factory(options)(module, recipe, seed=options.seed, units=units)
    objective = objective.to(dtype=options.dtype)
    if isinstance(objective.alpha, nn.Parameter):
        finite = np.clip(np.asarray(alphas), -STEEPEST, STEEPEST)
        with torch.no_grad():
            objective.alpha.copy_(torch.as_tensor(finite))
    unit = step_unit(objective, settings)
    data = BlockDataModule(parts, numbers, seed=options.seed, step_unit=unit, dtype=options.dtype)
    trainer = trainer or quiet_trainer(
        settings["max_epochs"], accelerator=options.accelerator, devices=1
    )
    trainer.fit(objective, datamodule=data, ckpt_path=ckpt_path, weights_only=True)
    return Training(objective.cpu())


def _module(
    starts: Sequence[Fitted], kind: Kind, splits: Sequence[int]
) -> MapFromStart | LinearFromStart:
    scores = [start for start in starts if isinstance(start, LinearScore)]
    if not scores:
        return MapFromStart([np.asarray(start) for start in starts], splits)
    weights, biases, means, deviations = zip(*scores, strict=True)
    return LinearFromStart(weights, biases, means, deviations, kind, splits)


def _cut(matrix: Fitted, part: DatasetSplit, alpha: float) -> float:
    """Height of the best cut of the training trees: what tau refers to."""
    blocks = [block for block in part.train if block.n > 1]
    trees = linkages([square_of(matrix, block) for block in blocks], "exp", alpha=alpha)
    labels = [block.known_labels for block in blocks]
    height = best_threshold(list(zip(trees, labels, strict=True))).threshold
    return height if math.isfinite(height) and height > 0 else 1.0


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
