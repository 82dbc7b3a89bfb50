"""Training of ``recipe=best``: from a start in closed form, with a penalty on the distance.

Or, for pair features, as in the paper: from random values, without that penalty.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import nn

from supclust.cut import best_threshold
from supclust.data.block import Kind
from supclust.data.splits import DatasetSplit
from supclust.dissimilarity.from_start import LinearFromStart, MapFromStart
from supclust.dissimilarity.linear import LinearPair
from supclust.hac import linkages
from supclust.model.best.starts import Fitted, best_alpha, square_of
from supclust.model.options import (
    FitOptions,
    build_objective,
    make_data,
    objective_factory,
)
from supclust.model.spec import weights_of
from supclust.objectives import Objective, quiet_trainer
from supclust.objectives.baselines import Weights
from supclust.objectives.closed_form import LinearScore
from supclust.objectives.recipe import complete_recipe, make_recipe

STEEPEST = 60.0  # a learned alpha starts from a finite number
FEW_BLOCKS = 20
"""A logistic regression of so few may be a poor start; with more, training freely takes long."""
PAIR_MARGIN, WIDE_MARGIN = 0.5, 2.0  # of scores with standard deviation 1
TRAINED, WIDE, FREE = "trained", "trained with margin 2", "trained from random values"
"""Ways of training."""


class Training:
    """Models of some splits trained from their starts."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def weights(self, place: int) -> Weights:
        """Weights of a `Mahalanobis` or `LinearPair`."""
        module: Any = self.objective.dissimilarity
        plain = isinstance(module, LinearPair)
        weights: Weights = weights_of(module, place) if plain else module.weights(place)
        return weights

    def fitted(self, place: int) -> Fitted:
        """As `square_of` takes it."""
        weights = self.weights(place)
        if isinstance(self.objective.dissimilarity, MapFromStart):
            return weights["weight"].astype(np.float64)
        weight = weights["average_weight"].astype(np.float64)
        plain = np.zeros_like(weight), np.ones_like(weight)
        return LinearScore(weight, float(weights["average_bias"]), *plain)

    def epochs(self, place: int) -> int:
        """How many there were before the split stopped."""
        return int(self.objective.stopping.epochs[place])

    def alpha(self, place: int, part: DatasetSplit) -> float:
        """The learned one; for other objectives the best of the grid."""
        if self.objective.learns_alpha:
            return float(self.objective.alpha.detach()[place])
        return best_alpha(self.fitted(place), part)


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
    trainer = trainer or _trainer(settings, options)
    data = make_data(objective, settings, parts, options)
    trainer.fit(objective, datamodule=data, ckpt_path=ckpt_path, weights_only=True)
    return Training(objective.cpu())


def ways_of_training(
    start: str, parts: Sequence[DatasetSplit], options: FitOptions
) -> tuple[str, ...]:
    """The candidates: several for pair features of few blocks, unless settings are given.

    Settings that differ from the defaults describe the training that is asked for.
    """
    kind, blocks = parts[0].train[0].kind, len(parts[0].train) + len(parts[0].dev)
    given, usual = (complete_recipe(kind, r, "best") for r in (options.recipe, {}))
    several = (start, kind) == ("logistic", "pairs") and blocks <= FEW_BLOCKS and given == usual
    return (TRAINED, WIDE, FREE) if several else (TRAINED,)


def train_as(
    way: str,
    starts: Sequence[Fitted],
    parts: Sequence[DatasetSplit],
    alphas: Sequence[float],
    options: FitOptions,
    numbers: Sequence[int],
) -> Training:
    """Train in one of the ways; ``numbers`` of the parts are as for `train_freely`."""
    if way == FREE:
        return train_freely(parts, options, numbers)
    if way == WIDE:
        wide = {**options.recipe, "threshold": 0.0, "margin": WIDE_MARGIN}
        options = replace(options, recipe=wide)
    return train_from(starts, parts, alphas, options)


def train_freely(
    parts: Sequence[DatasetSplit], options: FitOptions, numbers: Sequence[int]
) -> Training:
    """Train a linear model of pairs as the paper does: from random values, weights averaged.

    Args:
        parts: as for `train_from`.
        options: objective and seed; the settings are the defaults of ``recipe=paper``.
        numbers: of the parts; initial values and order of steps depend on them.
    """
    plain = replace(options, recipe={}, recipe_name="paper", dissimilarity="linear")
    objective, settings = build_objective(plain, parts, numbers)
    data = make_data(objective, settings, parts, options)
    _trainer(settings, options).fit(objective, datamodule=data)
    return Training(objective.cpu())


def _trainer(settings: Mapping[str, Any], options: FitOptions) -> pl.Trainer:
    return quiet_trainer(settings["max_epochs"], accelerator=options.accelerator, devices=1)


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
