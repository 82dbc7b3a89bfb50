"""Provenance of results: commit, machine and versions, without names of hosts, users or paths."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "numba", "pytorch-lightning")


def machine() -> dict[str, Any]:
    """Processor, cores available to this process, memory in GiB, system."""
    return {
        "processor": _processor(),
        "cores": _cores(),
        "memory_gib": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Of Python, supclust and the packages that numbers depend on."""
    import supclust

    found = {"python": platform.python_version(), "supclust": supclust.__version__}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def commit(folder: Path) -> str | None:
    """Commit of a Git checkout, with ``+`` if the code has changes; ``None`` elsewhere."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True,
            text=True,
            check=True,
            timeout=20,
        )
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "conf")
        return git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None


@cache
def source_commit() -> str | None:
    """`commit` of the checkout that supclust is imported from; ``None`` for other installations.

    Read once per process, because later commits do not change the imported code.
    """
    package = Path(__file__).resolve().parents[1]
    root = package.parents[1]
    # The environment that supclust is installed in may lie inside another repository.
    if package.parent.name != "src" or not (root / ".git").exists():
        return None
    return commit(root)


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    lines = described.read_text(encoding="utf-8").splitlines() if described.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError, AttributeError):
        return None
