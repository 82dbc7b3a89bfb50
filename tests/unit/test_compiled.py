"""Compiled code that a change of the sources has outdated."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from supclust._compiled import forget_outdated


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with kernels in two folders, all compiled, and a folder without."""
    for number, name in enumerate(["a/kernel.py", "b/caller.py", "c/plain.py"]):
        source = tmp_path / name
        (source.parent / "__pycache__").mkdir(parents=True)
        source.write_text("import numba" if number < 2 else "import json")
        at(source, 100)
    for name in ["a/__pycache__/kernel.nbi", "b/__pycache__/caller.nbi"]:
        (tmp_path / name).touch()
        at(tmp_path / name, 200)
    return tmp_path


def at(path: Path, seconds: int) -> None:
    os.utime(path, (seconds, seconds))


def left(package: Path) -> list[str]:
    return sorted(path.stem for path in package.rglob("*.nbi"))


def test_everything_is_kept_while_no_kernel_changes(package: Path) -> None:
    at(package / "c/plain.py", 300)
    assert forget_outdated(package) == []
    assert left(package) == ["caller", "kernel"]


def test_a_change_outdates_callers_in_other_files(package: Path) -> None:
    at(package / "a/kernel.py", 300)
    forget_outdated(package)
    assert left(package) == []


def test_what_was_compiled_since_is_kept(package: Path) -> None:
    at(package / "a/kernel.py", 300)
    at(package / "b/__pycache__/caller.nbi", 400)
    forget_outdated(package)
    assert left(package) == ["caller"]


def test_folders_of_somebody_else_are_left_alone(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(package / "a/kernel.py", 300)
    monkeypatch.setattr(os, "access", lambda folder, mode: Path(folder).name != "__pycache__")
    assert forget_outdated(package) == []
    assert left(package) == ["caller", "kernel"]


def test_another_process_comes_first(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(package / "a/kernel.py", 300)
    listed = list(os.scandir(package / "a/__pycache__"))
    (package / "a/__pycache__/kernel.nbi").unlink()
    scan = os.scandir
    monkeypatch.setattr(
        "supclust._compiled.os.scandir",
        lambda path: nullcontext(listed) if Path(path) == package / "a/__pycache__" else scan(path),
    )
    assert forget_outdated(package) == [package / "b/__pycache__/caller.nbi"]


def test_a_package_without_compiled_code(tmp_path: Path) -> None:
    assert forget_outdated(tmp_path) == []


def test_a_changed_callee_is_compiled_again(tmp_path: Path) -> None:
    package = tmp_path / "tiny"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner/__init__.py").write_text("")
    (package / "inner/caller.py").write_text(
        "from numba import njit\nfrom tiny.inner.callee import number\n\n"
        "@njit(cache=True)\ndef answer():\n    return number() + 1\n"
    )
    code = (
        "from pathlib import Path; from supclust._compiled import forget_outdated; "
        "forget_outdated(Path('tiny')); from tiny.inner.caller import answer; print(answer())"
    )
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    for value in (1, 2):
        (package / "inner/callee.py").write_text(
            f"from numba import njit\n\n@njit\ndef number():\n    return {value}\n"
        )
        run = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
        assert run.stdout.split() == [str(value + 1)]
