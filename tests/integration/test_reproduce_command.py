"""`supclust reproduce`: it goes on where it was, publishes, and its workers end with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from experiment_runs import ROOT, environment
from supclust.cli import main as cli
from supclust.experiment import reproduction, reproduction_plan
from supclust.experiment.results_page import filled


def words(folder: Path, *more: str) -> list[str]:
    """On stand-ins, with two epochs."""
    return [
        *("reproduce", "rexa", "--chunk", "1", "--conf", str(ROOT / "conf")),
        *("--outputs", str(folder / "outputs"), "--data", str(folder / "none")),
        *("--set", "dataset.source=stand-in", "--set", "trainer.max_epochs=2"),
        *("--set", f"paths.cache={folder / 'cache'}", "--part", "grid", *more),
    ]


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two objectives, and the worker is a thread: starting processes would take longer."""
    import numba
    import torch

    before = torch.get_num_threads(), numba.get_num_threads()
    monkeypatch.setattr(reproduction_plan, "OBJECTIVES", ("mst", "exp_alpha"))
    monkeypatch.setattr(reproduction, "make_pool", lambda jobs, log: ThreadPoolExecutor(1))
    yield
    torch.set_num_threads(before[0])
    numba.set_num_threads(before[1])


@pytest.mark.usefixtures("in_this_process")
def test_it_goes_on_where_it_was_and_publishes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words(tmp_path, "--splits", "1", "--check")) == 0  # rexa has no bounds
    first = capsys.readouterr()
    assert first.err.count("rexa/exp_alpha/all/0-0 took") == 1
    assert "[2/2]" in first.err and " left" in first.err
    assert "rexa [STAND-IN" in first.out
    docs = tmp_path / "docs"
    docs.mkdir()
    page = "By hand.\n<!-- begin paper -->\nOLD\n<!-- end paper -->\n<!-- begin runs -->\n"
    (docs / "results.md").write_text(page + "<!-- end runs -->\nThe end.\n")

    assert cli.main(words(tmp_path, "--splits", "2", "--publish", str(docs))) == 0
    second = capsys.readouterr()
    assert "/all/0-0 took" not in second.err  # found done
    assert second.err.count("/all/1-1 took") == 2
    record = json.loads((tmp_path / "outputs" / "reproduction.json").read_text())
    walls = [session["wall_seconds"]["rexa/grid"] for session in record["sessions"]]
    assert len(walls) == 2
    assert record["stages"]["rexa/grid"]["wall_seconds"] == pytest.approx(sum(walls), abs=0.2)
    assert record["stages"]["rexa/grid"]["pieces"] == 4
    assert not (tmp_path / "outputs" / ".sweeps").exists()

    text = (docs / "results.md").read_text()
    assert text.startswith("By hand.\n") and text.endswith("The end.\n") and "OLD" not in text
    assert "| Exp-alpha |" in text and "| rexa | 2 |" in text
    assert filled(text, docs / "results") == text
    published = json.loads((docs / "results" / "rexa.json").read_text())
    assert published["source"] == ["stand-in"] and published["splits"] == 2


@pytest.mark.usefixtures("in_this_process")
def test_what_fails_is_named_and_the_rest_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words(tmp_path, "--splits", "1", "--set", "recipe.lr=1e30")) == 1
    shown = capsys.readouterr()
    assert "FAILED rexa/exp_alpha/all/0-0: split 0: TrainingDiverged" in shown.err


@pytest.mark.slow
def test_workers_end_with_a_killed_parent_and_the_next_call_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "supclust.cli", *words(tmp_path, "--splits", "2")]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()
    )
    outputs = tmp_path / "outputs"
    deadline = time.monotonic() + 300
    while not list(outputs.rglob("result.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert workers
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert not alive
    assert 0 < len(list(outputs.rglob("result.json"))) < 16
    again = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
    assert again.returncode == 0, again.stderr
    assert len(list(outputs.rglob("result.json"))) == 16
