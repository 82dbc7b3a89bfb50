"""One job from start to end: what is missing is trained, evaluated and written, split by split."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supclust.data.block import Dataset
from supclust.data.files import write_json
from supclust.experiment.config import Settings, fingerprint
from supclust.experiment.job_progress import JobProgress
from supclust.experiment.provenance import source_commit
from supclust.experiment.quiet import quiet_loggers
from supclust.experiment.store import TrainingStore
from supclust.model.folder import numerical_versions
from supclust.model.results import FORMAT, finished

if TYPE_CHECKING:
    from supclust.experiment.tracking import Tracker
    from supclust.model.trained import TrainedModel

_logger = logging.getLogger(__name__)


@dataclass
class Outcome:
    """What a job leaves behind.

    Attributes:
        results: finished results of the splits that were asked for, those found included.
        failures: per split that failed, why.
        skipped: how many results were there already.
        trained: how many splits were trained, not found.
        mistake: what the user did wrong, if that is why all of the failures failed.
    """

    results: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)
    skipped: int = 0
    trained: int = 0
    mistake: str | None = None


class Job:
    """The work of one job on its data set.

    Args:
        settings: what to do.
        progress: whether to show a bar; for a person at a terminal.
        watched: file to tell how far the job is; ``None``: nobody watches.
    """

    def __init__(
        self, settings: Settings, *, progress: bool = False, watched: Path | None = None
    ) -> None:
        self.settings, self.progress = settings, progress
        self.watched = JobProgress(watched)
        self.dataset = load_data(settings)
        self.digest = self.dataset.digest()
        self.store = TrainingStore(settings.outputs)
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Do what is missing; what another process is doing at the moment is waited for."""
        pending = self._pending()
        if pending:
            with self.store.locked([self._key(split) for split in pending]):
                pending = self._pending()  # others may have finished some
                if pending:
                    self._work(pending)
        self.outcome.skipped = len(self.settings.splits) - len(pending)
        self.outcome.results = [
            result
            for split in self.settings.splits
            if (result := self._finished(split)) is not None
        ]
        return self.outcome

    def fail(self, splits: Sequence[int], error: BaseException) -> None:
        """Write down that splits failed, unless their results are there."""
        reason = f"{type(error).__name__}: {error}"
        for split in splits:
            if self._finished(split) is None:
                self.outcome.failures[split] = reason
                self._write(split, {"status": "failed", "error": reason})

    def _work(self, splits: Sequence[int]) -> None:
        # Seconds of imports, which a run that has nothing to do is spared.
        from supclust.experiment.progress import EpochNote, callbacks, limit_threads
        from supclust.experiment.tracking import tracked

        limit_threads(self.settings.trainer["threads"])
        source_commit()  # as it is now, not in hours
        try:
            with tracked(self.settings, self.dataset, splits) as tracker:
                watchers = callbacks(self.settings, self.progress)
                watchers.append(EpochNote(self.watched, "training"))
                trainings = self._trainings(splits, tracker, watchers)
                alphas = self._alphas(trainings) if "exp" in self.settings.methods else {}
                results: list[dict[str, Any]] = []
                for split, training in trainings.items():
                    ready, of = len(results), len(trainings)
                    self.watched.note("evaluation", ready / of, f"evaluation: {ready}/{of} splits")
                    results.append(self._evaluate(split, training, alphas.get(split), tracker))
                tracker.results(results)
        except Exception as error:  # an interruption is no failure: the next call goes on
            self.fail(splits, error)
            raise

    def _trainings(
        self, splits: Sequence[int], tracker: Tracker, watchers: Sequence[Any]
    ) -> dict[int, TrainedModel]:
        """Trainings of all splits that do not diverge, from the store where they are there."""
        from supclust.experiment.training import train
        from supclust.objectives import TrainingDiverged

        found = {split: self.store.load(self._key(split)) for split in splits}
        missing = [split for split, training in found.items() if training is None]
        while missing:
            _logger.info("training %s: %s", self.settings.objective, describe_splits(missing))
            try:
                trained = train(
                    *(self.settings, self.dataset, missing),
                    logger=tracker.logger,
                    callbacks=watchers,
                )
            except TrainingDiverged as error:
                # The others are as they would be without it, so they are trained again without.
                _logger.error("%s", error)
                left = [split for split in missing if split not in error.splits]
                if len(left) == len(missing):
                    raise
                self.fail([split for split in missing if split not in left], error)
                missing = left
                continue
            for split, training in zip(missing, trained, strict=True):
                training.record["identity"] = self._training_identity(split)
            self.store.save({self._key(s): t for s, t in zip(missing, trained, strict=True)})
            self.outcome.trained += len(missing)
            found |= {split: self.store.load(self._key(split)) for split in missing}
            break
        return {split: training for split, training in found.items() if training is not None}

    def _alphas(self, trainings: dict[int, TrainedModel]) -> dict[int, float]:
        """Alpha of ``exp``: the learned one, or one fitted now unless it has been before."""
        from supclust.experiment.progress import EpochNote
        from supclust.experiment.training import alphas_after_training

        learned = {split: training.record["alpha"] for split, training in trainings.items()}
        if all(alpha is not None for alpha in learned.values()):
            return learned
        known = self.store.load_alphas([self._key(split) for split in trainings])
        missing = [split for split in trainings if self._key(split) not in known]
        if missing:
            _logger.info("fitting alpha after training: %s", describe_splits(missing))
            fitted = alphas_after_training(
                *(self.settings, self.dataset, missing),
                [trainings[split] for split in missing],
                callbacks=[EpochNote(self.watched, "alpha")],
            )
            new = {self._key(s): alpha for s, alpha in zip(missing, fitted, strict=True)}
            self.store.save_alphas(new)
            known |= new
        return {split: known[self._key(split)] for split in trainings}

    def _evaluate(
        self, split: int, training: TrainedModel, alpha: float | None, tracker: Tracker
    ) -> dict[str, Any]:
        """Evaluate one split on its own, so that its numbers do not depend on its company."""
        from supclust.experiment.training import parts_of
        from supclust.model.evaluate import evaluate

        assert training.folder is not None
        (parts,) = parts_of(self.settings, self.dataset, [split])
        seed, methods = self.settings.seed, self.settings.methods
        scores = evaluate(training, parts, methods, alpha, seed=seed, split=split)
        tracker.dendrogram(training, parts.test, alpha)
        return self._write(
            split,
            {
                "status": "done",
                "linkages": scores,
                "epochs": training.record["epochs"],
                "seconds": training.record["seconds"],
                "model": str(training.folder.relative_to(self.store.outputs)),
            },
        )

    def _write(self, split: int, content: dict[str, Any]) -> dict[str, Any]:
        identity = self._identity(split)
        result = {
            "format": FORMAT,
            "status": content["status"],
            "dataset": self.settings.title,
            "source": self.dataset.source,
            "notes": list(self.dataset.notes),
            "objective": self.settings.objective,
            "linkage": self.settings.linkage,
            "split": split,
            "seed": self.settings.seed,
            "axes": self.settings.axes,
            **content,
            "config_hash": fingerprint(identity),
            "config": identity,
            "commit": source_commit(),
            "versions": numerical_versions(),
        }
        write_json(self.settings.result_path(split), result)
        return result

    def _pending(self) -> list[int]:
        return [split for split in self.settings.splits if self._finished(split) is None]

    def _finished(self, split: int) -> dict[str, Any] | None:
        identity = self._identity(split)
        return finished(self.settings.result_path(split), fingerprint(identity), identity)

    def _identity(self, split: int) -> dict[str, Any]:
        return self.settings.result_identity(split, self.digest)

    def _training_identity(self, split: int) -> dict[str, Any]:
        return self.settings.training_identity(split, self.digest)

    def _key(self, split: int) -> str:
        return self.store.key(self._training_identity(split))


def load_data(settings: Settings) -> Dataset:
    """The data set of a job; says loudly if it is a stand-in."""
    # The notes are the job's to show, once and at the top.
    with quiet_loggers("supclust.data.sets.registry"):
        dataset: Dataset = settings.build(
            "dataset", data_dir=settings.data, cache_dir=settings.cache
        )
    ruler = "!" * 78 if dataset.source == "stand-in" else ""
    notes = [f"{settings.title}: {note}" for note in dataset.notes]
    for line in (ruler, *notes, ruler):
        if line:
            _logger.warning("%s", line)
    return dataset


def describe_splits(splits: Sequence[int]) -> str:
    """As in ``split 3`` or ``50 splits together (0 to 49)``."""
    if len(splits) == 1:
        return f"split {splits[0]}"
    return f"{len(splits)} splits together ({splits[0]} to {splits[-1]})"
