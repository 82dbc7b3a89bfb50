"""Commands and record of a reproduction, without training anything."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from supclust.cli import main as cli
from supclust.experiment import reproduction
from supclust.experiment.provenance import RECORD_FILE, commit, machine, versions
from supclust.experiment.reproduction import Options, commands, reproduce

ROOT = Path(__file__).parents[3]


def options(folder: Path, **more: object) -> Options:
    return Options(ROOT / "conf", folder / "data", folder, **more)  # type: ignore[arg-type]


def test_a_part_is_one_sweep_of_the_template_in_chunks_of_splits(tmp_path: Path) -> None:
    [grid] = commands("faces", "grid", options(tmp_path, splits=5, chunk=2, overrides=("a=1",)))
    assert grid[:4] == [sys.executable, "-m", "supclust", "train"]
    assert grid[-4:] == ["dataset=faces", "split=[0,1],[2,3],[4]", "linkage=all", "a=1"]
    cuts, random = commands("faces", "top_down", options(tmp_path, splits=3))
    assert cuts[-3:] == ["dataset=faces", "split=[0,1,2]", "linkage=rsc"]
    # A random tree does not depend on the model: one objective is enough.
    assert random[-2:] == ["linkage=random", "objective=exp_alpha"]


def run_with(monkeypatch: pytest.MonkeyPatch, sweep: Callable[[list[str]], int]) -> list[list[str]]:
    """Replace ``train.py`` by a function from its command line to an exit code."""
    called: list[list[str]] = []

    def run_sweep(command: list[str]) -> int:
        called.append(command)
        return sweep(command)

    monkeypatch.setattr(reproduction, "run_sweep", run_sweep)
    return called


def test_wall_times_add_up_over_sessions_that_did_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def sweep(command: list[str]) -> int:
        now[0] += 30
        result = tmp_path / "faces" / str(now[0]) / "result.json"
        if now[0] < 250:
            result.parent.mkdir(parents=True)
            result.write_text("{}")
        return int(now[0] == 130)  # jobs of the first sweep failed

    called = run_with(monkeypatch, sweep)
    assert reproduce(["faces"], ["grid", "top_down"], options(tmp_path)) == 1
    assert len(called) == 3
    assert reproduce(["faces"], ["grid"], options(tmp_path, overrides=("seed=1",))) == 0
    assert reproduce(["faces"], ["grid"], options(tmp_path)) == 0  # 250: all results were there
    text = (tmp_path / RECORD_FILE).read_text()
    record = json.loads(text)
    assert record["stages"] == {
        "faces/grid": {"wall_seconds": 60.0},
        "faces/top_down": {"wall_seconds": 60.0},
    }
    assert [s["overrides"] for s in record["sessions"]] == [[], ["seed=1"]]
    assert set(record["sessions"][0]["versions"]) >= {"python", "supclust", "torch"}
    assert str(tmp_path) not in text and str(ROOT) not in text


@pytest.mark.parametrize("code", [2, 130, 143])
def test_wrong_usage_and_ctrl_c_end_it_at_once(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = run_with(monkeypatch, lambda command: code)
    assert reproduce(["faces", "rexa"], ["grid"], options(tmp_path)) == code
    assert len(called) == 1
    assert not (tmp_path / RECORD_FILE).exists()


# Starts a worker, as a launcher does; each prints a line once it is up: Python may swallow a SIGINT
# while it starts.
SWEEP = """
import subprocess, sys, time
work = "import time; print('worker', flush=True); time.sleep(60)"
worker = subprocess.Popen([sys.executable, "-c", work])
print("sweep", flush=True)
time.sleep(60)
"""
RUN = """
import sys
from supclust.experiment.reproduction import run_sweep
sys.exit(run_sweep(sys.argv[1:]))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_to_the_command_alone_ends_the_sweep_and_its_workers(
    number: signal.Signals, code: int
) -> None:
    command = [sys.executable, "-c", RUN, sys.executable, "-c", SWEEP]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        started = [process.stdout.readline().strip() for _ in range(2)]
        assert sorted(started) == ["sweep", "worker"]
        process.send_signal(number)
        # The pipe closes when the last process that writes to it has ended.
        process.communicate(timeout=30)
        assert process.returncode == code


# The signal arrives while the sweep is being started.
RUN_INTERRUPTED = """
import os, subprocess, sys
from supclust.experiment import reproduction
start = subprocess.Popen
def start_interrupted(*words, **options):
    process = start(*words, **options)
    os.kill(os.getpid(), int(sys.argv[1]))
    return process
subprocess.Popen = start_interrupted
sys.exit(reproduction.run_sweep([sys.executable, "-c", "import time; time.sleep(60)"]))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_the_sweep_starts_ends_it(number: signal.Signals, code: int) -> None:
    command = [sys.executable, "-c", RUN_INTERRUPTED, str(int(number))]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.communicate(timeout=30)  # the pipe closes when the sweep has ended, too
        assert process.returncode == code


def test_provenance_names_commit_machine_and_versions(tmp_path: Path) -> None:
    assert machine()["cores"] >= 1 and machine()["processor"]
    assert set(versions()) >= {"python", "supclust", "torch", "numpy", "numba"}
    assert commit(tmp_path) is None
    found = commit(ROOT)
    assert found is None or len(found.rstrip("+")) == 40


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["mnist"], "data sets are faces, aminer, rexa, gum_coref; received 'mnist'"),
        (["faces", "--splits", "0"], "--splits must be at least 1; received 0"),
        (["faces", "--conf", "nowhere/conf"], "there is no config.yaml in nowhere/conf"),
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
