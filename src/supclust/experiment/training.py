"""Build, train and restore the models of several splits at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import pytorch_lightning as pl
import torch

from supclust.data.block import Dataset
from supclust.data.datamodule import BlockDataModule
from supclust.data.splits import split_dataset
from supclust.experiment.config import Settings
from supclust.model.fit import make_recipe, outcome, starting_distance
from supclust.model.spec import build_form, form_of_name, is_per_split
from supclust.model.trained import Training
from supclust.objectives import Objective, fit_alpha, quiet_trainer


def make_data(settings: Settings, dataset: Dataset, splits: Sequence[int]) -> BlockDataModule:
    """The blocks of some splits."""
    chosen = cast("type[Objective]", _objective_factory(settings).func)
    return BlockDataModule.from_dataset(
        dataset,
        splits,
        split_seed=settings.dataset["split_seed"],
        seed=settings.seed,
        step_unit=settings.recipe["step_unit"] if chosen.takes_cluster_steps else "block",
        dtype=_dtype(settings),
    )


def make_objective(settings: Settings, dataset: Dataset, splits: Sequence[int]) -> Objective:
    """Untrained models of some splits under the objective."""
    model = build_form(make_form(settings, dataset), splits, settings.seed)
    units = None
    if settings.recipe["threshold"] == "auto":
        seed = settings.dataset["split_seed"]
        parts = [split_dataset(dataset, number, seed) for number in splits]
        units = [starting_distance(part.train) for part in parts]
    recipe = make_recipe(settings.recipe)
    objective: Objective = _objective_factory(settings)(
        model, recipe, seed=settings.seed, units=units
    )
    return objective.to(dtype=_dtype(settings))


def _objective_factory(settings: Settings) -> partial[Objective]:
    """The class of the objective with the arguments that the configuration gives."""
    factory: partial[Objective] = settings.build("objective")
    name = getattr(factory.func, "name", None)
    if name != settings.objective:
        raise ValueError(
            f"the name of an objective in conf/ and of its class must be the same; received "
            f"{settings.objective!r} and {name!r}. Choose it with objective=NAME."
        )
    return factory


def make_form(settings: Settings, dataset: Dataset) -> dict[str, Any]:
    """The form of the dissimilarity that the settings name, as plain values."""
    return form_of_name(kind=dataset.kind, d=dataset.d, **settings.dissimilarity)


def train(
    settings: Settings,
    dataset: Dataset,
    splits: Sequence[int],
    *,
    logger: Any = False,
    callbacks: Sequence[pl.Callback] = (),
) -> list[Training]:
    """Train the given splits together; each comes out as if it had been trained alone.

    Args:
        settings: of the job.
        dataset: the data.
        splits: numbers of the splits.
        logger: a Lightning logger, or ``False``.
        callbacks: further Lightning callbacks.

    Returns:
        One training per split, on the CPU.
    """
    pl.seed_everything(settings.seed, verbose=False)
    objective = make_objective(settings, dataset, splits)
    data = make_data(settings, dataset, splits)
    start = time.perf_counter()
    trainer = quiet_trainer(
        settings.trainer["max_epochs"],
        purity_every=settings.trainer["purity_every"],
        accelerator=settings.trainer["accelerator"],
        devices=1,
        logger=logger,
        callbacks=list(callbacks),
    )
    trainer.fit(objective, datamodule=data)
    seconds = time.perf_counter() - start
    about = {
        "dissimilarity": make_form(settings, dataset),
        "feature_names": list(dataset.feature_names),
    }
    objective = objective.cpu()
    return [outcome(objective, position, seconds, about) for position in range(len(splits))]


def restore(
    settings: Settings, dataset: Dataset, splits: Sequence[int], trainings: Sequence[Training]
) -> Objective:
    """The trained models of some splits as one objective, in evaluation mode."""
    objective = make_objective(settings, dataset, splits)
    state = objective.dissimilarity.state_dict()
    for name, value in state.items():
        if is_per_split(name):
            value.copy_(torch.stack([training.weights[name] for training in trainings]))
    objective.dissimilarity.load_state_dict(state)
    if objective.learns_alpha:
        alphas = [training.record["alpha"] for training in trainings]
        objective.alpha.data.copy_(torch.tensor(alphas, dtype=torch.float64))
    return objective.eval().requires_grad_(False)


def alphas_after_training(
    settings: Settings,
    dataset: Dataset,
    splits: Sequence[int],
    trainings: Sequence[Training],
    *,
    callbacks: Sequence[pl.Callback] = (),
) -> list[float]:
    """Alpha of the ``exp`` linkage fitted to trained dissimilarities, one per split."""
    objective = restore(settings, dataset, splits, trainings)
    trainer = quiet_trainer(
        settings.trainer["max_epochs"],
        accelerator=settings.trainer["accelerator"],
        devices=1,
        callbacks=list(callbacks),
    )
    data = make_data(settings, dataset, splits)
    return [float(a) for a in fit_alpha(objective, data, 1, trainer=trainer).cpu()]


def _dtype(settings: Settings) -> torch.dtype:
    return torch.float64 if settings.trainer["precision"] == 64 else torch.float32
