"""Real sweeps in processes of their own: tables, resumption, failures, kill -9, two at once."""

from __future__ import annotations

import csv
import os
import signal
import statistics
import subprocess
import time
from pathlib import Path

import pytest

from experiment_runs import arguments, command, environment, numbers_of, result, train_py
from supclust.data.files import files_below

# Numba's cache is that of the test session: workers would compile for half a minute otherwise.


def sweep(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return train_py("-m", *arguments(folder), *words)


def test_a_sweep_ends_with_a_table_and_a_second_one_does_only_what_is_missing(
    tmp_path: Path,
) -> None:
    words = ("objective=all_pairs,exp_alpha", "split=0,1")
    first = sweep(tmp_path, *words)
    assert first.returncode == 0, first.stderr
    assert "results: 4, of them trained now 4, there already 0" in first.stdout
    assert not (tmp_path / "outputs" / ".sweeps").exists()
    numbers = numbers_of(tmp_path)
    assert len(numbers) == 4
    _check_summary(tmp_path)

    outputs = tmp_path / "outputs" / "vectors-points"
    (outputs / "exp_alpha/all/seed-0/split-0/result.json").unlink()
    truncated = outputs / "all_pairs/all/seed-0/split-1/result.json"
    truncated.write_text(truncated.read_text()[:300])
    kept = outputs / "exp_alpha/all/seed-0/split-1/result.json"
    before = kept.stat().st_mtime_ns
    again = sweep(tmp_path, *words)
    assert again.returncode == 0, again.stderr
    assert "trained now 0, there already 2" in again.stdout
    assert kept.stat().st_mtime_ns == before
    assert numbers_of(tmp_path) == numbers

    start = children_seconds()
    third = sweep(tmp_path, *words)
    assert "trained now 0, there already 4" in third.stdout
    assert children_seconds() - start < 8


def children_seconds() -> float:
    """Processor time of child processes so far; on a busy machine the clock says little."""
    used = os.times()
    return used.children_user + used.children_system


def _check_summary(folder: Path) -> None:
    """Means and deviations recomputed from the results."""
    with (folder / "outputs" / "summary.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 2 * 4 * 2  # objectives x linkages x metrics
    for row in rows:
        scores = [
            result(folder, row["objective"], split)["linkages"][row["linkage"]]["test"]
            for split in (0, 1)
        ]
        values = [score[row["metric"]] for score in scores]
        assert float(row["mean"]) == pytest.approx(statistics.mean(values))
        assert float(row["deviation"]) == pytest.approx(statistics.stdev(values))
        assert (row["splits"], row["source"]) == ("2", "file")


def test_with_joblib_a_failing_job_is_listed_and_the_others_finish(tmp_path: Path) -> None:
    words = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "objective=exp_zero"]
    words += ["split=0", "recipe.lr=0.01,1e30", "trainer.max_epochs=5"]
    done = sweep(tmp_path, *words)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAILED (1):" in done.stdout
    assert "seed-0,recipe.lr=1e_30" in done.stdout and "TrainingDiverged" in done.stdout
    assert "exp_zero recipe.lr=0.01" in done.stdout  # the table of what was finished
    assert result(tmp_path, "exp_zero", 0, seed="0,recipe.lr=0.01")["status"] == "done"
    assert (tmp_path / "outputs" / "summary.csv").is_file()


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_a_wrong_path_is_the_users_mistake_as_in_a_single_run(
    tmp_path: Path, launcher: str
) -> None:
    words = [f"dataset.path={tmp_path / 'nowhere.csv'}", "objective=mst,best", "split=0"]
    done = sweep(tmp_path, *words, f"hydra/launcher={launcher}")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "FAILED (2):" in done.stdout
    single = train_py(*arguments(tmp_path), words[0], "split=0")
    assert single.returncode == 2
    message = [line for line in single.stderr.splitlines() if "train.py: error:" in line]
    assert len(message) == 1 and "nowhere.csv" in message[0]
    assert [line for line in done.stderr.splitlines() if "train.py: error:" in line] == message


def test_killed_in_mid_sweep_and_run_again_gives_the_numbers_of_an_undisturbed_sweep(
    tmp_path: Path,
) -> None:
    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    words = ("objective=all_pairs,exp_alpha", "split=[0,1],[2,3]")
    for folder in (killed, undisturbed):
        folder.mkdir()
        arguments(folder)
    process = subprocess.Popen(
        command("-m", *arguments(killed), *words),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
        start_new_session=True,
    )
    outputs = killed / "outputs"
    deadline = time.monotonic() + 90
    while not files_below(outputs, "result.json") and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done_before = len(list(outputs.rglob("result.json")))
    assert 0 < done_before < 8, "the sweep was to be killed in the middle"
    rerun = sweep(killed, *words)
    assert rerun.returncode == 0, rerun.stderr
    assert sweep(undisturbed, *words).returncode == 0
    assert len(numbers_of(killed)) == 8
    assert numbers_of(killed) == numbers_of(undisturbed)


def test_two_sweeps_at_once_on_one_folder_train_everything_once(tmp_path: Path) -> None:
    words = [*arguments(tmp_path), "objective=exp_minus,exp_alpha", "split=[0,1]"]
    both = [
        subprocess.Popen(
            command("-m", *words),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        for _ in range(2)
    ]
    outputs = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    trained = [int(out.split("trained now ")[1].split(",")[0]) for out, _ in outputs]
    assert sum(trained) == 4
    assert len(numbers_of(tmp_path)) == 4
    assert len(list((tmp_path / "outputs" / "trainings").glob("*/*/model.json"))) == 4


def test_the_default_of_a_sweep_is_all_splits_in_one_job(tmp_path: Path) -> None:
    done = sweep(tmp_path, "objective=exp_alpha", "linkage=average")
    assert done.returncode == 0, done.stderr
    assert "training exp_alpha: 4 splits together (0 to 3)" in done.stderr
    assert [result(tmp_path, "exp_alpha", s, "average")["split"] for s in range(4)] == [0, 1, 2, 3]
    job = tmp_path / "outputs/vectors-points/exp_alpha/average/seed-0/splits-all"
    assert (job / ".hydra" / "config.yaml").is_file()
