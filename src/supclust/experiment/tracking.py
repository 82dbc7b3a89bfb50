"""Where the metrics of a job go: Weights & Biases, a CSV file, or nowhere.

W&B is a convenience: whatever goes wrong with it costs a warning, never the run.
"""

from __future__ import annotations

import csv
import io
import logging
import netrc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlparse

from supclust.data.files import write_text
from supclust.experiment.config import Settings
from supclust.experiment.epoch_log import EpochLogger
from supclust.tables.split_scores import result_rows, result_summary

if TYPE_CHECKING:
    from supclust.data.block import Block, Dataset
    from supclust.model.trained import TrainedModel

_logger = logging.getLogger(__name__)
Mode = Literal["online", "offline", "disabled"]


@contextmanager
def tracked(settings: Settings, dataset: Dataset, splits: Sequence[int]) -> Iterator[Tracker]:
    """Open the tracker of a job, and always finish it, marked as failed if the job fails."""
    tracker = open_tracker(settings, dataset, splits)
    try:
        yield tracker
    except BaseException:
        tracker.finish(failed=True)
        raise
    tracker.finish(failed=False)


def open_tracker(settings: Settings, dataset: Dataset, splits: Sequence[int]) -> Tracker:
    """The tracker that ``logger=...`` asks for."""
    folder = settings.outputs / settings.job_folder
    if settings.logger["name"] == "csv":
        return CsvTracker(folder)
    if settings.logger["name"] == "wandb":
        return WandbTracker(settings, dataset, splits, folder)
    return Tracker()


class Tracker:
    """Keeps nothing: the base of the others.

    Attributes:
        logger: for Lightning; ``False`` is none.
    """

    logger: EpochLogger | bool = False

    def results(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Take the results of the splits."""

    def dendrogram(self, model: TrainedModel, blocks: Sequence[Block], alpha: float | None) -> None:
        """Take a picture of a test tree."""

    def finish(self, *, failed: bool) -> None:
        """End."""


class CsvTracker(Tracker):
    """``metrics.csv`` in the folder of the job.

    Args:
        folder: of the job.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "metrics.csv"
        self._rows: list[dict[str, Any]] = []
        self.logger: EpochLogger = EpochLogger(self._rows.append)

    def finish(self, *, failed: bool) -> None:
        """Write the file; columns are known only now."""
        self.logger.flush()
        columns = list(dict.fromkeys(key for row in self._rows for key in row))
        stream = io.StringIO()
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self._rows)
        write_text(self._file, stream.getvalue())


class WandbTracker(Tracker):
    """One W&B run per job: metrics per epoch, results, a picture.

    Args:
        settings: of the job.
        dataset: its data.
        splits: that are worked on.
        folder: of the job; W&B's files go there.
    """

    def __init__(
        self, settings: Settings, dataset: Dataset, splits: Sequence[int], folder: Path
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.run: Any = None
        self._drawn = False
        for mode in modes_to_try(os.environ):
            self._attempt(partial(self._open, settings, dataset, splits, folder, mode))
            if self.run is not None:
                break
        self.logger: EpochLogger = EpochLogger(self.log)

    def _open(
        self, settings: Settings, dataset: Dataset, splits: Sequence[int], folder: Path, mode: Mode
    ) -> None:
        import wandb

        self.run = wandb.init(
            project=settings.logger["project"],
            entity=settings.logger["entity"],
            group=settings.logger["group"],
            job_type=settings.objective,
            name="-".join(settings.job_folder.parts),
            tags=[
                *(settings.title, dataset.source, settings.objective, settings.linkage),
                *settings.logger["tags"],
            ],
            config=run_config(settings, dataset, splits),
            dir=folder,
            mode=mode,
            reinit="finish_previous",
            settings=wandb.Settings(silent=True, console="off", init_timeout=30),
        )
        self.run.define_metric("epoch")
        for kind in ("train/*", "dev/*", "alpha/*", "splits/*"):
            self.run.define_metric(kind, step_metric="epoch")

    def log(self, values: Mapping[str, Any]) -> None:
        """Log numbers, pictures or tables."""
        self._guarded(lambda: self.run.log(dict(values)))

    def results(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Means per linkage into the summary, and a table with one row per split and linkage."""
        self.logger.flush()

        def send() -> None:
            import wandb

            columns, rows = result_rows(results)
            table = wandb.Table(columns=[*columns], data=[*rows])
            self.run.summary.update(result_summary(results))
            self.run.log({"results": table})

        self._guarded(send)

    def dendrogram(self, model: TrainedModel, blocks: Sequence[Block], alpha: float | None) -> None:
        """The tree of the largest test block of the first split that is evaluated."""
        if self._drawn:
            return
        self._drawn = True

        def send() -> None:
            import wandb

            from supclust.model.evaluate import trees
            from supclust.plot.dendrogram import dendrogram_figure

            linkage = "average" if alpha is None else "exp"
            drawn = trees(model, blocks, {linkage: alpha or 0.0})[linkage][0]
            title = f"{drawn.block}, split {model.record['split']}, {linkage} linkage"
            figure = dendrogram_figure(drawn.tree, drawn.labels, title)
            self.run.log({"dendrogram": wandb.Image(figure)})

        self._guarded(send)

    def finish(self, *, failed: bool) -> None:
        """Finish the run: without it the next job of this process would log into it."""
        self.logger.flush()
        self._guarded(lambda: self.run.finish(exit_code=int(failed)))

    def _guarded(self, call: Callable[[], Any]) -> None:
        """Call, unless W&B has failed before."""
        if self.run is not None:
            self._attempt(call)

    def _attempt(self, call: Callable[[], Any]) -> None:
        try:
            call()
        except Exception as problem:
            _logger.warning("W&B: %s: %s; going on without it", type(problem).__name__, problem)
            self.run = None


def run_config(settings: Settings, dataset: Dataset, splits: Sequence[int]) -> dict[str, Any]:
    """What the run is, for W&B's columns and filters."""
    return {
        "dataset": settings.title,
        "source": dataset.source,
        "objective": settings.objective,
        "linkages": list(settings.methods),
        "dissimilarity": settings.dissimilarity,
        "recipe": settings.recipe,
        "trainer": settings.trainer,
        "seed": settings.seed,
        "splits": list(splits),
        **{f"axes/{key}": value for key, value in settings.axes.items()},
    }


def modes_to_try(environment: Mapping[str, str]) -> tuple[Mode, ...]:
    """WANDB_MODE if it is set; else online, then offline, with a key, and offline without."""
    asked = environment.get("WANDB_MODE")
    if asked == "disabled":
        return ("disabled",)
    online = asked == "online" or (asked is None and has_key(environment))
    return ("online", "offline") if online else ("offline",)


def has_key(environment: Mapping[str, str]) -> bool:
    """Whether W&B could log in: a key in the environment, or one kept by ``wandb login``."""
    if environment.get("WANDB_API_KEY"):
        return True
    host = urlparse(environment.get("WANDB_BASE_URL", "https://api.wandb.ai")).hostname or ""
    place = Path(environment.get("NETRC", Path(environment.get("HOME", "~")) / ".netrc"))
    try:
        return netrc.netrc(place.expanduser()).authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False
