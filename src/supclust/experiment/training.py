"""The trainings of a job: settings as arguments of `supclust.model`, checkpoints to resume."""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Checkpoint

from supclust.data.block import Dataset
from supclust.data.splits import DatasetSplit, split_dataset
from supclust.experiment.config import Settings
from supclust.model.fit import FitOptions, fit_alphas, fit_splits
from supclust.model.options import build_dissimilarity
from supclust.model.trained import TrainedModel

SAVE_SECONDS = 5.0
_logger = logging.getLogger(__name__)


def options_of(settings: Settings) -> FitOptions:
    """What the settings say about training."""
    dissimilarity: Any = settings.dissimilarity["name"]
    if "_target_" in settings.targets["dissimilarity"]:  # all but auto, which depends on the data
        dissimilarity = _factory(settings, "dissimilarity", dissimilarity)
    return FitOptions(
        objective=_factory(settings, "objective", settings.objective),
        dissimilarity=dissimilarity,
        recipe={**settings.recipe, "max_epochs": settings.trainer["max_epochs"]},
        recipe_name=settings.recipe_name,
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


def describe_splits(splits: Sequence[int]) -> str:
    """As in ``split 3`` or ``50 splits together (0 to 49)``."""
    if len(splits) == 1:
        return f"split {splits[0]}"
    return f"{len(splits)} splits together ({splits[0]} to {splits[-1]})"


def limit_threads(threads: int | None) -> None:
    """Use at most so many CPU threads, in torch and in the compiled kernels."""
    if threads is not None:
        import numba

        torch.set_num_threads(threads)
        numba.set_num_threads(min(threads, vars(numba.config)["NUMBA_NUM_THREADS"]))


class ResumeCheckpoint(Checkpoint):
    """Saves a training at the end of an epoch, at most once in ``seconds``.

    The file is a Lightning checkpoint: parameters, moments of the optimiser, stopping rule and
    history of all splits. Lightning calls checkpoints after all other hooks of an epoch, so the
    state is that between two epochs, and the order of steps is a function of the epoch: a resumed
    training has the numbers of an uninterrupted one. It is saved as a whole or not at all, and
    nothing in it is unpickled.

    Args:
        path: of the file; its name is the identity of the training.
        seconds: between two checkpoints.
    """

    def __init__(self, path: Path, seconds: float = SAVE_SECONDS) -> None:
        self.path, self.seconds = path, seconds
        self._saved = time.monotonic()

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Start the clock."""
        self._saved = time.monotonic()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Save, unless that was done a moment ago or the training is over."""
        if trainer.should_stop or time.monotonic() - self._saved < self.seconds:
            return
        draft = self.path.with_name(f".{self.path.name}")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        trainer.save_checkpoint(draft)
        draft.replace(self.path)
        self._saved = time.monotonic()

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Add the identity of the training."""
        checkpoint["training"] = self.path.stem

    def resume_path(self) -> str | None:
        """The file to resume from; ``None`` if there is none, or it is not of this training."""
        if not self.path.exists():
            return None
        try:
            checkpoint = torch.load(self.path, map_location="cpu", weights_only=True)
            versions = (checkpoint["training"], checkpoint["pytorch-lightning_version"])
            if versions != (self.path.stem, version("pytorch-lightning")):
                raise ValueError(f"it is of {' and Lightning '.join(versions)}")
        except (OSError, RuntimeError, KeyError, ValueError, pickle.UnpicklingError) as problem:
            _logger.warning("%s is not usable (%s); training from the start", self.path, problem)
            return None
        _logger.info("resuming after epoch %d", len(checkpoint["history"]["train"]))
        return str(self.path)

    def remove(self) -> None:
        """Remove the file: the training is done."""
        self.path.unlink(missing_ok=True)
