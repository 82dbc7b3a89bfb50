"""Progress of a job, written for a sweep, and the estimate of the remaining time."""

from __future__ import annotations

from pathlib import Path

import pytest

from supclust.experiment import job_progress
from supclust.experiment.job_progress import JobProgress, read_progress
from supclust.experiment.meter import Meter


class Clock:
    """A clock that a test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("time.monotonic", lambda: self.now)


def test_a_job_tells_how_far_it_is_at_most_once_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    progress = JobProgress(tmp_path / f"3{job_progress.SUFFIX}")
    progress.note("training", 0.5, "epoch 5/10, 0/50 splits")
    progress.note("training", 0.9)
    assert read_progress(tmp_path) == {3: (0.35, "epoch 5/10, 0/50 splits")}
    clock.now += 2
    progress.note("evaluation", 1.0)
    (tmp_path / f"4{job_progress.SUFFIX}").write_text("")
    assert read_progress(tmp_path) == {3: (1.0, "")}
    JobProgress(None).note("training", 0.5)
    gone = JobProgress(tmp_path / "nowhere" / "1.progress")
    gone.note("training", 0.5)  # a removed folder does not end a training
    assert gone.path is None


def test_the_estimate_is_the_speed_so_far(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)
    with Meter("pieces", 10.0) as meter:
        assert meter.times() == "0 s"
        clock.now += 110
        meter.update(0.4)
        assert meter.times() == "1 min 50 s"  # too early to tell
        clock.now += 10
        meter.update(2.0)
        assert meter.times() == "2 min 0 s, about 8 min 0 s left"
        meter.update(2.0, total=4.0)
        assert meter.times() == "2 min 0 s, about 2 min 0 s left"
        meter.line("done [1/2] with [brackets]")
    assert "done [1/2] with [brackets]\n" in capsys.readouterr().err
