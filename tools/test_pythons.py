"""Install the wheel on every Python that is found, run tests there, print a table.

    python tools/test_pythons.py [3.10 3.11 ...]

Everywhere: the tests of what needs no torch, with LightGBM and the libraries of the reports. Where
pip finds the pinned torch for CPUs alone (the one with GPU packages takes gigabytes): training too.
Exits with 1 if an installation or a test fails.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
TOOLS = ("pytest>=9", "pytest-timeout", "hypothesis", "pandas", "psutil", "jaxtyping")
CORE = (
    *("tests/unit/test_core_install.py", "tests/unit/test_kernels.py"),
    *("tests/unit/boosting/test_booster.py", "tests/unit/cut/test_partition.py"),
    *("tests/unit/hac/cpu/test_fill.py", "tests/unit/hac/cpu/test_numbering.py"),
    *("tests/unit/hac/cpu/test_prim.py", "tests/unit/hac/test_tree.py"),
    *("tests/unit/cluster/test_flat.py", "tests/unit/cluster/test_edges.py"),
    *("tests/unit/data/tables", "tests/unit/data/layouts", "tests/unit/data/records"),
    *("tests/unit/data/test_files.py", "tests/unit/metrics/test_labels.py"),
    *("tests/unit/resolve", "tests/unit/store/test_entity_store.py"),
)
TRAIN = (
    *("tests/unit/losses/test_pairs.py", "tests/unit/objectives/training/test_stopping.py"),
    *("tests/unit/experiment/test_config.py", "tests/unit/model/test_fit.py"),
)
FROM_SOURCE = ("--no-binary", "antlr4-python3-runtime")  # of Hydra; has no wheel
SECONDS = 900  # of one command, at most


def interpreter(version: str) -> str | None:
    """A Python of this version that runs: on the PATH, or below pyenv."""
    pyenv = os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))
    candidates = [shutil.which(f"python{version}")]
    candidates += sorted(glob.glob(f"{pyenv}/versions/{version}.*/bin/python"), reverse=True)
    for path in filter(None, candidates):
        code = f"import sys, venv; sys.exit(not sys.version.startswith('{version}.'))"
        if subprocess.run([path, "-c", code], capture_output=True, check=False).returncode == 0:
            return path
    return None


def run(*words: str | Path) -> tuple[int, str]:
    """Exit code and the last line of a command."""
    try:
        done = subprocess.run(
            list(map(str, words)),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return 1, f"not finished after {SECONDS} s"
    failed = re.findall(r"^(?:FAILED|ERROR) .*$", done.stdout, re.MULTILINE)
    print(*failed, sep="\n", end="\n" if failed else "", file=sys.stderr, flush=True)
    lines = (done.stdout + done.stderr).strip().splitlines()
    return done.returncode, lines[-1] if lines else ""


def pinned_torch() -> str:
    """The requirement of the pinned torch without GPU packages."""
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    [version] = re.findall(r"^torch==([^+\s]+)", pins, re.MULTILINE)
    return f"torch=={version}+cpu"


def test(version: str, wheel: Path, folder: Path) -> tuple[bool, str]:
    """Whether this version passes, and a row of the table."""
    path = interpreter(version)
    if path is None:
        return True, f"| {version} | not found | | |"
    start = time.monotonic()
    python = folder / version / "bin" / "python"
    code, last = run(path, "-m", "venv", folder / version)
    pip = (python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *FROM_SOURCE)
    pinned = (*pip, "-c", "constraints.txt")
    if not code:
        code, last = run(*pinned, f"{wheel}[resolve,report]", "lightgbm", *TOOLS)
    if code:
        return False, f"| {version} | FAILED to install: {last} | | |"
    passed, row = tests(python, CORE)
    cpu, _ = run(*pip, "--no-deps", "--dry-run", pinned_torch())
    good, trained = True, "not tested: no torch for CPUs alone"
    if cpu == 0:
        code, trained = run(*pinned, pinned_torch(), f"{wheel}[experiment]")
        if code == 0:
            good, trained = tests(python, TRAIN)
        passed &= code == 0 and good
    seconds = time.monotonic() - start
    return passed, f"| {version} | {row} | {trained} | {seconds:.0f} |"


def tests(python: Path, files: tuple[str, ...]) -> tuple[bool, str]:
    """Whether tests pass, and how many did."""
    words = ("-m", "pytest", "-q", "--timeout", "600", "-o", "faulthandler_timeout=0")
    code, last = run(python, *words, *files)
    return code == 0, f"{'' if code == 0 else 'FAILED: '}{last.strip('= ')}"


def main() -> int:
    """Build the wheel, test it everywhere, print a table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        code, last = run(
            sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, "."
        )
        if code:
            print(f"the wheel cannot be built: {last}")
            return 1
        [wheel] = folder.glob("supclust-*.whl")
        print(
            "| Python | without torch | training | seconds |\n| --- | --- | --- | ---: |",
            flush=True,
        )
        results = []
        for version in sys.argv[1:] or VERSIONS:
            results.append(test(version, wheel, folder))
            print(results[-1][1], flush=True)
        return int(not all(passed for passed, _ in results))


if __name__ == "__main__":
    sys.exit(main())
