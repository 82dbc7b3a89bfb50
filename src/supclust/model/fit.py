"""Train models from labelled blocks: the one way that train.py, the estimator and the CLI share.

`fit_splits` trains the models of several splits together. `fit_model` trains one model and also
chooses its linkage and cut. The same blocks, settings and seed give the same numbers in both.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytorch_lightning as pl

from supclust.cut import DEFAULT_CUTS
from supclust.data.block import Block
from supclust.data.splits import DatasetSplit
from supclust.hac.family import alpha_of
from supclust.model.evaluate import choose_cut, spread
from supclust.model.folder import numerical_versions
from supclust.model.options import FitOptions as FitOptions
from supclust.model.options import (
    build_baseline,
    build_objective,
    closed_form_start,
    linkage_and_alpha,
    make_data,
    spec_of_options,
)
from supclust.model.spec import in_precision, set_weights, spec_of_name
from supclust.model.trained import TrainedModel
from supclust.objectives import Baseline, Objective, fit_alpha, quiet_trainer
from supclust.objectives.recipe import AUTO_MARGIN, complete_recipe, starting_distance
from supclust.objectives.training.history import curves


def make_trainer(options: FitOptions, max_epochs: int, **more: Any) -> pl.Trainer:
    """A trainer on the accelerator; ``more``: further arguments of `quiet_trainer`."""
    return quiet_trainer(max_epochs, accelerator=options.accelerator, devices=1, **more)


def fit_splits(
    parts: Sequence[DatasetSplit],
    feature_names: Sequence[str],
    options: FitOptions,
    *,
    splits: Sequence[int] = (0,),
    trainer: pl.Trainer | None = None,
    ckpt_path: str | None = None,
) -> list[TrainedModel]:
    """Train the models of some splits together; each comes out as if it had been trained alone.

    Args:
        parts: training and dev blocks of every split; where there are no dev blocks, training is
            stopped by the training loss.
        feature_names: (d,).
        options: what to learn, and how.
        splits: number of every split; their initial values and order of steps depend on it.
        trainer: with the caller's callbacks and loggers. Default: a quiet one.
        ckpt_path: of a checkpoint to resume from.

    Returns:
        One model per split, without linkage and cut; the record holds epochs, time and losses.
    """
    baseline = build_baseline(options)
    if baseline is not None:
        return [
            _computed(baseline, part, feature_names, options, split)
            for part, split in zip(parts, splits, strict=True)
        ]
    kind, d = parts[0].train[0].kind, len(feature_names)
    name = closed_form_start(options, kind, d)
    if name is not None:
        from supclust.model.best.fitting import fit_best

        start = time.perf_counter()
        fits = fit_best(parts, options, name, splits=splits, trainer=trainer, ckpt_path=ckpt_path)
        seconds = (time.perf_counter() - start) / len(parts)
        spec = spec_of_name(name, kind, d)
        return [
            fit.model(spec, feature_names, options, split, seconds)
            for fit, split in zip(fits, splits, strict=True)
        ]
    objective, settings = build_objective(options, parts, splits)
    data = make_data(objective, settings, parts, options)
    trainer = trainer or make_trainer(options, settings["max_epochs"])
    start = time.perf_counter()
    trainer.fit(objective, datamodule=data, ckpt_path=ckpt_path, weights_only=True)
    seconds = time.perf_counter() - start
    objective = objective.cpu()
    spec = spec_of_options(options, objective.dissimilarity, kind, d)
    return [
        TrainedModel.from_module(
            objective.dissimilarity,
            kind,
            objective.name,
            tuple(feature_names),
            position=position,
            spec=spec,
            record=_record(objective, position, seconds),
        )
        for position in range(len(parts))
    ]


def fit_alphas(
    models: Sequence[TrainedModel],
    parts: Sequence[DatasetSplit],
    options: FitOptions,
    *,
    splits: Sequence[int] = (0,),
    trainer: pl.Trainer | None = None,
    ckpt_path: str | None = None,
) -> list[float]:
    """Alpha of the ``exp`` linkage fitted to trained dissimilarities, one per split.

    Args:
        models: of `fit_splits`.
        parts: as for `fit_splits`.
        options: as for `fit_splits`.
        splits: as for `fit_splits`.
        trainer: as for `fit_splits`.
        ckpt_path: as for `fit_splits`.
    """
    objective, settings = build_objective(options, parts, splits)
    set_weights(objective.dissimilarity, [model.weights for model in models])
    objective.eval().requires_grad_(False)
    data = make_data(objective, settings, parts, options)
    trainer = trainer or make_trainer(options, settings["max_epochs"])
    alphas = fit_alpha(objective, data, 1, trainer=trainer, ckpt_path=ckpt_path)
    return [float(alpha) for alpha in alphas.cpu()]


def fit_model(
    train: Sequence[Block],
    dev: Sequence[Block],
    feature_names: Sequence[str],
    options: FitOptions | None = None,
    *,
    callbacks: Sequence[pl.Callback] = (),
) -> TrainedModel:
    """Learn a dissimilarity and a linkage on training blocks, and where to cut on dev blocks.

    Args:
        train: at least one labelled block.
        dev: labelled blocks for the stopping rule and the cut; where there are none, the training
            blocks serve for both.
        feature_names: (d,).
        options: what to learn, and how.
        callbacks: of Lightning.

    Returns:
        The model; its record holds epochs, losses, dev scores, the spread of dissimilarities,
        sizes, seed, versions.
    """
    options = options or FitOptions()
    _check(train, feature_names)
    linkage, alpha = linkage_and_alpha(options.linkage)
    parts = [DatasetSplit(tuple(train), tuple(dev), ())]
    kind, d = train[0].kind, len(feature_names)
    start = time.perf_counter()
    best = closed_form_start(options, kind, d) is not None and build_baseline(options) is None
    choice: dict[str, Any] = {}
    if best and options.dissimilarity == "auto":
        from supclust.model.best.automatic import choose_dissimilarity

        name, facts = choose_dissimilarity(train, dev, feature_names, options, fit_splits)
        options, choice = replace(options, dissimilarity=name), {"dissimilarity_choice": facts}
        best = closed_form_start(options, kind, d) is not None
    settings = complete_recipe(kind, options.recipe, "best" if best else "paper")
    if settings["threshold"] == "auto" and not best:
        unit = starting_distance(train)
        numbers = {"threshold": unit, "margin": AUTO_MARGIN * unit}
        settings |= numbers
        if isinstance(options.objective, type):  # the user's own, which may ignore units
            options = replace(options, recipe={**options.recipe, **numbers})
    trainer = make_trainer(options, settings["max_epochs"], callbacks=list(callbacks))
    (model,) = fit_splits(parts, feature_names, options, trainer=trainer)
    if alpha is None and linkage == "exp":
        alpha = model.record["alpha"]
        alpha = fit_alphas([model], parts, options)[0] if alpha is None else alpha
    facts = {
        **choice,
        "seconds": time.perf_counter() - start,
        "source": "file",
        "sizes": {"train": _sizes(train), "dev": _sizes(dev)},
        "seed": options.seed,
        "precision": options.precision,
        "recipe": settings,
        "versions": numerical_versions(),
    }
    model = replace(model, linkage=linkage, alpha=alpha_of(linkage, alpha))
    model = replace(model, record={**model.record, **facts})
    cut = options.cut or DEFAULT_CUTS["best" if best else "paper"]
    model = choose_cut(model, train, dev, cut, seed=options.seed)
    return replace(model, record={**model.record, "spread": spread(model, dev or train)})


def _computed(
    baseline: Baseline,
    part: DatasetSplit,
    feature_names: Sequence[str],
    options: FitOptions,
    split: int,
) -> TrainedModel:
    """The model of a baseline, with the best alpha of the grid."""
    from supclust.model.selection import choose_alpha

    start, kind = time.perf_counter(), part.train[0].kind
    baseline.check_kind(kind)
    weights = in_precision(baseline.fit(part.train), options.precision)
    spec = spec_of_name(baseline.dissimilarity, kind, len(feature_names))
    model = TrainedModel(spec, weights, baseline.name, tuple(feature_names))
    alpha = choose_alpha(model, part.train, part.dev, options.seed)
    record = {"split": split, "splits_together": 1, "epochs": 0, "alpha": alpha, **curves([], 0)}
    return replace(model, record={**record, "seconds": time.perf_counter() - start})


def _record(objective: Objective, position: int, seconds: float) -> dict[str, Any]:
    """Epochs, time and curves of one of the splits; ``seconds`` is the time of all together."""
    epochs = int(objective.stopping.epochs[position])
    return {
        "split": objective.splits[position],
        "splits_together": len(objective.splits),
        "epochs": epochs,
        "seconds": seconds / len(objective.splits),
        "alpha": float(objective.alpha.detach()[position]) if objective.learns_alpha else None,
        **curves(objective.history[:epochs], position),
    }


def _check(train: Sequence[Block], feature_names: Sequence[str]) -> None:
    if not train:
        raise ValueError("at least one training block is needed; received none.")
    if len(feature_names) != train[0].d:
        raise ValueError(
            f"feature_names must name each of the {train[0].d} features; received "
            f"{len(feature_names)}."
        )


def _sizes(blocks: Sequence[Block]) -> dict[str, int]:
    n, clusters = sum(block.n for block in blocks), sum(block.n_clusters for block in blocks)
    return {"blocks": len(blocks), "points": n, "clusters": clusters}
