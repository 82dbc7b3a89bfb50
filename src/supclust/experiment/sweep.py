"""A multirun as a whole: jobs report to a folder, and the end of it is a table.

Jobs may run in other processes or on other machines; files in the outputs folder are what they
all share. A sweep's reports are removed when it ends.
"""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from supclust.data.files import read_json, write_json, write_text
from supclust.experiment.job import Outcome
from supclust.experiment.job_progress import SUFFIX, read_progress
from supclust.experiment.settings import Settings
from supclust.model.results import read_result
from supclust.tables.aggregate import as_csv, as_text, summarise

SUMMARY_FILE = "summary.csv"
POLL_SECONDS = 0.5


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
        write_text(reports.outputs / SUMMARY_FILE, as_csv(cells))
        lines.append(as_text(cells))
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
