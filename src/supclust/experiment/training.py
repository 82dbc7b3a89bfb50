"""The trainings of a job: its settings as arguments of `supclust.model`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytorch_lightning as pl

from supclust.data.block import Dataset
from supclust.data.splits import DatasetSplit, split_dataset
from supclust.experiment.config import Settings
from supclust.model.fit import FitOptions, fit_alphas, fit_splits, make_trainer
from supclust.model.trained import TrainedModel
from supclust.objectives import Objective


def options_of(settings: Settings) -> FitOptions:
    """What the settings say about training."""
    return FitOptions(
        objective=_objective_factory(settings),
        dissimilarity=settings.dissimilarity,
        recipe={**settings.recipe, "max_epochs": settings.trainer["max_epochs"]},
        seed=settings.seed,
        precision=settings.trainer["precision"],
        accelerator=settings.trainer["accelerator"],
    )


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


def parts_of(settings: Settings, dataset: Dataset, splits: Sequence[int]) -> list[DatasetSplit]:
    """The blocks of every split."""
    seed = settings.dataset["split_seed"]
    return [split_dataset(dataset, number, seed) for number in splits]


def train(
    settings: Settings,
    dataset: Dataset,
    splits: Sequence[int],
    *,
    logger: Any = False,
    callbacks: Sequence[pl.Callback] = (),
    ckpt_path: str | None = None,
) -> list[TrainedModel]:
    """Train the given splits together; each comes out as if it had been trained alone.

    Args:
        settings: of the job.
        dataset: the data.
        splits: numbers of the splits.
        logger: a Lightning logger, or ``False``.
        callbacks: further Lightning callbacks.
        ckpt_path: of a checkpoint to resume from.

    Returns:
        One model per split, without linkage and cut.
    """
    pl.seed_everything(settings.seed, verbose=False)
    options = options_of(settings)
    trainer = make_trainer(
        options,
        settings.trainer["max_epochs"],
        purity_every=settings.trainer["purity_every"],
        logger=logger,
        callbacks=list(callbacks),
    )
    parts = parts_of(settings, dataset, splits)
    given: dict[str, Any] = {"splits": splits, "trainer": trainer, "ckpt_path": ckpt_path}
    return fit_splits(parts, dataset.feature_names, options, **given)


def alphas_after_training(
    settings: Settings,
    dataset: Dataset,
    splits: Sequence[int],
    models: Sequence[TrainedModel],
    *,
    callbacks: Sequence[pl.Callback] = (),
) -> list[float]:
    """Alpha of the ``exp`` linkage fitted to trained dissimilarities, one per split."""
    options = options_of(settings)
    trainer = make_trainer(options, settings.trainer["max_epochs"], callbacks=list(callbacks))
    parts = parts_of(settings, dataset, splits)
    return fit_alphas(models, parts, options, splits=splits, trainer=trainer)
