"""The end of a sweep: what is said of results, failures and jobs that vanished."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from experiment_runs import composed
from supclust.data.files import write_json
from supclust.experiment import run
from supclust.experiment.checks import interrupted
from supclust.experiment.config import Settings, plain
from supclust.experiment.job import Outcome
from supclust.experiment.progress import JobProgress
from supclust.experiment.run import SweepCallback
from supclust.experiment.sweep import Sweep


def job(outputs: Path, number: int, *more: str) -> Settings:
    config = plain(composed(f"paths.outputs={outputs}", "split=[0,1]", *more))
    return Settings.from_config(config, multirun=True, job_number=number)


def finish(settings: Settings, split: int, score: float) -> dict[str, Any]:
    scores = {"dendrogram_purity": score, "pairwise_f1": score}
    result = {
        **{"status": "done", "dataset": "faces", "source": "real", "seed": 0},
        **{"objective": settings.objective, "split": split, "config_hash": "", "config": {}},
        "linkages": {"exp": {"alpha": 0.0, "threshold": 1.0, "dev": scores, "test": scores}},
    }
    write_json(settings.result_path(split), result)
    return result


@pytest.fixture
def sweep(tmp_path: Path) -> Sweep:
    made = Sweep(tmp_path, "id")
    made.start()
    return made


def test_a_good_sweep_is_a_table_and_exit_code_0(tmp_path: Path, sweep: Sweep) -> None:
    for number, objective in enumerate(("mst", "best")):
        settings = job(tmp_path, number, f"objective={objective}")
        results = [finish(settings, split, 0.5 + split / 10) for split in (0, 1)]
        sweep.report(settings, Outcome(results=results, trained=2 - number, skipped=number))
    sweep.n_jobs = 2
    text, code, usage_errors = sweep.summarise()
    assert code == 0 and usage_errors == [] and "FAILED" not in text
    assert "55.0 ± 7.1" in text
    assert "results: 4, of them trained now 3, there already 1" in text
    assert (tmp_path / "summary.csv").read_text().count("\n") == 1 + 2 * 2
    sweep.stop()
    assert not (tmp_path / ".sweeps").exists()


def test_failures_are_listed_by_reason_and_missing_jobs_are_counted(
    tmp_path: Path, sweep: Sweep
) -> None:
    settings = job(tmp_path, 0)
    results = [finish(settings, 0, 0.5)]
    outcome = Outcome(results=results, failures={1: "TrainingDiverged: at once"}, trained=1)
    sweep.report(settings, outcome)
    sweep.report(job(tmp_path, 10, "seed=1"), Outcome(failures={0: "X: y", 1: "X: y"}))
    sweep.n_jobs = 3
    text, code, usage_errors = sweep.summarise()
    assert code == 1 and usage_errors == []
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
    sweep: Sweep,
    mistakes: list[str | None],
    expected: int,
    code: int,
) -> None:
    for number, mistake in enumerate(mistakes):
        failed = Outcome(failures={0: str(mistake)}, mistake=mistake)
        sweep.report(job(tmp_path, number, f"seed={number}"), failed)
    good = job(tmp_path, expected, f"seed={expected}")
    sweep.report(good, Outcome(results=[finish(good, 0, 0.5)], trained=1))
    sweep.n_jobs = expected + 1
    summary = sweep.summarise()
    assert summary.code == code
    assert summary.usage_errors == ([NO_FILE, NO_COLUMN] if code == 2 else [])


def test_progress_is_that_of_the_running_jobs(tmp_path: Path, sweep: Sweep) -> None:
    sweep.n_jobs = 3
    assert sweep.progress() == (0.0, "jobs 0/3")
    words = "training: epoch 5/10, 12/50 splits"
    JobProgress(sweep.progress_path(0)).write("training", 0.5, words)
    assert sweep.progress() == (0.35, f"jobs 0/3, {words}")
    JobProgress(sweep.progress_path(1)).write("evaluation", 0.0, "evaluation: 0/50 splits")
    assert sweep.progress() == (pytest.approx(1.2), "jobs 0/3")
    sweep.report(job(tmp_path, 0), Outcome())
    assert sweep.progress() == (1.85, "jobs 1/3, evaluation: 0/50 splits")
    sweep.n_jobs = 1
    assert sweep.progress()[1] == "evaluation: 0/50 splits"


def ctrl_c() -> None:
    raise KeyboardInterrupt


def ctrl_c_while_omegaconf_sets_flags() -> None:
    config = OmegaConf.create({"flags": {"of": "copies"}})
    OmegaConf.set_struct(config, True)
    try:
        raise KeyboardInterrupt
    finally:
        config.missing = 1


@pytest.mark.parametrize("job_main", [ctrl_c, ctrl_c_while_omegaconf_sets_flags])
def test_an_interrupted_sweep_says_nothing_of_failures_and_leaves_no_reports(
    job_main: Callable[[], None],
    tmp_path: Path,
    sweep: Sweep,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    callback = SweepCallback()
    callback.sweep = sweep
    monkeypatch.setattr(run, "_running", [callback])
    monkeypatch.setenv("HYDRA_FULL_ERROR", "0")  # which launch() sets
    with pytest.raises(SystemExit) as stopped:
        run.launch(job_main)
    assert stopped.value.code == 130
    assert capsys.readouterr() == ("", "Interrupted. The same command goes on from here.\n")
    assert not (tmp_path / ".sweeps").exists() and run._running == []


def test_errors_that_are_each_others_cause_are_no_ctrl_c() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__context__ = second, first
    assert not interrupted(first)


def test_another_sweep_keeps_its_reports(tmp_path: Path, sweep: Sweep) -> None:
    other = Sweep(tmp_path, "other")
    other.start()
    other.report(job(tmp_path, 0), Outcome())
    sweep.stop()
    assert (other.folder / "0.json").is_file()
