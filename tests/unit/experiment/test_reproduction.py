"""Planning, timing and recording a reproduction, without training anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from supclust.cli import main as cli
from supclust.experiment import job_progress, reproduction_record
from supclust.experiment.job_progress import JobProgress, read_progress
from supclust.experiment.meter import Meter
from supclust.experiment.provenance import commit, machine, versions
from supclust.experiment.reproduction_plan import DATASETS, GRID, TOP_DOWN, plan
from supclust.experiment.reproduction_record import RECORD_FILE, Record
from supclust.objectives import OBJECTIVES

ROOT = Path(__file__).parents[3]


class Clock:
    """A clock that a test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("time.monotonic", lambda: self.now)


def test_a_plan_covers_everything_once_and_starts_with_what_takes_longest() -> None:
    stages = plan(DATASETS, splits=50, chunk=20)
    assert [(s[0].dataset, s[0].part) for s in stages] == [
        (dataset, part) for part in (GRID, TOP_DOWN) for dataset in DATASETS
    ]
    for stage in stages:
        costs = [unit.cost for unit in stage]
        assert costs == sorted(costs, reverse=True) and costs[-1] > 0
        linkages = {"all"} if stage[0].part == GRID else {"rsc", "random"}
        for linkage in linkages:
            units = [unit for unit in stage if unit.linkage == linkage]
            done = [(unit.objective, split) for unit in units for split in unit.splits]
            objectives = ("exp_alpha",) if linkage == "random" else OBJECTIVES
            assert sorted(done) == sorted((o, s) for o in objectives for s in range(50))
    names = [unit.name for stage in stages for unit in stage]
    assert len(set(names)) == len(names)
    assert "faces/mst/all/40-49" in names


def test_wall_time_and_seconds_add_up_over_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    first = Record(tmp_path, ROOT, jobs=2, overrides=[])
    first.begin("faces/grid")
    clock.now += 30
    first.finish_piece("faces/mst/all/0-24", 29.0)
    clock.now += 6  # work on the next piece, then a kill: on disk it has been noted
    first.tick()

    second = Record(tmp_path, ROOT, jobs=2, overrides=["trainer.max_epochs=3"])
    second.begin("faces/grid")
    clock.now += 50
    second.finish_piece("faces/best/all/0-24", 48.5)
    second.begin("faces/top_down")
    clock.now += 7
    second.finish_piece("faces/mst/rsc/0-24", 6.0)

    third = Record(tmp_path, ROOT, jobs=2, overrides=[])
    third.begin("faces/grid")
    clock.now += 3  # everything was there
    third.tick(force=True)
    found = json.loads((tmp_path / RECORD_FILE).read_text())
    assert found["stages"] == {
        "faces/grid": {"wall_seconds": 86.0, "worker_seconds": 77.5, "pieces": 2},
        "faces/top_down": {"wall_seconds": 7.0, "worker_seconds": 6.0, "pieces": 1},
    }
    assert [s["overrides"] for s in found["sessions"]] == [[], ["trainer.max_epochs=3"]]


def test_a_record_names_commit_machine_and_versions_but_no_place(tmp_path: Path) -> None:
    record = Record(tmp_path, ROOT, jobs=2, overrides=[])
    record.begin("faces/grid")
    record.finish_piece("faces/mst/all/0-24", 1.0)
    text = (tmp_path / RECORD_FILE).read_text()
    assert machine()["cores"] >= 1 and machine()["processor"]
    assert set(versions()) >= {"python", "supclust", "torch", "numpy", "numba"}
    assert str(tmp_path) not in text and str(ROOT) not in text
    assert commit(tmp_path) is None
    found = commit(ROOT)
    assert found is None or len(found.rstrip("+")) == 40


def test_a_damaged_record_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / RECORD_FILE).write_text("{")
    assert reproduction_record.Record(tmp_path, ROOT, 2, []).content()["sessions"] == []


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["mnist"], "data sets are faces, aminer, rexa, gum_coref; received 'mnist'"),
        (["faces", "--splits", "0"], "--splits must be at least 1; received 0"),
        (["faces", "--conf", "nowhere"], "the configuration is not at nowhere"),
    ],
)
def test_wrong_usage_is_exit_code_2(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["reproduce", *words]) == 2
    assert message in capsys.readouterr().err


def test_without_the_real_data_it_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--data", str(tmp_path / "none"), "--outputs", str(tmp_path / "out")]
    assert cli.main(["reproduce", "faces", "--conf", str(ROOT / "conf"), *words]) == 2
    assert "the real 'faces' data are not at" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
