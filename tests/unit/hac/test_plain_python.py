"""The kernels as plain Python, which a debugger can follow (NUMBA_DISABLE_JIT=1)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
FILES = (
    "cpu/simd",
    "cpu/test_merge_rules.py",
    "cpu/test_nn_chain.py",
    "test_memory.py",
    "graph/test_constraints.py",
)
SHORT = "not (lowest_of_its_time or greedy_oracle) or (random and float32) or huge_values"


def test_kernels_pass_a_part_of_their_tests_without_compilation() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", SHORT]
    run = subprocess.run(
        [*command, *(str(HERE / name) for name in FILES)],
        cwd=HERE.parents[2],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0 and " passed" in run.stdout, run.stdout + run.stderr
    assert " skipped" in run.stdout, "the variable did not reach the tests"
