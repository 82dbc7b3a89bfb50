"""A Lightning logger that makes one row of an epoch's metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytorch_lightning.loggers.logger import Logger


class EpochLogger(Logger):
    """Gathers the metrics of an epoch, which come from several places, into one row.

    Args:
        emit: takes every finished row.
    """

    def __init__(self, emit: Callable[[dict[str, Any]], None]) -> None:
        super().__init__()
        self._emit = emit
        self._row: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """Of the kind of logger."""
        return "supclust"

    @property
    def version(self) -> str:
        """None: a job has one log."""
        return ""

    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Take numbers; their epoch is a metric of its own in validation, else the step."""
        row = {"epoch": 0 if step is None else step, **metrics}
        if self._row and self._row["epoch"] != row["epoch"]:
            self.flush()
        self._row |= row

    def flush(self) -> None:
        """Hand out the row of the last epoch."""
        if self._row:
            self._emit(self._row)
        self._row = {}

    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        """Do nothing: the configuration is that of the job, given at the start."""
