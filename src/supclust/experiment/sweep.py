"""A multirun as a whole: checked before it starts, shown as one bar, summarised at its end.

Jobs may run in other processes or on other machines, so they report by files in the outputs
folder. The reports of a sweep are removed when it ends.
"""

from __future__ import annotations

import hashlib
import math
import shutil
import sys
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf, flag_override

from supclust.data.files import read_json, write_json, write_text
from supclust.experiment.config import Settings, check_config, check_value, plain
from supclust.experiment.errors import explain, print_usage_error
from supclust.experiment.job_progress import SUFFIX, read_progress
from supclust.model.aggregate import summarise
from supclust.model.results import read_result
from supclust.tables.render import render

if TYPE_CHECKING:
    from supclust.experiment.job import Outcome

SUMMARY_FILE = "summary.csv"
POLL_SECONDS = 0.5
# Settings that name the folder already, or have no influence on numbers.
_NAMED = ("dataset", "objective", "linkage", "split", "seed", "axes", "logger", "dataset.path")


class SweepReports:
    """What the jobs of one sweep reported.

    Args:
        outputs: folder of the results.
        sweep_id: of the sweep.
    """

    def __init__(self, outputs: Path, sweep_id: str) -> None:
        self.outputs = outputs
        self.folder = outputs / ".sweeps" / sweep_id

    def open(self) -> None:
        """Make the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)

    def add(self, settings: Settings, outcome: Outcome) -> None:
        """Report the outcome of a job."""
        report = {
            "job": str(settings.job_folder),
            "results": [
                str(settings.result_path(result["split"]).relative_to(settings.outputs))
                for result in outcome.results
            ],
            "failures": outcome.failures,
            "trained": outcome.trained,
            "skipped": outcome.skipped,
            "mistake": outcome.mistake,
        }
        write_json(self.folder / f"{settings.job_number}.json", report)

    def count(self) -> int:
        """Number of jobs that have reported."""
        return sum(1 for _ in self.folder.glob("*.json"))

    def progress_path(self, number: int) -> Path:
        """Where a job tells how far it is."""
        return self.folder / f"{number}{SUFFIX}"

    def progress(self) -> tuple[float, str]:
        """Jobs done, with the shares of those at work; and the same in words.

        The words are of the one job that is at work, or count the jobs where there are several.
        """
        finished = {int(path.stem) for path in self.folder.glob("*.json")}
        notes = read_progress(self.folder)
        at_work = [note for number, note in notes.items() if number not in finished]
        words = at_work[0].words if len(at_work) == 1 else ""
        return len(finished) + sum(note.share for note in at_work), words

    def read(self) -> list[dict[str, Any]]:
        """All reports, in the order of jobs."""
        paths = sorted(self.folder.glob("*.json"), key=lambda path: int(path.stem))
        return [report for path in paths if (report := read_json(path)) is not None]

    def remove(self) -> None:
        """Remove the reports, and the folder of sweeps if it is empty."""
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            self.folder.parent.rmdir()
        except OSError:
            return  # another sweep is at work


class Conclusion(NamedTuple):
    """The end of a sweep.

    Attributes:
        text: the table with the failures listed below it.
        code: exit code: 0 if nothing failed, 2 if every job that failed did so by the user's
            mistake, as in a single run, else 1.
        mistakes: each of the user's mistakes once, if the code is 2.
    """

    text: str
    code: int
    mistakes: list[str]


def conclude(reports: SweepReports, expected: int) -> Conclusion:
    """Write ``summary.csv``; return what to print and the exit code.

    Args:
        reports: of the sweep.
        expected: number of jobs.
    """
    found = reports.read()
    paths = dict.fromkeys(path for report in found for path in report["results"])
    results = [r for path in paths if (r := read_result(reports.outputs / path)) is not None]
    cells = summarise(results)
    lines = []
    if cells:
        write_text(reports.outputs / SUMMARY_FILE, render(cells, form="csv"))
        lines.append(render(cells))
    trained = sum(report["trained"] for report in found)
    skipped = sum(report["skipped"] for report in found)
    lines.append(
        f"results: {len(results)}, of them trained now {trained}, there already {skipped}; "
        f"{reports.outputs / SUMMARY_FILE}"
    )
    failures = failed_lines(found)
    if len(found) < expected:
        failures.append(f"{expected - len(found)} of {expected} jobs ended without a report")
    if failures:
        lines += ["", f"FAILED ({len(failures)}):", *failures]
    text = "\n".join(lines)
    mistakes = [report["mistake"] for report in found if report["failures"]]
    if not failures or len(found) < expected or None in mistakes:
        return Conclusion(text, int(bool(failures)), [])
    return Conclusion(text, 2, list(dict.fromkeys(mistakes)))


def failed_lines(reports: Sequence[dict[str, Any]]) -> list[str]:
    """One line per job and reason."""
    lines = []
    for report in reports:
        reasons: dict[str, list[str]] = {}
        for split, reason in report["failures"].items():
            reasons.setdefault(reason, []).append(split)
        for reason, splits in reasons.items():
            lines.append(f"  {report['job']} (split {', '.join(splits)}): {reason}")
    return lines


class SweepBar:
    """One bar for the whole sweep, fed by reports and notes; for a person at a terminal.

    Args:
        reports: of the sweep.
        expected: number of jobs.
    """

    def __init__(self, reports: SweepReports, expected: int) -> None:
        self._reports, self._expected = reports, expected
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Show the bar if there is a terminal."""
        if sys.stderr.isatty():
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Remove the bar."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        from supclust.experiment.meter import Meter

        with Meter("jobs", self._expected) as meter:
            while not self._ended.wait(POLL_SECONDS):
                done, words = self._reports.progress()
                text = label(self._expected, self._reports.count(), words)
                meter.update(done, label=text)


def label(expected: int, reported: int, words: str) -> str:
    """What stands before the bar: jobs, unless there is only one, and how far the current one is.

    >>> label(8, 2, "training: epoch 5/10, 12/50 splits")
    'jobs 2/8, training: epoch 5/10, 12/50 splits'
    """
    jobs = f"jobs {reported}/{expected}"
    if not words:
        return jobs
    return words if expected == 1 else f"{jobs}, {words}"


_running: list[SweepCallback] = []


def running_sweeps() -> list[SweepCallback]:
    """The sweeps of this process that have not ended."""
    return list(_running)


class SweepCallback(Callback):
    """Hydra callback: checks a sweep, names its axes, and prints a table at its end."""

    def __init__(self) -> None:
        self.reports: SweepReports | None = None
        self.bar: SweepBar | None = None
        self.expected = 0

    def __getstate__(self) -> dict[str, Any]:
        """Jobs in other processes get a copy without the thread of the bar."""
        return {**self.__dict__, "bar": None}

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Refuse illegal values, and give the jobs the sweep's id and the axes of its folders."""
        try:
            overrides = sweep_overrides(config)
            check_config(plain(config))
            swept = swept_values(overrides)
            for key, values in swept.items():
                for value in values:
                    check_value(key, value)
        except Exception as error:
            sys.exit(explain(error))
        self.expected = math.prod(len(values) for values in swept.values())
        sweep_id = uuid.uuid4().hex[:12]
        # Repeating a command gives the same W&B group.
        text = " ".join(sorted(override.input_line or "" for override in overrides))
        group = f"sweep-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        added = [f"sweep.id={sweep_id}", f"sweep.group={group}"]
        axes = further_axes(swept, plain(config)["axes"])
        if axes:
            added.append(f"axes=[{','.join(axes)}]")
        with flag_override(config, ["readonly", "struct"], [False, False]):
            config.hydra.overrides.hydra = [*config.hydra.overrides.hydra, *added]
        self.reports = SweepReports(Path(config.paths.outputs), sweep_id)
        self.reports.open()
        self.bar = SweepBar(self.reports, self.expected)
        self.bar.start()
        _running.append(self)

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Print the table and the failures; these make the exit code."""
        code = self.conclude()
        if code:
            sys.exit(code)

    def conclude(self) -> int:
        """Print the table and the failures; return the exit code, as in `sweep.conclude`."""
        if self.reports is None or self.bar is None:
            return 0
        self.bar.stop()
        text, code, mistakes = conclude(self.reports, self.expected)
        self.abandon()
        print(text, flush=True)
        for mistake in mistakes:
            print_usage_error(mistake)
        return code

    def abandon(self) -> None:
        """Remove bar and reports without a summary: interrupted jobs have not failed."""
        if self.reports is not None and self.bar is not None:
            self.bar.stop()
            self.reports.remove()
            _running.remove(self)


def sweep_overrides(config: DictConfig) -> list[Override]:
    """Everything the sweep sets: the template's parameters, then the command line."""
    params = OmegaConf.select(config, "hydra.sweeper.params") or {}
    lines = [f"{key}={value}" for key, value in params.items()]
    lines += list(config.hydra.overrides.task)
    return list(_parser().parse_overrides(lines))


def swept_values(overrides: list[Override]) -> dict[str, list[Any]]:
    """Values of every setting that has several, or was set; later ones win."""
    swept: dict[str, list[Any]] = {}
    for override in overrides:
        key = override.key_or_group
        if override.is_discrete_sweep():
            swept[key] = [_value(text) for text in override.sweep_string_iterator()]
        else:
            swept[key] = [override.value()]
    return swept


def further_axes(swept: dict[str, list[Any]], given: list[str]) -> list[str]:
    """Swept settings that the folder's name does not have yet."""
    names = {"dissimilarity": "dissimilarity.name", "trainer": "trainer.accelerator"}
    keys = [names.get(key, key) for key, values in swept.items() if len(values) > 1]
    new = [key for key in keys if key not in _NAMED and not key.startswith(("paths.", "hydra"))]
    return list(dict.fromkeys([*given, *new])) if new else []


def _parser() -> OverridesParser:
    """A parser that can expand ``glob(*)`` where Hydra is running."""
    hydra = GlobalHydra.instance()
    return OverridesParser.create(hydra.config_loader() if hydra.is_initialized() else None)


def _value(text: str) -> Any:
    return OverridesParser.create().parse_override(f"x={text}").value()
