"""The trainings of a job: its settings as arguments of `supclust.model`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytorch_lightning as pl

from supclust.data.block import Dataset
from supclust.data.splits import DatasetSplit, split_dataset
from supclust.experiment.config import Settings
from supclust.model.fit import FitOptions, fit_alphas, fit_splits
from supclust.model.options import build_dissimilarity
from supclust.model.trained import TrainedModel


def options_of(settings: Settings) -> FitOptions:
    """What the settings say about training."""
    dissimilarity: Any = settings.dissimilarity["name"]
    if "_target_" in settings.targets["dissimilarity"]:  # all but auto, which depends on the data
        dissimilarity = _factory(settings, "dissimilarity", dissimilarity)
    return FitOptions(
        objective=_factory(settings, "objective", settings.objective),
        dissimilarity=dissimilarity,
        recipe={**settings.recipe, "max_epochs": settings.trainer["max_epochs"]},
        seed=settings.seed,
        precision=settings.trainer["precision"],
        accelerator=settings.trainer["accelerator"],
    )


def _factory(settings: Settings, group: str, name: str) -> partial[Any]:
    """The class of a group with the arguments that the configuration gives."""
    factory: partial[Any] = settings.build(group)
    received = getattr(factory.func, "name", None)
    if received != name:
        raise ValueError(
            f"{group}.name in conf/ and the name of its class must be the same; received "
            f"{name!r} and {received!r}. Choose it with {group}=NAME."
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
    observers = [*callbacks, *settings.build("callbacks").values()]
    trainer = settings.build("trainer")(devices=1, logger=logger, callbacks=observers)
    parts = parts_of(settings, dataset, splits)
    given: dict[str, Any] = {"splits": splits, "trainer": trainer, "ckpt_path": ckpt_path}
    return fit_splits(parts, dataset.feature_names, options, **given)


def with_module(settings: Settings, model: TrainedModel) -> TrainedModel:
    """A stored model that can be applied, also with a dissimilarity that only conf/ can build."""
    if "class" not in model.spec:
        return model
    return model.with_module(build_dissimilarity(options_of(settings), model.kind, model.d))


def alphas_after_training(
    settings: Settings,
    dataset: Dataset,
    splits: Sequence[int],
    models: Sequence[TrainedModel],
    *,
    callbacks: Sequence[pl.Callback] = (),
    ckpt_path: str | None = None,
) -> list[float]:
    """Alpha of the ``exp`` linkage fitted to trained dissimilarities, one per split."""
    options = options_of(settings)
    trainer = settings.build("trainer")(purity_every=None, devices=1, callbacks=list(callbacks))
    parts = parts_of(settings, dataset, splits)
    return fit_alphas(models, parts, options, splits=splits, trainer=trainer, ckpt_path=ckpt_path)
