"""One job from start to end: missing splits are trained together, then evaluated one by one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supclust._lazy import interrupted_afterwards
from supclust.data.block import Dataset
from supclust.data.files import atomic_file, write_json
from supclust.experiment.config import Settings
from supclust.experiment.progress import JobProgress, epoch_shares, quiet_loggers, training_bar
from supclust.experiment.provenance import source_commit
from supclust.experiment.store import TrainingStore, fingerprint
from supclust.model.folder import describe_learned, numerical_versions, result_cut_file
from supclust.model.results import FORMAT, finished

if TYPE_CHECKING:
    from supclust.experiment.loggers import JobLogger
    from supclust.experiment.training import ResumeCheckpoint
    from supclust.model.trained import TrainedModel

_logger = logging.getLogger(__name__)


@dataclass
class Outcome:
    """What a job has done.

    Attributes:
        results: finished results of the requested splits, those of earlier runs included.
        failures: the reason, per split that failed.
        skipped: number of results of earlier runs.
        trained: number of splits trained in this run.
        mistake: the usage error, if all failures are due to it.
    """

    results: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)
    skipped: int = 0
    trained: int = 0
    mistake: str | None = None


class Job:
    """The splits of one job on its data set.

    Args:
        settings: of the job.
        progress: whether to show a bar at a terminal.
        progress_file: for the share of the job that is done, read by a sweep; ``None``: none.
    """

    def __init__(
        self, settings: Settings, *, progress: bool = False, progress_file: Path | None = None
    ) -> None:
        self.settings, self.progress = settings, progress
        self.shares = JobProgress(progress_file)
        self.dataset = load_data(settings)
        self.digest = self.dataset.digest()
        self.store = TrainingStore(settings.outputs)
        self.identities = {s: settings.training_identity(s, self.digest) for s in settings.splits}
        self.keys = {split: self.store.key(each) for split, each in self.identities.items()}
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Compute missing results; wait for those that another process is computing."""
        pending = self._pending()
        if pending:
            with self.store.locked([self.keys[split] for split in pending]):
                pending = self._pending()  # others may have finished some
                if pending:
                    self._work(pending)
        self.outcome.skipped = len(self.settings.splits) - len(pending)
        results = map(self._finished, self.settings.splits)
        self.outcome.results = [result for result in results if result is not None]
        return self.outcome

    def fail(self, splits: Sequence[int], error: BaseException) -> None:
        """Write that splits failed, unless their results exist."""
        reason = f"{type(error).__name__}: {error}"
        for split in splits:
            if self._finished(split) is None:
                self.outcome.failures[split] = reason
                try:
                    self._write(split, {"status": "failed", "error": reason})
                except OSError as problem:  # the same full disk; the error itself is reported
                    _logger.warning("the failure of split %d is not recorded: %s", split, problem)

    def _work(self, splits: Sequence[int]) -> None:
        # Imported here: they take seconds, which a run with nothing to do is spared.
        from supclust.experiment.loggers import job_logger

        with interrupted_afterwards():
            from supclust.experiment.training import limit_threads

        limit_threads(self.settings.trainer["threads"])
        source_commit()  # that of the start, not of the end
        try:
            with job_logger(self.settings, self.dataset, splits) as logger:
                trainings = self._trainings(splits, logger)
                alphas = self._alphas(trainings) if "exp" in self.settings.methods else {}
                results: list[dict[str, Any]] = []
                total = len(trainings)
                for done, (split, training) in enumerate(trainings.items()):
                    words = f"evaluation: {done}/{total} splits"
                    self.shares.write("evaluation", done / total, words)
                    results.append(self._evaluate(split, training, alphas.get(split), logger))
                logger.results(results)
        except Exception as error:  # not an interruption, after which the same command resumes
            self.fail(splits, error)
            raise

    def _trainings(self, splits: Sequence[int], logger: JobLogger) -> dict[int, TrainedModel]:
        """Trainings of all splits that do not diverge, from the store where they exist."""
        trainings = {split: self.store.load(self.keys[split]) for split in splits}
        missing = [split for split, training in trainings.items() if training is None]
        while missing and (diverged := self._train(missing, logger)):
            missing = [split for split in missing if split not in diverged]
        self.outcome.trained += len(missing)
        trainings |= {split: self.store.load(self.keys[split]) for split in missing}
        return {split: training for split, training in trainings.items() if training is not None}

    def _train(self, splits: list[int], logger: JobLogger) -> set[int]:
        """Train splits together and store them; if any diverge, return these and store nothing.

        The others have the numbers that they would have alone, so they are trained again.
        """
        from supclust.experiment.training import describe_splits, train
        from supclust.objectives import TrainingDiverged

        _logger.info("training %s: %s", self.settings.objective, describe_splits(splits))
        checkpoint = self._checkpoint(splits, "training")
        try:
            with training_bar(self.progress) as bar:
                trained = train(
                    *(self.settings, self.dataset, splits),
                    logger=logger.lightning,
                    callbacks=[*bar, epoch_shares(self.shares, "training"), checkpoint],
                    ckpt_path=checkpoint.resume_path(),
                )
        except TrainingDiverged as error:
            _logger.error("%s", error)
            checkpoint.remove()
            if not set(error.splits) & set(splits):
                raise
            self.fail(error.splits, error)
            return set(error.splits)
        for split, training in zip(splits, trained, strict=True):
            training.record["identity"] = self.identities[split]
        self.store.save({self.keys[s]: t for s, t in zip(splits, trained, strict=True)})
        checkpoint.remove()
        return set()

    def _alphas(self, trainings: dict[int, TrainedModel]) -> dict[int, float]:
        """Alpha of ``exp``: the learned one, or one fitted now unless it has been before."""
        from supclust.experiment.training import alphas_after_training, describe_splits

        learned = {split: training.record["alpha"] for split, training in trainings.items()}
        if all(alpha is not None for alpha in learned.values()):
            return learned
        known = self.store.load_alphas([self.keys[split] for split in trainings])
        missing = [split for split in trainings if self.keys[split] not in known]
        if missing:
            _logger.info("fitting alpha after training: %s", describe_splits(missing))
            checkpoint = self._checkpoint(missing, "alpha")
            fitted = alphas_after_training(
                *(self.settings, self.dataset, missing),
                [trainings[split] for split in missing],
                callbacks=[epoch_shares(self.shares, "alpha"), checkpoint],
                ckpt_path=checkpoint.resume_path(),
            )
            new = {self.keys[s]: alpha for s, alpha in zip(missing, fitted, strict=True)}
            self.store.save_alphas(new)
            checkpoint.remove()
            known |= new
        return {split: known[self.keys[split]] for split in trainings}

    def _checkpoint(self, splits: Sequence[int], stage: str) -> ResumeCheckpoint:
        """The checkpoint of a stage, beside the store; its name is the identity of the numbers."""
        from supclust.experiment.training import ResumeCheckpoint

        name = fingerprint({"stage": stage, "keys": [self.keys[split] for split in splits]})[:20]
        return ResumeCheckpoint(self.store.root / "unfinished" / f"{name}.ckpt")

    def _evaluate(
        self, split: int, training: TrainedModel, alpha: float | None, logger: JobLogger
    ) -> dict[str, Any]:
        """Evaluate one split on its own, so that its numbers do not depend on other splits."""
        from supclust.experiment.training import parts_of, with_module
        from supclust.model.evaluate import evaluate

        training = with_module(self.settings, training)
        assert training.folder is not None
        (parts,) = parts_of(self.settings, self.dataset, [split])
        seed, methods = self.settings.seed, self.settings.methods
        cut = self.settings.cut
        scores = evaluate(training, parts, methods, alpha, seed=seed, split=split, cut=cut)
        self._store_cuts(split, scores)
        logger.dendrogram(training, parts.test, alpha)
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

    def _store_cuts(self, split: int, scores: dict[str, dict[str, Any]]) -> None:
        """Write the trees of learned cuts beside the result, and describe the cuts in it."""
        folder = self.settings.result_path(split).parent
        for linkage, entry in scores.items():
            if entry.get("learned") is not None:
                entry["learned"], content = describe_learned(entry["learned"])
                with atomic_file(folder / result_cut_file(linkage)) as draft:
                    draft.write_bytes(content)

    def _write(self, split: int, content: dict[str, Any]) -> dict[str, Any]:
        identity = self.settings.result_identity(split, self.digest)
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
        identity = self.settings.result_identity(split, self.digest)
        return finished(self.settings.result_path(split), fingerprint(identity), identity)


def load_data(settings: Settings) -> Dataset:
    """The data set of a job; says loudly if it is a stand-in."""
    # The notes are the job's to show, once and at the top.
    with quiet_loggers("supclust.data.sets.spec"):
        folders = {"data_dir": settings.data, "cache_dir": settings.cache}
        dataset: Dataset = settings.build("dataset", **folders)
    ruler = "!" * 78 if dataset.source == "stand-in" else ""
    notes = [f"{settings.title}: {note}" for note in dataset.notes]
    for line in filter(None, (ruler, *notes, ruler)):
        _logger.warning("%s", line)
    return dataset
