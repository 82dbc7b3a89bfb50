"""Where the metrics of a job go: Weights & Biases, a CSV file, or nowhere.

Metrics of epochs go through Lightning's own loggers. A failure of W&B costs a warning, not the run.
"""

from __future__ import annotations

import logging
import netrc
import os
import re
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlparse

from pytorch_lightning.loggers import CSVLogger, Logger, WandbLogger

from supclust.experiment.config import Settings
from supclust.model.aggregate import result_rows, result_summary

if TYPE_CHECKING:
    from supclust.data.block import Block, Dataset
    from supclust.model.trained import TrainedModel

_logger = logging.getLogger(__name__)
Mode = Literal["online", "offline", "disabled"]


@contextmanager
def job_logger(settings: Settings, dataset: Dataset, splits: Sequence[int]) -> Iterator[JobLogger]:
    """The logger that ``logger=...`` names; it is always finished, as failed if the job fails."""
    logger: JobLogger = settings.build("logger")(settings, dataset, splits)
    try:
        yield logger
    except BaseException:
        logger.finish(failed=True)
        raise
    logger.finish(failed=False)


class JobLogger:
    """Logs nothing; the base of the others.

    Args:
        settings: of the job.
        dataset: its data.
        splits: that are trained or evaluated.

    Attributes:
        folder: of the job.
        lightning: logger for the trainer; ``False``: none.
    """

    lightning: Logger | bool = False

    def __init__(self, settings: Settings, dataset: Dataset, splits: Sequence[int]) -> None:
        self.folder = settings.outputs / settings.job_folder
        self.folder.mkdir(parents=True, exist_ok=True)

    def results(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Log the results of the splits."""

    def dendrogram(self, model: TrainedModel, blocks: Sequence[Block], alpha: float | None) -> None:
        """Log a picture of a test tree."""

    def finish(self, *, failed: bool) -> None:
        """End the log."""


class CsvJobLogger(JobLogger):
    """``metrics.csv`` in the folder of the job, one row per epoch."""

    def __init__(self, settings: Settings, dataset: Dataset, splits: Sequence[int]) -> None:
        super().__init__(settings, dataset, splits)
        logger = CSVLogger(self.folder, name="", version="")
        with warnings.catch_warnings():  # the folder has other files, and an old log is replaced
            warnings.simplefilter("ignore", UserWarning)
            assert logger.experiment is not None
        self.lightning = logger


class WandbJobLogger(JobLogger):
    """One W&B run per job: metrics per epoch, results, a picture, the models.

    Args:
        settings: of the job.
        dataset: its data.
        splits: that are trained or evaluated.
        artifact: whether the models are logged, too.
        options: project, entity, group, tags.
    """

    def __init__(
        self,
        settings: Settings,
        dataset: Dataset,
        splits: Sequence[int],
        *,
        artifact: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(settings, dataset, splits)
        self.run: Any = None
        self._settings, self._artifact = settings, artifact
        self._drawn = False
        for mode in modes_to_try(os.environ):
            self._attempt(partial(self._open, settings, dataset, splits, mode, **options))
            if self.run is not None:
                self.lightning = _GuardedWandbLogger(self.run, self._guarded)
                break

    def _open(
        self,
        settings: Settings,
        dataset: Dataset,
        splits: Sequence[int],
        mode: Mode,
        *,
        tags: Sequence[str] = (),
        **options: Any,
    ) -> None:
        import wandb

        self.run = wandb.init(
            job_type=settings.objective,
            name="-".join(settings.job_folder.parts),
            tags=[settings.title, dataset.source, settings.objective, settings.linkage, *tags],
            notes=job_command(),
            config=run_config(settings, dataset, splits),
            dir=self.folder,
            mode=mode,
            reinit="finish_previous",
            settings=wandb.Settings(silent=True, console="off", init_timeout=30),
            **options,
        )
        self.run.define_metric("epoch")
        for kind in ("train/*", "dev/*", "alpha/*", "splits/*"):
            self.run.define_metric(kind, step_metric="epoch")

    def results(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Means per linkage into the summary, and a table with one row per split and linkage."""

        def send() -> None:
            import wandb

            columns, rows = result_rows(results)
            table = wandb.Table(columns=[*columns], data=[*rows])
            self.run.summary.update(result_summary(results))
            self.run.log({"results": table})

        self._guarded(send)
        if self._artifact:
            self._guarded(partial(self._log_models, results))

    def _log_models(self, results: Sequence[Mapping[str, Any]]) -> None:
        """One artifact per job: a model folder per split; its metadata are the scores."""
        import wandb

        from supclust.model import load

        with TemporaryDirectory() as name:
            for result in results:
                split = result["split"]
                try:
                    model = load(self._settings.result_path(split).parent)
                except ValueError as problem:  # a class of the user's own, or a top-down tree
                    _logger.info("W&B: no artifact of split %d: %s", split, problem)
                    continue
                model.save(Path(name, f"split-{split}"))
            if not any(Path(name).iterdir()):
                return
            artifact = wandb.Artifact(
                _artifact_name(f"{self._settings.title}-{self._settings.objective}"),
                type="model",
                description=f"Models of {self._settings.job_folder}, a folder per split.",
                metadata={"scores": result_summary(results), "splits": _split_scores(results)},
            )
            artifact.add_dir(name)
            alias = _artifact_name("-".join(self._settings.job_folder.parts[2:]))
            self.run.log_artifact(artifact, aliases=["latest", alias])

    def dendrogram(self, model: TrainedModel, blocks: Sequence[Block], alpha: float | None) -> None:
        """The tree of the largest test block of the first split that is evaluated."""
        if self._drawn:
            return
        self._drawn = True

        def send() -> None:
            import wandb

            from supclust.model.evaluate import trees
            from supclust.plot.tree import dendrogram_figure

            linkage = "average" if alpha is None else "exp"
            drawn = trees(model, blocks, {linkage: alpha or 0.0})[linkage][0]
            title = f"{drawn.block}, split {model.record['split']}, {linkage} linkage"
            figure = dendrogram_figure(drawn.tree, drawn.labels, title)
            self.run.log({"dendrogram": wandb.Image(figure)})

        self._guarded(send)

    def finish(self, *, failed: bool) -> None:
        """Finish the run: without it the next job of this process would log into it."""
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


class _GuardedWandbLogger(WandbLogger):
    """Lightning's logger, with metrics sent through a guard."""

    def __init__(self, run: Any, guard: Callable[[Callable[[], Any]], None]) -> None:
        super().__init__(experiment=run)
        self._guard = guard

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        self._guard(partial(super().log_metrics, metrics, step))


def job_command() -> str | None:
    """The command that runs this job alone; ``None`` outside of a Hydra program."""
    from hydra.core.hydra_config import HydraConfig

    if not HydraConfig.initialized():
        return None
    words = [word for word in HydraConfig.get().overrides.task if not word.startswith("sweep.")]
    return shlex.join(["python", "train.py", *words])


def _artifact_name(text: str) -> str:
    """A legal name or alias of an artifact."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:128]


def _split_scores(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Scores of every split and linkage."""
    return {
        f"split-{result['split']}": {
            linkage: {part: dict(entry[part]) for part in ("dev", "test")}
            for linkage, entry in result["linkages"].items()
        }
        for result in results
    }


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
    path = Path(environment.get("NETRC", Path(environment.get("HOME", "~")) / ".netrc"))
    try:
        return netrc.netrc(path.expanduser()).authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False
