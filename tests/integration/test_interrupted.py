"""Ctrl-C: one message, exit code 130, nothing marked as failed; the same command goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiment_runs import ROOT, arguments, command, environment, result, run_here

MESSAGE = "Interrupted. The same command goes on from here."
ENDLESS = ("trainer.max_epochs=1000000", "recipe.tolerance=0")


def interrupt(words: list[str], folder: Path, log_file: str = "stderr.txt") -> tuple[int, str]:
    """Press Ctrl-C, which all processes of a terminal get, a second after training is announced.

    Args:
        words: the command.
        folder: for what it prints.
        log_file: file below the folder where training is announced.

    Returns:
        Exit code and what was printed on stderr.
    """
    log, announced = folder / "stderr.txt", folder / log_file
    with log.open("w") as stderr:
        process = subprocess.Popen(
            words,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env=environment(),
            start_new_session=True,
            # A shell's background jobs ignore Ctrl-C, and so would what they start.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        try:
            deadline = time.monotonic() + 120
            while not (announced.exists() and "training " in announced.read_text()):
                assert process.poll() is None and time.monotonic() < deadline, log.read_text()
                time.sleep(0.05)
            time.sleep(1.0)
            os.killpg(process.pid, signal.SIGINT)
            process.wait(60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return process.returncode, log.read_text()


def test_a_single_run(tmp_path: Path) -> None:
    run_here(tmp_path, "objective=exp_alpha")
    words = command(*arguments(tmp_path, "objective=mst", "split=[0,1]", *ENDLESS))
    code, shown = interrupt(words, tmp_path)
    assert code == 130, shown
    assert shown.splitlines()[-1] == MESSAGE
    assert "Traceback" not in shown
    assert result(tmp_path, "exp_alpha", 0)["status"] == "done"
    assert len(list((tmp_path / "outputs").rglob("result.json"))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_a_sweep(tmp_path: Path, launcher: str) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    chosen = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"] if launcher == "joblib" else []
    words = arguments(tmp_path, "objective=exp_alpha,mst", *ENDLESS, *chosen)
    code, shown = interrupt(command("-m", *words), tmp_path)
    assert code == 130, shown
    assert MESSAGE in shown.splitlines() and "FAILED" not in shown
    assert not list((tmp_path / "outputs").rglob("result.json"))
    assert not (tmp_path / "outputs" / ".sweeps").exists()


@pytest.mark.slow
def test_reproduce_ends_its_workers(tmp_path: Path) -> None:
    words = [
        *(sys.executable, "-m", "supclust", "reproduce", "rexa", "--splits", "2"),
        *("--conf", str(ROOT / "conf"), "--part", "grid"),
        *("--outputs", str(tmp_path / "outputs"), "--data", str(tmp_path / "none")),
        *("--set", "dataset.source=stand-in", "--set", f"paths.cache={tmp_path / 'cache'}"),
        *(word for setting in ENDLESS for word in ("--set", setting)),
    ]
    code, shown = interrupt(words, tmp_path, "outputs/reproduction.log")
    assert code == 130, shown
    assert shown.splitlines()[-1] == MESSAGE and "Traceback" not in shown
    assert not list((tmp_path / "outputs").rglob("result.json"))
