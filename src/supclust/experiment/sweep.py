"""The jobs of one multirun: their reports, one progress bar, and the summary at the end.

Jobs may run in other processes or on other machines, so they report by files in the outputs
folder. The reports are removed when the sweep ends.
"""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from supclust.data.drafts import held, remove_if_free
from supclust.data.files import read_json, write_json, write_text
from supclust.experiment.config import Settings
from supclust.experiment.progress import SUFFIX, ProgressBar, read_progress
from supclust.model.results import read_result

if TYPE_CHECKING:
    from supclust.experiment.job import Outcome

SUMMARY_FILE = "summary.csv"
POLL_SECONDS = 0.5


class Summary(NamedTuple):
    """The end of a sweep.

    Attributes:
        text: the table, with the failures listed below it.
        code: exit code: 0 if nothing failed, 2 if all failures are errors of usage, else 1.
        usage_errors: the distinct errors of usage, if the code is 2.
    """

    text: str
    code: int
    usage_errors: list[str]


class Sweep:
    """A multirun, as its process and its jobs see it.

    Args:
        outputs: folder of the results.
        sweep_id: of the sweep.
        n_jobs: number of its jobs; jobs themselves do not need it.
    """

    def __init__(self, outputs: Path, sweep_id: str, n_jobs: int = 0) -> None:
        self.outputs, self.n_jobs = outputs, n_jobs
        self.folder = outputs / ".sweeps" / sweep_id
        self._held = ExitStack()
        self._ended = threading.Event()
        self._bar: threading.Thread | None = None

    def start(self) -> None:
        """Make the folder of the reports, and show a bar if there is a terminal.

        Folders of sweeps that were killed are removed; a sweep that runs holds a lock on its own.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        while not self._held.enter_context(held(self.folder)):  # removed by another that starts
            self.folder.mkdir(parents=True, exist_ok=True)
        for other in self.folder.parent.iterdir():
            remove_if_free(other)
        if sys.stderr.isatty():
            self._bar = threading.Thread(target=self._show_progress, daemon=True)
            self._bar.start()

    def report(self, settings: Settings, outcome: Outcome) -> None:
        """Write the outcome of a job."""
        paths = [settings.result_path(result["split"]) for result in outcome.results]
        report = {
            "job": str(settings.job_folder),
            "results": [str(path.relative_to(settings.outputs)) for path in paths],
            "failures": outcome.failures,
            "trained": outcome.trained,
            "skipped": outcome.skipped,
            "mistake": outcome.mistake,
        }
        write_json(self.folder / f"{settings.job_number}.json", report)

    def progress_path(self, number: int) -> Path:
        """File in which a job writes its progress."""
        return self.folder / f"{number}{SUFFIX}"

    def progress(self) -> tuple[float, str]:
        """Jobs done, with the shares of running ones; and a label for the bar.

        The label counts the jobs, unless there is only one, and describes the running job, unless
        there are several.
        """
        finished = {int(path.stem) for path in self.folder.glob("*.json")}
        notes = read_progress(self.folder)
        running = [note for number, note in notes.items() if number not in finished]
        done = len(finished) + sum(note.share for note in running)
        words = running[0].words if len(running) == 1 else ""
        jobs = f"jobs {len(finished)}/{self.n_jobs}" if self.n_jobs != 1 or not words else ""
        return done, ", ".join(text for text in (jobs, words) if text)

    def stop(self) -> None:
        """Remove the bar and the reports, and the folder of all sweeps if it is empty."""
        self._ended.set()
        if self._bar is not None:
            self._bar.join()
        self._held.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            self.folder.parent.rmdir()
        except OSError:
            return  # another sweep is running

    def summarise(self) -> Summary:
        """Write ``summary.csv``; return what to print, and the exit code."""
        from supclust.model.aggregate import summarise
        from supclust.tables.render import render

        paths = sorted(self.folder.glob("*.json"), key=lambda path: int(path.stem))
        reports = [report for path in paths if (report := read_json(path)) is not None]
        names = dict.fromkeys(name for report in reports for name in report["results"])
        results = [r for name in names if (r := read_result(self.outputs / name)) is not None]
        cells = summarise(results)
        lines = []
        if cells:
            write_text(self.outputs / SUMMARY_FILE, render(cells, fmt="csv"))
            lines.append(render(cells))
        trained, skipped = (sum(r[key] for r in reports) for key in ("trained", "skipped"))
        lines.append(
            f"results: {len(results)}, of them trained now {trained}, there already {skipped}; "
            f"{self.outputs / SUMMARY_FILE}"
        )
        failures = _failed_lines(reports)
        missing = self.n_jobs - len(reports)
        if missing > 0:
            failures.append(f"{missing} of {self.n_jobs} jobs ended without a report")
        if failures:
            lines += ["", f"FAILED ({len(failures)}):", *failures]
        errors = [report["mistake"] for report in reports if report["failures"]]
        if not failures or missing > 0 or None in errors:
            return Summary("\n".join(lines), int(bool(failures)), [])
        return Summary("\n".join(lines), 2, list(dict.fromkeys(errors)))

    def _show_progress(self) -> None:
        with ProgressBar("jobs", self.n_jobs) as bar:
            while not self._ended.wait(POLL_SECONDS):
                done, label = self.progress()
                bar.update(done, label=label)


def _failed_lines(reports: Sequence[dict[str, Any]]) -> list[str]:
    """One line per job and reason."""
    lines = []
    for report in reports:
        splits_by_reason: dict[str, list[str]] = {}
        for split, reason in report["failures"].items():
            splits_by_reason.setdefault(reason, []).append(split)
        for reason, splits in splits_by_reason.items():
            lines.append(f"  {report['job']} (split {', '.join(splits)}): {reason}")
    return lines
