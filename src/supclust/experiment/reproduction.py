"""Reproduce the paper's tables: two workers go through a plan; run again, it goes on."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple

from supclust.experiment.job_progress import read_progress
from supclust.experiment.meter import Meter, duration
from supclust.experiment.reproduction_plan import Unit
from supclust.experiment.reproduction_record import Record
from supclust.experiment.settings import Settings
from supclust.experiment.sweep import SweepReports

LOG_FILE = "reproduction.log"
POLL_SECONDS = 0.5
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Worth nothing here and slow: logs of every epoch, dev purities on the way.
_QUIET = ("logger=none", "trainer.threads=1", "trainer.purity_every=null", "dataset.source=real")

_logger = logging.getLogger(__name__)


class Place(NamedTuple):
    """Where things are; handed to the workers.

    Attributes:
        conf: folder of the configuration.
        data: folder of the real data sets.
        outputs: folder of the results.
        overrides: settings that differ from the paper's.
    """

    conf: Path
    data: Path
    outputs: Path
    overrides: tuple[str, ...] = ()


def reproduce(stages: Sequence[Sequence[Unit]], place: Place, jobs: int) -> list[str]:
    """Do what is missing of a plan.

    Args:
        stages: as `plan` gives them.
        place: where things are.
        jobs: number of worker processes, each with one thread.

    Returns:
        What failed, a line each. Nothing that is there already is done again, so the same call
        goes on after an interruption.
    """
    for dataset in dict.fromkeys(unit.dataset for stage in stages for unit in stage):
        _require_data(dataset, place)
    reports = SweepReports(place.outputs, f"reproduction-{uuid.uuid4().hex[:8]}")
    reports.open()
    record = Record(place.outputs, place.conf.parent, jobs, list(place.overrides))
    pool = make_pool(jobs, place.outputs / LOG_FILE)
    try:
        return _Walk(stages, place, reports, record).run(pool)
    except KeyboardInterrupt:
        # Python would wait for pieces that take minutes; results are written whole or not at all.
        for worker in multiprocessing.active_children():
            worker.kill()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        reports.remove()


def make_pool(jobs: int, log: Path) -> Executor:
    """Worker processes with one thread each, whose words go to a file."""
    context = multiprocessing.get_context("spawn")  # torch and Numba do not survive a fork
    return ProcessPoolExecutor(jobs, context, initializer=_start_worker, initargs=(log,))


class _Walk:
    """One session: submits, watches, writes down."""

    def __init__(
        self,
        stages: Sequence[Sequence[Unit]],
        place: Place,
        reports: SweepReports,
        record: Record,
    ) -> None:
        self.stages, self.place, self.reports, self.record = stages, place, reports, record
        self.units = [unit for stage in stages for unit in stage]
        self.total = sum(unit.cost for unit in self.units)
        self.done, self.count, self.failures = 0.0, 0, list[str]()

    def run(self, pool: Executor) -> list[str]:
        with Meter("reproduction", self.total) as meter:
            number = 0
            for stage in self.stages:
                self.record.begin(f"{stage[0].dataset}/{stage[0].part}")
                numbers = range(number, number + len(stage))
                number += len(stage)
                self._stage(pool, dict(zip(numbers, stage, strict=True)), meter)
        return self.failures

    def _stage(self, pool: Executor, units: dict[int, Unit], meter: Meter) -> None:
        running = {
            pool.submit(run_unit, unit, self.place, number, self.reports.progress_path(number)): (
                number
            )
            for number, unit in units.items()
        }
        finished: set[int] = set()
        while running:
            ended, _ = wait(running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            for future in ended:
                number = running.pop(future)
                finished.add(number)
                self._end(units[number], future, meter)
            notes = read_progress(self.reports.folder)
            at_work = units.keys() & notes.keys() - finished
            part = sum(units[n].cost * notes[n].share for n in at_work)
            label = f"{next(iter(units.values())).dataset} {self.count}/{len(self.units)}"
            meter.update(self.done + part, self.total, label)
            self.record.tick()

    def _end(self, unit: Unit, future: Future[dict[str, Any]], meter: Meter) -> None:
        report = future.result()
        self.count += 1
        self.failures += [f"{unit.name}: {text}" for text in report["failures"]]
        if not report["worked"]:
            self.total -= unit.cost  # found done: it says nothing about the speed
            meter.update(self.done, self.total)
            return
        self.done += unit.cost
        self.record.finish_piece(unit.name, report["seconds"])
        meter.update(self.done, self.total)
        state = "FAILED" if report["failures"] else f"took {duration(report['seconds'])}"
        count = f"{self.count}/{len(self.units)}"
        meter.line(f"[{count}] {unit.name} {state}; {meter.times()}")


def run_unit(unit: Unit, place: Place, number: int, watched: Path) -> dict[str, Any]:
    """Do one piece of work, in a worker.

    Returns:
        ``worked`` (or all was there), ``seconds``, ``failures`` as texts.
    """
    from supclust.experiment.job import Job

    start = time.perf_counter()
    job = None
    try:
        job = Job(settings_of(unit.overrides(), place, number), watched=watched)
        job.run()
        failures = job.outcome.failures
    except Exception as error:
        _logger.exception("%s failed", unit.name)
        failures = (job.outcome.failures if job else {}) or dict.fromkeys(
            unit.splits, f"{type(error).__name__}: {error}"
        )
    reasons: dict[str, list[str]] = {}
    for split, reason in failures.items():
        reasons.setdefault(reason, []).append(str(split))
    return {
        "worked": job is None or bool(failures) or job.outcome.skipped < len(unit.splits),
        "seconds": time.perf_counter() - start,
        "failures": [f"split {', '.join(s)}: {reason}" for reason, s in reasons.items()],
    }


def settings_of(overrides: Sequence[str], place: Place, number: int = 0) -> Settings:
    """The settings that ``train.py`` would have with these words, on real data and quiet."""
    from supclust.experiment.run import settings_from

    paths = (f"paths.data='{place.data}'", f"paths.outputs='{place.outputs}'")
    words = [*overrides, *_QUIET, *paths, *place.overrides]
    return settings_from(place.conf, words, number)


def _require_data(dataset: str, place: Place) -> None:
    """Refuse at once where the real data are absent; fills the cache for the workers."""
    from supclust.experiment.job import load_data

    load_data(settings_of([f"dataset={dataset}"], place))


def _start_worker(log: Path) -> None:
    """One thread each, before anything that starts threads is imported; words go to a file."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all; the parent acts
    for name in _THREAD_VARIABLES:
        os.environ[name] = "1"
    threading.Thread(target=_end_with_parent, daemon=True).start()
    log.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=log, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
