"""Train models from labelled blocks: the one way that train.py, the estimator and the CLI share.

`fit_splits` trains the models of several splits together. `fit_model` trains one model and also
chooses its linkage and cut. The same blocks, settings and seed give the same numbers in both.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytorch_lightning as pl
import torch
from torch import nn

from supclust.data.block import Block
from supclust.data.datamodule import BlockDataModule
from supclust.data.splits import DatasetSplit
from supclust.dissimilarity import Dissimilarity, Encoder, Mahalanobis
from supclust.hac.family import METHODS, alpha_of, check_alpha
from supclust.hac.module import ExpLinkHAC
from supclust.model.evaluate import choose_cut, spread
from supclust.model.folder import numerical_versions
from supclust.model.recipe import AUTO_MARGIN, complete_recipe, make_recipe, starting_distance
from supclust.model.spec import build_module, set_weights, spec_of_name
from supclust.model.trained import TrainedModel
from supclust.objectives import Objective, fit_alpha, objective_class, quiet_trainer
from supclust.objectives.history import curves


@dataclass(frozen=True)
class FitOptions:
    """What to learn, and how.

    Attributes:
        objective: name; class, or a function with its arguments; or an untrained `Objective`, which
            brings its own dissimilarity and recipe.
        linkage: name; or alpha, as a number or in an `ExpLinkHAC`. Under ``exp`` alpha is learned:
            by the objective, or after training. Used by `fit_model` only.
        dissimilarity: name; name and options, as ``{"name": "encoder", "hidden": [64], "width":
            20}``; `Dissimilarity` of one model; or a network that embeds points.
        recipe: settings that differ from the defaults for the kind of data
            (`supclust.model.recipe`), ``max_epochs`` and ``step_unit`` among them.
        seed: of initial values, order of steps and sampling.
        precision: bits, 32 or 64.
        accelerator: ``cpu`` or ``gpu``.
    """

    objective: str | Callable[..., Objective] | Objective = "exp_alpha"
    linkage: str | float | ExpLinkHAC = "exp"
    dissimilarity: str | Mapping[str, Any] | Dissimilarity | nn.Module = "auto"
    recipe: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    precision: int = 32
    accelerator: str = "cpu"

    @property
    def dtype(self) -> torch.dtype:
        """Of features and weights."""
        return torch.float64 if self.precision == 64 else torch.float32

    def trainer(self, max_epochs: int, **more: Any) -> pl.Trainer:
        """A trainer on the accelerator; ``more``: further arguments of `quiet_trainer`."""
        return quiet_trainer(max_epochs, accelerator=self.accelerator, devices=1, **more)


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
    objective, settings = _objective(options, parts, splits)
    data = _data(objective, settings, parts, options)
    trainer = trainer or options.trainer(settings["max_epochs"])
    start = time.perf_counter()
    trainer.fit(objective, datamodule=data, ckpt_path=ckpt_path)
    seconds = time.perf_counter() - start
    objective = objective.cpu()
    return [
        TrainedModel.from_module(
            objective.dissimilarity,
            parts[0].train[0].kind,
            objective.name,
            tuple(feature_names),
            position=position,
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
) -> list[float]:
    """Alpha of the ``exp`` linkage fitted to trained dissimilarities, one per split.

    Args:
        models: of `fit_splits`.
        parts: as for `fit_splits`.
        options: as for `fit_splits`.
        splits: as for `fit_splits`.
        trainer: as for `fit_splits`.
    """
    objective, settings = _objective(options, parts, splits)
    set_weights(objective.dissimilarity, [model.weights for model in models])
    objective.eval().requires_grad_(False)
    data = _data(objective, settings, parts, options)
    trainer = trainer or options.trainer(settings["max_epochs"])
    return [float(alpha) for alpha in fit_alpha(objective, data, 1, trainer=trainer).cpu()]


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
    linkage, alpha = _linkage(options.linkage)
    parts = [DatasetSplit(tuple(train), tuple(dev), ())]
    settings = complete_recipe(train[0].kind, options.recipe)
    if settings["threshold"] == "auto":
        unit = starting_distance(train)
        numbers = {"threshold": unit, "margin": AUTO_MARGIN * unit}
        settings |= numbers
        if isinstance(options.objective, type):  # the user's own, which may ignore units
            options = replace(options, recipe={**options.recipe, **numbers})
    start = time.perf_counter()
    trainer = options.trainer(settings["max_epochs"], callbacks=list(callbacks))
    (model,) = fit_splits(parts, feature_names, options, trainer=trainer)
    if alpha is None and linkage == "exp":
        alpha = model.record["alpha"]
        alpha = fit_alphas([model], parts, options)[0] if alpha is None else alpha
    facts = {
        "seconds": time.perf_counter() - start,
        "source": "file",
        "sizes": {"train": _sizes(train), "dev": _sizes(dev)},
        "seed": options.seed,
        "precision": options.precision,
        "recipe": settings,
        "versions": numerical_versions(),
    }
    model = replace(model, linkage=linkage, alpha=alpha_of(linkage, alpha))
    model = choose_cut(replace(model, record={**model.record, **facts}), dev or train)
    return replace(model, record={**model.record, "spread": spread(model, dev or train)})


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


def _linkage(linkage: str | float | ExpLinkHAC) -> tuple[str, float | None]:
    """Name, and alpha where it is given."""
    if isinstance(linkage, ExpLinkHAC):
        return "exp", float(linkage.alpha.detach())
    if isinstance(linkage, str):
        if linkage not in METHODS:
            raise ValueError(
                f"linkage must be one of {', '.join(METHODS)}, a number (alpha), or an ExpLinkHAC; "
                f"received {linkage!r}."
            )
        return linkage, None
    return "exp", check_alpha(linkage)


def _data(
    objective: Objective,
    settings: Mapping[str, Any],
    parts: Sequence[DatasetSplit],
    options: FitOptions,
) -> BlockDataModule:
    return BlockDataModule(
        parts,
        objective.splits,
        seed=options.seed,
        step_unit=settings["step_unit"] if objective.takes_cluster_steps else "block",
        dtype=options.dtype,
    )


def _objective(
    options: FitOptions, parts: Sequence[DatasetSplit], splits: Sequence[int]
) -> tuple[Objective, dict[str, Any]]:
    """A new untrained objective, and the complete settings of the recipe."""
    block = parts[0].train[0]
    settings = complete_recipe(block.kind, options.recipe)
    if isinstance(options.objective, Objective):
        return _copy_of(options.objective, options).to(dtype=options.dtype), settings
    given = options.objective
    make = objective_class(given) if isinstance(given, str) else given
    wrong = isinstance(make, type) and not issubclass(make, Objective)
    if not callable(make) or wrong:
        raise ValueError(
            "objective must be a name, an Objective or a class of one; "
            f"received {type(given).__name__}."
        )
    automatic = settings["threshold"] == "auto"
    units = [starting_distance(part.train) for part in parts] if automatic else None
    module = _dissimilarity(options, block, splits)
    objective = make(module, make_recipe(settings), seed=options.seed, units=units)
    return objective.to(dtype=options.dtype), settings


def _copy_of(objective: Objective, options: FitOptions) -> Objective:
    """A copy of an `Objective` that the user made."""
    settings = [name for name, value in options.recipe.items()
                if value is not None and name not in ("max_epochs", "step_unit")]  # fmt: skip
    received = [*(["dissimilarity"] if options.dissimilarity != "auto" else []), *settings]
    if received:
        raise ValueError(
            "an Objective brings its own dissimilarity and recipe; received "
            f"{', '.join(received)} as well. Leave them out, or give the objective by name."
        )
    if len(objective.splits) != 1:
        raise ValueError(
            f"an objective of one model is needed; received {len(objective.splits)}. "
            "Make its dissimilarity with splits=(0,)."
        )
    return copy.deepcopy(objective)


def _dissimilarity(options: FitOptions, block: Block, splits: Sequence[int]) -> Dissimilarity:
    """A new dissimilarity of the splits; a module that the user made is copied."""
    given = options.dissimilarity
    if isinstance(given, str):
        given = {"name": given}
    if isinstance(given, Mapping):
        return build_module(spec_of_name(kind=block.kind, d=block.d, **given), splits, options.seed)
    if not isinstance(given, nn.Module):
        raise ValueError(
            "dissimilarity must be a name, a supclust.dissimilarity.Dissimilarity or a torch "
            f"network; received {type(given).__name__}."
        )
    if not isinstance(given, Dissimilarity):
        given = Encoder(copy.deepcopy(given), seed=options.seed)
    for_points = isinstance(given, Mahalanobis | Encoder) or getattr(given, "kind", "") == "vectors"
    for_pairs = getattr(given, "kind", "") == "pairs"
    if given.n_splits != 1 or (for_points if block.kind == "pairs" else for_pairs):
        raise ValueError(
            f"a dissimilarity of one model for {block.kind} is needed; received {given}. "
            "Make it with splits=(0,), and LinearPair with the kind of your features."
        )
    return copy.deepcopy(given)
