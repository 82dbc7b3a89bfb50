"""One bar for a long piece of work, with the time it has taken and an estimate of what is left."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

ESTIMATE_FROM = 0.05  # share of the work; before, start-up and the first pieces mislead


class Meter:
    """A bar at a terminal; elsewhere nothing but the lines it is given.

    Args:
        label: what is counted, as in ``jobs``.
        total: amount of work, in any unit.
    """

    def __init__(self, label: str, total: float) -> None:
        self.label, self.total, self.done = label, total, 0.0
        self.start = time.monotonic()
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
        self._progress = Progress(
            *columns,
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._progress.add_task(label, total=total, note="")

    def __enter__(self) -> Meter:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def update(self, done: float, total: float | None = None, label: str | None = None) -> None:
        """Set the amount of work done, and the whole and the label where they have changed."""
        self.done = done
        self.total = self.total if total is None else total
        self.label = self.label if label is None else label
        self._progress.update(
            *(self._task,),
            description=self.label,
            completed=self.done,
            total=max(self.total, 1e-9),
            note=self.times(),
        )

    def line(self, text: str) -> None:
        """Print a line above the bar, or just the line where there is none."""
        if self._progress.disable:
            print(text, file=sys.stderr, flush=True)
        else:
            self._progress.console.print(text, markup=False, highlight=False)

    def times(self) -> str:
        """As in ``3 min 20 s, about 12 min 0 s left``."""
        elapsed = time.monotonic() - self.start
        left = time_left(elapsed, self.done, self.total)
        return duration(elapsed) + ("" if left is None else f", about {duration(left)} left")


def time_left(seconds: float, done: float, total: float) -> float | None:
    """Seconds left if the rest goes at the speed so far; ``None`` before 5 % are done.

    >>> time_left(30.0, 1.0, 4.0)
    90.0
    """
    if done <= 0 or done < ESTIMATE_FROM * total:
        return None
    return max(0.0, seconds * (total - done) / done)


def duration(seconds: float) -> str:
    """In the two largest units.

    >>> duration(59.6), duration(200), duration(3720)
    ('1 min 0 s', '3 min 20 s', '1 h 2 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
