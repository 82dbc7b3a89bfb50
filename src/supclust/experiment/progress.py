"""Progress of long work: a bar at a terminal, lines on request, a file that a sweep reads."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pytorch_lightning as pl

ESTIMATE_FROM = 0.05  # share of the work; before, start-up and the first pieces mislead
SUFFIX = ".progress"
WRITE_SECONDS = 1.0
# Begin and end of each stage, as shares of a job's time; measured roughly, for a bar.
STAGES = {"training": (0.0, 0.7), "alpha": (0.7, 0.85), "evaluation": (0.85, 1.0)}


class ProgressBar:
    """A bar at a terminal, with the elapsed time and an estimate of the rest; else nothing.

    Args:
        label: what is counted, as in ``jobs``.
        total: amount of work, in any unit.
    """

    def __init__(self, label: str, total: float) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self.total = total
        self.start = time.monotonic()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            *(BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[left]}")),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._progress.add_task(label, total=total, left="")

    def __enter__(self) -> ProgressBar:
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
        self.total = self.total if total is None else total
        if done == 0:
            self.start = time.monotonic()
        left = time_left(time.monotonic() - self.start, done, self.total)
        self._progress.update(
            self._task,
            description=label,
            completed=done,
            total=max(self.total, 1e-9),
            left="" if left is None else f"about {duration(left)} left",
        )


@contextmanager
def progress_lines(label: str, every: float = 10.0) -> Iterator[Callable[[float, float], None]]:
    """A function of work done and in all; a line on stderr says every 10 s how far it is.

    The time left is estimated by the speed since the first report: earlier work was of another
    kind.
    """
    start = time.monotonic()
    reports: list[tuple[float, float, float]] = []  # time, done, in all: the first and the last
    ended = threading.Event()

    def report(done: float, total: float) -> None:
        reports[min(1, len(reports)) :] = [(time.monotonic(), done, total)]

    def line() -> str:
        elapsed = duration(time.monotonic() - start)
        if not reports:
            return f"working for {elapsed}"
        (began, before, _), (now, done, total) = reports[0], reports[-1]
        left = time_left(now - began, done - before, total - before)
        rest = "" if left is None else f", about {duration(left)} left"
        return f"{label}: {done:,.0f} of {total:,.0f}, {elapsed}{rest}"

    def write() -> None:
        with suppress(OSError):  # stderr was closed: the work goes on
            while not ended.wait(every):
                print(line(), file=sys.stderr, flush=True)

    writer = threading.Thread(target=write, name="supclust-progress", daemon=True)
    writer.start()
    try:
        yield report
    finally:
        ended.set()
        writer.join()


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


@contextmanager
def quiet_loggers(*names: str) -> Iterator[None]:
    """Let only errors of these loggers through, inside the block."""
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


# -- from a job to its sweep --------------------------------------------------------------------


class JobShare(NamedTuple):
    """How much of a job is done.

    Attributes:
        share: of its work, 0 to 1.
        words: the same for a person, as in ``training: epoch 120/5000, 12/50 splits``.
    """

    share: float
    words: str


class JobProgress:
    """Writes the share of a job that is done to a small file, at most once a second.

    Args:
        path: of the file; ``None``: nothing is written.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._written = 0.0

    def write(self, stage: str, share: float, words: str = "") -> None:
        """Write that a share, 0 to 1, of a stage is done."""
        now = time.monotonic()
        if self.path is None or now - self._written < WRITE_SECONDS:
            return
        self._written = now
        begin, end = STAGES[stage]
        done = begin + (end - begin) * min(max(share, 0.0), 1.0)
        draft = self.path.with_name(f".{self.path.name}")
        try:
            draft.write_text(f"{done:.4f} {words}")
            draft.replace(self.path)
        except OSError:
            self.path = None  # a full disk or a removed folder must not end a training


def read_progress(folder: Path) -> dict[int, JobShare]:
    """Shares of the jobs that wrote any, by job number; half-written files are left out."""
    shares = {}
    for path in folder.glob(f"[0-9]*{SUFFIX}"):
        try:
            share, _, words = path.read_text().partition(" ")
            shares[int(path.stem)] = JobShare(float(share), words)
        except (OSError, ValueError):
            continue
    return shares


# -- callbacks of a training; Lightning is imported by the functions, other work does without it --


@contextmanager
def training_bar(shown: bool = True) -> Iterator[list[pl.Callback]]:
    """Show epoch, losses and time of a training on one line that is finally removed.

    Yields:
        Callbacks for the trainer; none if stderr is not a terminal.
    """
    if not shown or not sys.stderr.isatty():
        yield []
        return
    from pytorch_lightning.callbacks import LambdaCallback

    with ProgressBar("training", 1) as bar:

        def show(trainer: pl.Trainer, module: pl.LightningModule) -> None:
            epoch, most = trainer.current_epoch + 1, trainer.max_epochs or 1
            parts = [f"training: epoch {epoch} of at most {most}", *_values(module)]
            bar.update(epoch, most, "  ".join(parts))

        yield [LambdaCallback(on_train_epoch_end=show)]


def epoch_lines(every: int = 25) -> pl.Callback:
    """Print losses and alpha every so many epochs, and at the end."""
    from pytorch_lightning.callbacks import LambdaCallback

    def line(epoch: int, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        print("  ".join([f"epoch {epoch}/{trainer.max_epochs}", *_values(module)]), flush=True)

    def after_epoch(trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if (trainer.current_epoch + 1) % every == 0:
            line(trainer.current_epoch + 1, trainer, module)

    def at_end(trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if trainer.current_epoch % every:
            line(trainer.current_epoch, trainer, module)

    return LambdaCallback(on_train_epoch_end=after_epoch, on_train_end=at_end)


def epoch_shares(progress: JobProgress, stage: str) -> pl.Callback:
    """Write the share of epochs, or of stopped splits, to a job's file after every epoch."""
    from pytorch_lightning.callbacks import LambdaCallback

    def write(trainer: pl.Trainer, module: Any) -> None:
        epoch, most = trainer.current_epoch + 1, max(1, trainer.max_epochs or 1)
        splits = len(module.splits)
        stopped = splits - int(module.stopping.active.sum())
        words = f"{stage}: epoch {epoch}/{most}"
        words += f", {stopped}/{splits} splits" if splits > 1 else ""
        progress.write(stage, max(epoch / most, stopped / splits), words)

    return LambdaCallback(on_train_epoch_end=write)


def _values(module: Any) -> list[str]:
    """Losses and alpha after the epochs so far, means over splits."""
    if not getattr(module, "history", None):
        return []
    last = module.history[-1]
    values = [f"{kind} loss {float(last[kind].nanmean()):.4g}" for kind in ("train", "dev")]
    return values + ([f"alpha {float(last['alpha'].mean()):.3f}"] if "alpha" in last else [])
