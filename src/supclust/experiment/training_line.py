"""A sign of life while ``supclust fit`` trains: one line at a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytorch_lightning as pl
from rich.console import Console
from rich.progress import Progress, TaskID, TextColumn, TimeElapsedColumn


@contextmanager
def training_line() -> Iterator[list[pl.Callback]]:
    """Show the epoch and the time so far, on a line that is rewritten and finally removed.

    The clock goes on between epochs, since the first one may have to wait for the compiler.

    Yields:
        Callbacks for the trainer; none where nobody watches.
    """
    if not sys.stderr.isatty():
        yield []
        return
    columns = TextColumn("{task.description}"), TimeElapsedColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, refresh_per_second=4) as progress:
        yield [_EpochCount(progress, progress.add_task("training", total=None))]


class _EpochCount(pl.Callback):
    def __init__(self, progress: Progress, task: TaskID) -> None:
        self.progress, self.task = progress, task

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Say which epoch was done."""
        said = f"training: epoch {trainer.current_epoch + 1} of at most {trainer.max_epochs}"
        self.progress.update(self.task, description=said)
