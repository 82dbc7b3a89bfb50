"""Train one model on given blocks, without a configuration: labelled blocks in, `TrainedModel` out.

The steps are those of a job of ``train.py`` on one split, so the same blocks, settings and seed
give the same model.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import nn

from supclust.data.block import Block
from supclust.data.datamodule import BlockDataModule
from supclust.data.splits import DatasetSplit
from supclust.dissimilarity import Dissimilarity, Encoder, Mahalanobis
from supclust.hac.family import METHODS, alpha_of, check_alpha
from supclust.hac.module import ExpLinkHAC
from supclust.hac.tree import cut_tree
from supclust.metrics.pairwise import pooled_scores
from supclust.metrics.purity import dendrogram_purity, mean_purity
from supclust.metrics.threshold import best_threshold
from supclust.model.folder import numerical_versions
from supclust.model.recipe import complete_recipe
from supclust.model.spec import build_form, form_of_name, weights_of
from supclust.model.trained import TrainedModel, Training
from supclust.objectives import Objective, Recipe, fit_alpha, objective_class, quiet_trainer
from supclust.objectives.history import curves

AUTO_MARGIN = 0.1  # of the threshold


@dataclass(frozen=True)
class FitOptions:
    """What to learn, and how.

    Attributes:
        objective: name, class, or an untrained `Objective`, which brings its own dissimilarity and
            recipe.
        linkage: name; or alpha, as a number or in an `ExpLinkHAC`. Under ``exp`` alpha is learned:
            by the objective, or after training.
        dissimilarity: name, `Dissimilarity` of one model, or a network that embeds points.
        recipe: settings that differ from the defaults for the kind of data
            (`supclust.model.recipe`), ``max_epochs`` and ``step_unit`` among them.
        seed: of initial values, order of steps and sampling.
        precision: bits, 32 or 64.
        accelerator: ``cpu`` or ``gpu``.
    """

    objective: str | type[Objective] | Objective = "exp_alpha"
    linkage: str | float | ExpLinkHAC = "exp"
    dissimilarity: str | Dissimilarity | nn.Module = "auto"
    recipe: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    precision: int = 32
    accelerator: str = "cpu"


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
    linkage, given_alpha = _linkage(options.linkage)
    objective, settings = _objective(options, train)
    dtype = torch.float64 if options.precision == 64 else torch.float32
    objective = objective.to(dtype=dtype)
    per_cluster = objective.takes_cluster_steps
    data = BlockDataModule(
        [DatasetSplit(tuple(train), tuple(dev), ())],
        objective.splits,
        seed=options.seed,
        step_unit=settings["step_unit"] if per_cluster else "block",
        dtype=dtype,
    )
    start = time.perf_counter()
    device: dict[str, Any] = {"accelerator": options.accelerator, "devices": 1}
    epochs = settings["max_epochs"]
    quiet_trainer(epochs, callbacks=list(callbacks), **device).fit(objective, datamodule=data)
    alpha = given_alpha
    if alpha is None and linkage == "exp":
        trainer = quiet_trainer(epochs, **device)
        alpha = float(fit_alpha(objective, data, 1, trainer=trainer).cpu()[0])
    record = outcome(objective.cpu(), 0, time.perf_counter() - start, {}).record
    model = TrainedModel(
        dissimilarity=objective.dissimilarity.eval().requires_grad_(False),
        objective=record.pop("objective"),
        linkage=linkage,
        alpha=alpha_of(linkage, alpha),
        threshold=0.0,
        kind=train[0].kind,
        feature_names=tuple(feature_names),
        record=record | _facts(train, dev, options, settings),
    )
    model = choose_cut(model, dev or train)
    return replace(model, record={**model.record, "spread": spread(model, dev or train)})


def choose_cut(model: TrainedModel, blocks: Sequence[Block]) -> TrainedModel:
    """The model with the cut that has the best pairwise F1 on the blocks, pair counts pooled.

    The scores go into the record as ``dev``.
    """
    trees = [(model.tree(block.features), block.labels) for block in blocks]
    threshold = best_threshold(trees).threshold
    flat = [(labels, cut_tree(Z, height=threshold)) for Z, labels in trees]
    precision, recall, f1 = pooled_scores(flat)
    purity = mean_purity(dendrogram_purity(Z, labels) for Z, labels in trees).mean
    scores = {
        "dendrogram_purity": purity, "precision": precision, "recall": recall, "pairwise_f1": f1
    }  # fmt: skip
    return replace(model, threshold=threshold, record={**model.record, "dev": scores})


def spread(model: TrainedModel, blocks: Sequence[Block]) -> float:
    """Standard deviation of the dissimilarities within blocks: the scale that alpha works on."""
    values = np.concatenate(
        [model.distances(block.features)[np.triu_indices(block.n, 1)] for block in blocks]
    )
    return (float(values.std(dtype=np.float64)) if len(values) else 0.0) or 1.0


def _check(train: Sequence[Block], feature_names: Sequence[str]) -> None:
    if not train:
        raise ValueError("at least one training block is needed; received none.")
    if len(feature_names) != train[0].d:
        raise ValueError(
            f"feature_names must name each of the {train[0].d} features; received "
            f"{len(feature_names)}."
        )


def _facts(
    train: Sequence[Block], dev: Sequence[Block], options: FitOptions, settings: Mapping[str, Any]
) -> dict[str, Any]:
    def sizes(blocks: Sequence[Block]) -> dict[str, int]:
        counts = {"points": (b.n for b in blocks), "clusters": (b.n_clusters for b in blocks)}
        return {"blocks": len(blocks), **{name: sum(values) for name, values in counts.items()}}

    return {
        "source": "file",
        "sizes": {"train": sizes(train), "dev": sizes(dev)},
        "seed": options.seed,
        "precision": options.precision,
        "recipe": dict(settings),
        "versions": numerical_versions(),
    }


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


def _objective(options: FitOptions, train: Sequence[Block]) -> tuple[Objective, dict[str, Any]]:
    """An untrained objective that is nobody else's, and the complete recipe."""
    kind = train[0].kind
    settings = complete_recipe(kind, options.recipe)
    recipe, units = make_recipe(settings), None
    if settings["threshold"] == "auto":
        units = [starting_distance(train)]
        settings |= {"threshold": units[0], "margin": AUTO_MARGIN * units[0]}
    if isinstance(options.objective, Objective):
        return _given_objective(options), settings
    found = options.objective
    chosen = objective_class(found) if isinstance(found, str) else found
    if not (isinstance(chosen, type) and issubclass(chosen, Objective)):
        raise ValueError(
            "objective must be a name, an Objective or a class of one; "
            f"received {type(found).__name__}."
        )
    model = _dissimilarity(options, train[0])
    if found is chosen:  # somebody's own, whose losses may not know about units
        return chosen(model, make_recipe(settings), seed=options.seed), settings
    return chosen(model, recipe, seed=options.seed, units=units), settings


def _given_objective(options: FitOptions) -> Objective:
    assert isinstance(options.objective, Objective)
    further = [n for n, v in options.recipe.items() if v is not None and n not in _NOT_RECIPE]
    if options.dissimilarity != "auto" or further:
        received = ["dissimilarity"] * (options.dissimilarity != "auto") + further
        raise ValueError(
            "an Objective brings its own dissimilarity and recipe; received "
            f"{', '.join(received)} as well. Leave them out, or give the objective by name."
        )
    if len(options.objective.splits) != 1:
        raise ValueError(
            f"an objective of one model is needed; received {len(options.objective.splits)}. "
            "Make its dissimilarity with splits=(0,)."
        )
    return copy.deepcopy(options.objective)


_NOT_RECIPE = ("max_epochs", "step_unit")


def _dissimilarity(options: FitOptions, block: Block) -> Dissimilarity:
    given = options.dissimilarity
    if isinstance(given, str):
        model: Dissimilarity = build_form(
            form_of_name(given, block.kind, block.d), (0,), options.seed
        )
        return model
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


def make_recipe(settings: Mapping[str, Any]) -> Recipe:
    """The recipe, with ``auto`` in units of the split's `starting_distance`."""
    known = {field.name for field in fields(Recipe)}
    values = {key: value for key, value in settings.items() if key in known}
    if values["threshold"] == "auto":
        values |= {"threshold": 1.0, "margin": AUTO_MARGIN}
    return Recipe(**values)


def starting_distance(blocks: Sequence[Block]) -> float:
    """Root mean square distance of two points of a block under an untrained Mahalanobis model.

    Of training blocks alone: a threshold must not know anything about test blocks.

    Entries of A are uniform on +-1/sqrt(d), so E |A x|^2 = |x|^2 / 3.
    """
    spreads = [float(block.features.var(axis=0, dtype="f8").sum()) for block in blocks]
    n = sum(block.n for block in blocks)
    mean = sum(2 * s * block.n for s, block in zip(spreads, blocks, strict=True)) / n
    return float((mean / 3) ** 0.5) or 1.0


def outcome(objective: Objective, position: int, seconds: float, about: dict[str, Any]) -> Training:
    """The training of one of the splits of a trained objective.

    Args:
        objective: trained, on the CPU.
        position: of the split.
        seconds: that all splits took together.
        about: what else the record is to say.
    """
    epochs = int(objective.stopping.epochs[position])
    record = {
        **about,
        "objective": objective.name,
        "split": objective.splits[position],
        "splits_together": len(objective.splits),
        "epochs": epochs,
        "seconds": seconds / len(objective.splits),
        "alpha": float(objective.alpha.detach()[position]) if objective.learns_alpha else None,
        **curves(objective.history[:epochs], position),
    }
    return Training(weights_of(objective.dissimilarity, position), record)
