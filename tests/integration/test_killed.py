"""Processes that are killed at any step: nothing is lost, refused or left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torture.saves import SCENARIOS

TESTS = Path(__file__).parents[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks the processes to kill")
@pytest.mark.parametrize("name", SCENARIOS)
def test_kill_at_every_step(name: str) -> None:
    # In a process of its own: a fork must not copy locks that threads of this one hold.
    done = subprocess.run(
        [sys.executable, "-m", "torture.saves", name],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 5  # steps at which it was killed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks the processes to kill")
@pytest.mark.timeout(300)
def test_a_short_campaign_finds_nothing() -> None:
    """A few cases of the parts of ``make torture``."""
    done = subprocess.run(
        [sys.executable, "-m", "torture", "--short"],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("| 0 |") >= 6
