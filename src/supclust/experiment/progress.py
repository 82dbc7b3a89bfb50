"""What a person at a terminal sees of a training, and the metrics that only a callback knows."""

from __future__ import annotations

import time

import pytorch_lightning as pl
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from supclust.experiment.config import Settings
from supclust.experiment.job_progress import JobProgress
from supclust.objectives import Objective

REDRAW_SECONDS = 0.1
TRACED_SPLITS = 10


def callbacks(settings: Settings, progress: bool) -> list[pl.Callback]:
    """Callbacks of a training: alpha for the log, and a bar if wanted."""
    wanted: list[pl.Callback] = []
    if settings.logger["name"] != "none":
        wanted.append(AlphaTrace())
    if progress:
        wanted.append(EpochBar(settings.trainer["max_epochs"]))
    return wanted


def limit_threads(threads: int | None) -> None:
    """Use at most so many CPU threads, in torch and in the compiled kernels."""
    if threads is not None:
        import numba

        most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        torch.set_num_threads(threads)
        numba.set_num_threads(min(threads, most))


class AlphaTrace(pl.Callback):
    """Logs a learned alpha every epoch: the mean over splits, and each where they are few."""

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Log alpha."""
        if not isinstance(pl_module, Objective) or not pl_module.learns_alpha:
            return
        alphas = pl_module.alpha.detach().tolist()
        values = {"alpha/mean": sum(alphas) / len(alphas)}
        if len(alphas) <= TRACED_SPLITS:
            names = (f"alpha/split-{split}" for split in pl_module.splits)
            values |= dict(zip(names, alphas, strict=True))
        for logger in trainer.loggers:
            logger.log_metrics(values, step=trainer.current_epoch)


class EpochNote(pl.Callback):
    """Tells a job's progress after every epoch: the share of epochs or of stopped splits.

    Args:
        progress: to be told.
        stage: that the training is.
    """

    def __init__(self, progress: JobProgress, stage: str) -> None:
        self.progress, self.stage = progress, stage

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Note the epoch."""
        epoch, most = trainer.current_epoch + 1, max(1, trainer.max_epochs or 1)
        share, words = epoch / most, f"{self.stage}: epoch {epoch}/{most}"
        if isinstance(pl_module, Objective):
            splits = len(pl_module.splits)
            stopped = splits - int(pl_module.stopping.active.sum())
            share = max(share, stopped / splits)
            words += f", {stopped}/{splits} splits" if splits > 1 else ""
        self.progress.note(self.stage, share, words)


class EpochBar(pl.Callback):
    """One line: epochs, loss, alpha. Redrawn ten times a second, so that epochs cost nothing.

    Args:
        max_epochs: the cap.
    """

    def __init__(self, max_epochs: int) -> None:
        self.progress = Progress(
            TextColumn("epoch {task.completed}/{task.total}"),
            BarColumn(),
            TextColumn("{task.fields[state]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            auto_refresh=False,
        )
        self.task = self.progress.add_task("training", total=max_epochs, state="")
        self._drawn = 0.0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Show the bar."""
        self.progress.start()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Redraw, unless it has just been done."""
        now = time.monotonic()
        if now - self._drawn < REDRAW_SECONDS:
            return
        self._drawn = now
        parts = []
        if isinstance(pl_module, Objective):
            last = pl_module.history[-1] if pl_module.history else {}
            parts = [f"{part} loss {float(loss.nanmean()):.4g}" for part, loss in last.items()]
            if pl_module.learns_alpha:
                parts.append(f"alpha {float(pl_module.alpha.detach().mean()):.3f}")
        state = "  ".join(parts)
        self.progress.update(self.task, completed=trainer.current_epoch + 1, state=state)
        self.progress.refresh()

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Remove the bar."""
        self.progress.stop()

    def on_exception(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException
    ) -> None:
        """Remove the bar."""
        self.progress.stop()
