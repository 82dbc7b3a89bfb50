"""Progress: the file that a sweep reads, the estimate of the time left, the bar of a training."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from supclust.experiment.progress import (
    SUFFIX,
    JobProgress,
    ProgressBar,
    duration,
    epoch_lines,
    epoch_shares,
    progress_lines,
    read_progress,
    time_left,
    training_bar,
)


class Clock:
    """A clock that a test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("time.monotonic", lambda: self.now)


def test_a_job_tells_how_far_it_is_at_most_once_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    progress = JobProgress(tmp_path / f"3{SUFFIX}")
    progress.write("training", 0.5, "epoch 5/10, 0/50 splits")
    progress.write("training", 0.9)
    assert read_progress(tmp_path) == {3: (0.35, "epoch 5/10, 0/50 splits")}
    clock.now += 2
    progress.write("evaluation", 1.0)
    (tmp_path / f"4{SUFFIX}").write_text("")
    assert read_progress(tmp_path) == {3: (1.0, "")}
    JobProgress(None).write("training", 0.5)
    gone = JobProgress(tmp_path / "nowhere" / "1.progress")
    gone.write("training", 0.5)  # a removed folder does not end a training
    assert gone.path is None


def test_the_estimate_is_the_speed_so_far() -> None:
    assert time_left(110.0, 0.4, 10.0) is None  # too early
    assert time_left(120.0, 2.0, 10.0) == 480.0
    assert [duration(seconds) for seconds in (0, 110, 480)] == ["0 s", "1 min 50 s", "8 min 0 s"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal; not a fixture, since pytest replaces stderr after these."""
    for name, value in {"TERM": "xterm", "COLUMNS": "200", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    return stream


def test_a_bar_has_label_time_and_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, clock = terminal(monkeypatch), Clock(monkeypatch)
    with ProgressBar("pieces", 10.0) as bar:
        clock.now += 120
        bar.update(2.0, label="pieces [1/2]")
    shown = stream.getvalue()
    assert "pieces [1/2]" in shown and "0:00:00" in shown and "about 8 min 0 s left" in shown
    assert shown.endswith("\x1b[2K")  # erased


TRAINER = SimpleNamespace(current_epoch=12, max_epochs=200)
EPOCH = {"train": torch.tensor([3.0, torch.nan]), "dev": torch.tensor([0.5, torch.nan])}
MODULE = SimpleNamespace(
    history=[{**EPOCH, "alpha": torch.tensor([0.25, 0.75])}],
    splits=(0, 1),
    stopping=SimpleNamespace(active=torch.tensor([True, False])),
)


def test_a_training_shows_epoch_and_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    with training_bar() as (callback,):
        callback.on_train_epoch_end(TRAINER, MODULE)  # type: ignore[arg-type]
    assert (
        "training: epoch 13 of at most 200  train loss 3  dev loss 0.5  alpha 0.500"
        in stream.getvalue()
    )


def test_nothing_is_shown_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    with training_bar() as callbacks:
        assert callbacks == []
    with ProgressBar("pieces", 10.0) as bar:
        bar.update(5.0)
    assert capsys.readouterr().err == ""


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not happen within five seconds")


def test_a_log_has_a_line_every_so_many_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    clock = Clock(monkeypatch)
    with progress_lines("pairs", every=0.01) as report:
        clock.now += 40
        wait_for(lambda: "working for 40 s\n" in stream.getvalue())  # before the first report
        report(100, 500)  # of which 100 were done before
        clock.now += 30
        report(200, 500)
        wait_for(
            lambda: "pairs: 200 of 500, 1 min 10 s, about 1 min 30 s left" in stream.getvalue()
        )
    text = stream.getvalue()
    threading.Event().wait(0.05)
    assert stream.getvalue() == text  # no line after the end


def test_a_closed_log_does_not_stop_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    before = threading.active_count()
    with progress_lines("pairs", every=0.001) as report:
        wait_for(lambda: threading.active_count() == before)  # the writer has given up
        report(1, 2)


def test_lines_come_every_so_many_epochs_and_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    callback = epoch_lines(every=2)
    for epoch in range(5):
        trainer = SimpleNamespace(current_epoch=epoch, max_epochs=5)
        callback.on_train_epoch_end(trainer, MODULE)  # type: ignore[arg-type]
    callback.on_train_end(SimpleNamespace(current_epoch=5, max_epochs=5), MODULE)  # type: ignore[arg-type]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["epoch 2/5", "epoch 4/5", "epoch 5/5"]


def test_epochs_and_stopped_splits_are_written_for_the_sweep(tmp_path: Path) -> None:
    callback = epoch_shares(JobProgress(tmp_path / f"0{SUFFIX}"), "training")
    callback.on_train_epoch_end(TRAINER, MODULE)  # type: ignore[arg-type]
    assert read_progress(tmp_path) == {0: (0.35, "training: epoch 13/200, 1/2 splits")}
