"""Checkpoints of a training that is not finished, from which a killed run resumes."""

from __future__ import annotations

import logging
import pickle
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Checkpoint

SAVE_SECONDS = 5.0

_logger = logging.getLogger(__name__)


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
            found = (checkpoint["training"], checkpoint["pytorch-lightning_version"])
            if found != (self.path.stem, version("pytorch-lightning")):
                raise ValueError(f"it is of {' and Lightning '.join(found)}")
        except (OSError, RuntimeError, KeyError, ValueError, pickle.UnpicklingError) as problem:
            _logger.warning("%s is not usable (%s); training from the start", self.path, problem)
            return None
        _logger.info("resuming after epoch %d", len(checkpoint["history"]["train"]))
        return str(self.path)

    def remove(self) -> None:
        """Remove the file: the training is done."""
        self.path.unlink(missing_ok=True)
