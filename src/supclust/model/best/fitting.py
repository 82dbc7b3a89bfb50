"""Models of splits by ``recipe=best``, with the choice in their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytorch_lightning as pl

from supclust.data.splits import DatasetSplit
from supclust.model.best.guard import guard
from supclust.model.best.starts import best_map, start_with_alpha, weights_of_start
from supclust.model.best.training import FREE, TRAINED, WIDE, train_as, train_from
from supclust.model.options import FitOptions, objective_name
from supclust.model.spec import in_precision
from supclust.model.stacked import out_of_fold, stacked_weights, with_logit
from supclust.model.trained import TrainedModel
from supclust.objectives import Objective
from supclust.objectives.baselines import Weights, boosted_pairs
from supclust.objectives.closed_form import pair_features
from supclust.objectives.training.history import curves


@dataclass(frozen=True)
class BestFit:
    """What `fit_best` returns for a split: weights, alpha, and the record of the choice."""

    weights: Weights
    alpha: float
    epochs: int
    record: dict[str, Any]
    objective: Objective | None = None
    position: int = 0

    def model(
        self,
        spec: Mapping[str, Any],
        feature_names: Sequence[str],
        options: FitOptions,
        split: int,
        seconds: float,
    ) -> TrainedModel:
        """The model of the split, without linkage and cut."""
        history = self.objective.history[: self.epochs] if self.objective else []
        record = {
            "split": split,
            "epochs": self.epochs,
            "seconds": seconds,
            "alpha": self.alpha,
            "recipe_name": "best",
            **self.record,
            **curves(history, self.position),
        }
        weights = in_precision(self.weights, options.precision)
        name = objective_name(options)
        return TrainedModel(spec, weights, name, tuple(feature_names), record=record)


def fit_best(
    parts: Sequence[DatasetSplit],
    options: FitOptions,
    dissimilarity: str,
    *,
    splits: Sequence[int] = (0,),
    trainer: pl.Trainer | None = None,
    ckpt_path: str | None = None,
) -> list[BestFit]:
    """Fit the models of some splits.

    Args:
        parts: training and dev blocks of every split.
        options: objective, settings and seed.
        dissimilarity: ``mahalanobis``, ``linear`` or ``stacked``.
        splits: number of every split, which initial values at random depend on.
        trainer: for the splits that are trained in the usual way, from their start.
        ckpt_path: of a checkpoint of that training.
    """
    if dissimilarity == "stacked":
        return [_fit_stacked(part, options) for part in parts]
    if dissimilarity == "mahalanobis":
        starts = [best_map(part, options.seed) for part in parts]
    else:
        starts = [start_with_alpha("logistic", part) for part in parts]
    verdicts = guard(starts, parts, options, splits)
    fitted = [start.fit(part.train) for start, part in zip(starts, parts, strict=True)]
    models = [
        BestFit(weights_of_start(closed), start.alpha, 0, {"start": start.name, "guard": verdict})
        for start, closed, verdict in zip(starts, fitted, verdicts, strict=True)
    ]
    for way in (TRAINED, WIDE, FREE):
        chosen = [i for i, verdict in enumerate(verdicts) if verdict["shipped"] == way]
        if not chosen:
            continue
        own = [fitted[i] for i in chosen], [parts[i] for i in chosen]
        alphas = [starts[i].alpha for i in chosen]
        if way == TRAINED:
            training = train_from(*own, alphas, options, trainer=trainer, ckpt_path=ckpt_path)
        else:
            training = train_as(way, *own, alphas, options, [splits[i] for i in chosen])
        for place, i in enumerate(chosen):
            models[i] = replace(
                models[i],
                weights=training.weights(place),
                alpha=training.alpha(place, parts[i]),
                epochs=training.epochs(place),
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
    start = start_with_alpha("logit", stage)
    (verdict,) = guard([start], [stage], options, (0,))
    fitted = start.fit(train)
    linear, alpha, training = weights_of_start(fitted), start.alpha, None
    if verdict["shipped"] == "trained":
        training = train_from([fitted], [stage], [alpha], options)
        linear, alpha = training.weights(0), training.alpha(0, stage)
    objective = None if training is None else training.objective
    return BestFit(
        stacked_weights(linear, booster),
        alpha,
        0 if objective is None else len(objective.history),
        {"start": start.name, "guard": verdict},
        objective,
    )
