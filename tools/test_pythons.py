"""Install the wheel on every Python that is found and run the tests of the core there.

    python tools/test_pythons.py [3.10 3.11 ...]

Training needs torch. Where the pinned one has no wheel, the core is tested alone, visibly.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
CORE = (
    "tests/unit/test_core_install.py",
    "tests/unit/hac/cpu/test_fill.py",
    "tests/unit/hac/cpu/test_numbering.py",
    "tests/unit/metrics/test_labels.py",
)
TRAIN = ("tests/unit/losses/test_pairs.py", "tests/unit/objectives/test_stopping.py")


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
    done = subprocess.run(
        list(map(str, words)), cwd=ROOT, capture_output=True, text=True, check=False
    )
    lines = (done.stdout + done.stderr).strip().splitlines()
    return done.returncode, lines[-1] if lines else ""


def test(version: str, wheel: Path, folder: Path) -> tuple[bool, str]:
    """Whether this version passes, and a row of the table."""
    path = interpreter(version)
    if path is None:
        return True, f"{version:<6} not found"
    start = time.monotonic()
    python = folder / version / "bin" / "python"
    run(path, "-m", "venv", folder / version)
    pip = (python, "-m", "pip", "install", "--quiet", "-c", "constraints.txt")
    code, last = run(*pip, wheel, "pytest>=9", "pytest-timeout", "hypothesis")
    if code:
        return False, f"{version:<6} core FAILED to install: {last}"
    without, _ = run(*pip, "--only-binary", ":all:", f"{wheel}[train]", "pandas")
    parts = [("core", CORE)] + ([] if without else [("train", TRAIN)])
    row, passed = [], True
    for name, files in parts:
        code, last = run(
            *(python, "-m", "pytest", "-q", "--timeout", "600", "-o", "faulthandler_timeout=0"),
            *files,
        )
        passed &= code == 0
        row.append(f"{name} {'passed' if code == 0 else 'FAILED'}: {last.strip('= ')}")
    if without:
        row.append("train not tested: the pinned torch has no wheel for it")
    return passed, f"{version:<6} {'; '.join(row)} ({time.monotonic() - start:.0f} s)"


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
        results = []
        for version in sys.argv[1:] or VERSIONS:
            results.append(test(version, wheel, folder))
            print(results[-1][1], flush=True)
        return int(not all(passed for passed, _ in results))


if __name__ == "__main__":
    sys.exit(main())
