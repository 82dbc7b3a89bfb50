"""The end of a sweep: what is said of results, failures and jobs that vanished."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiment_runs import composed
from supclust.data.files import write_json
from supclust.experiment import run
from supclust.experiment.config import Settings, plain
from supclust.experiment.job import Outcome
from supclust.experiment.job_progress import JobProgress
from supclust.experiment.sweep import (
    SweepBar,
    SweepCallback,
    SweepReports,
    conclude,
    label,
    running_sweeps,
)


def job(outputs: Path, number: int, *more: str) -> Settings:
    config = plain(composed(f"paths.outputs={outputs}", "split=[0,1]", *more))
    return Settings.from_config(config, multirun=True, job_number=number)


def finish(settings: Settings, split: int, score: float) -> dict[str, Any]:
    scores = {"dendrogram_purity": score, "pairwise_f1": score}
    result = {
        **{"status": "done", "dataset": "faces", "source": "real", "seed": 0},
        **{"objective": settings.objective, "split": split, "config_hash": "", "config": {}},
        "linkages": {"exp": {"test": scores}},
    }
    write_json(settings.result_path(split), result)
    return result


@pytest.fixture
def reports(tmp_path: Path) -> SweepReports:
    made = SweepReports(tmp_path, "id")
    made.open()
    return made


def test_a_good_sweep_is_a_table_and_exit_code_0(tmp_path: Path, reports: SweepReports) -> None:
    for number, objective in enumerate(("mst", "best")):
        settings = job(tmp_path, number, f"objective={objective}")
        results = [finish(settings, split, 0.5 + split / 10) for split in (0, 1)]
        reports.add(settings, Outcome(results=results, trained=2 - number, skipped=number))
    text, code, mistakes = conclude(reports, 2)
    assert code == 0 and mistakes == [] and "FAILED" not in text
    assert "55.0 ± 7.1" in text
    assert "results: 4, of them trained now 3, there already 1" in text
    assert (tmp_path / "summary.csv").read_text().count("\n") == 1 + 2 * 2
    reports.remove()
    assert not (tmp_path / ".sweeps").exists()


def test_failures_are_listed_by_reason_and_missing_jobs_are_counted(
    tmp_path: Path, reports: SweepReports
) -> None:
    settings = job(tmp_path, 0)
    results = [finish(settings, 0, 0.5)]
    outcome = Outcome(results=results, failures={1: "TrainingDiverged: at once"}, trained=1)
    reports.add(settings, outcome)
    reports.add(job(tmp_path, 10, "seed=1"), Outcome(failures={0: "X: y", 1: "X: y"}))
    text, code, mistakes = conclude(reports, 3)
    assert code == 1 and mistakes == []
    assert "FAILED (3):" in text
    assert "faces/exp_alpha/all/seed-0/splits-0,1 (split 1): TrainingDiverged: at once" in text
    assert "seed-1/splits-0,1 (split 0, 1): X: y" in text
    assert "1 of 3 jobs ended without a report" in text
    assert "50.0" in text  # the table of what was finished


NO_FILE, NO_COLUMN = "no such file. Correct dataset.path", "no column. Correct dataset.label"


@pytest.mark.parametrize(
    ("mistakes", "expected", "code"),
    [
        ([NO_FILE, NO_FILE, NO_COLUMN], 3, 2),
        ([NO_FILE, None, NO_FILE], 3, 1),  # one failed by itself
        ([NO_FILE, NO_FILE], 3, 1),  # one vanished
    ],
)
def test_the_users_mistakes_are_exit_code_2(
    tmp_path: Path,
    reports: SweepReports,
    mistakes: list[str | None],
    expected: int,
    code: int,
) -> None:
    for number, mistake in enumerate(mistakes):
        failed = Outcome(failures={0: str(mistake)}, mistake=mistake)
        reports.add(job(tmp_path, number, f"seed={number}"), failed)
    good = job(tmp_path, expected, f"seed={expected}")
    reports.add(good, Outcome(results=[finish(good, 0, 0.5)], trained=1))
    found = conclude(reports, expected + 1)
    assert found.code == code
    assert found.mistakes == ([NO_FILE, NO_COLUMN] if code == 2 else [])


def test_progress_is_that_of_the_one_job_at_work(tmp_path: Path, reports: SweepReports) -> None:
    assert reports.progress() == (0.0, "")
    words = "training: epoch 5/10, 12/50 splits"
    JobProgress(reports.progress_path(0)).note("training", 0.5, words)
    assert reports.progress() == (0.35, words)
    assert label(1, 0, words) == words
    assert label(3, 1, words) == f"jobs 1/3, {words}"
    JobProgress(reports.progress_path(1)).note("evaluation", 0.0, "evaluation: 0/50 splits")
    assert reports.progress() == (pytest.approx(1.2), "")
    assert label(3, 1, "") == "jobs 1/3"
    reports.add(job(tmp_path, 0), Outcome())
    assert reports.progress() == (1.85, "evaluation: 0/50 splits")


def test_an_interrupted_sweep_says_nothing_of_failures_and_leaves_no_reports(
    tmp_path: Path,
    reports: SweepReports,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    sweep = SweepCallback()
    sweep.reports, sweep.bar, sweep.expected = reports, SweepBar(reports, 2), 2
    monkeypatch.setattr("supclust.experiment.sweep._running", [sweep])
    monkeypatch.setenv("HYDRA_FULL_ERROR", "0")  # which launch() sets
    with pytest.raises(SystemExit) as stopped:
        run.launch(interrupted)
    assert stopped.value.code == 130
    assert capsys.readouterr() == ("", "Interrupted. The same command goes on from here.\n")
    assert not (tmp_path / ".sweeps").exists() and not running_sweeps()


def test_another_sweep_keeps_its_reports(tmp_path: Path, reports: SweepReports) -> None:
    other = SweepReports(tmp_path, "other")
    other.open()
    other.add(job(tmp_path, 0), Outcome())
    reports.remove()
    assert other.count() == 1
