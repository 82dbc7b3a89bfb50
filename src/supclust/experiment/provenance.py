"""Provenance of results: commit, machine and versions, without names of hosts, users or paths."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from supclust.data.files import files_below, read_json, write_json

RECORD_FILE = "reproduction.json"
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
    """Versions of Python, supclust and the packages that numbers depend on."""
    import supclust

    by_package = {"python": platform.python_version(), "supclust": supclust.__version__}
    for name in PACKAGES:
        try:
            by_package[name] = version(name)
        except PackageNotFoundError:
            continue
    return by_package


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


class Record:
    """``reproduction.json``: wall times per part and data set, summed over sessions.

    A session is one call of the command; its commit, machine and versions are kept.

    Args:
        outputs: folder of the results.
        workers: number of worker processes.
        overrides: settings that differ from the paper's.
    """

    def __init__(self, outputs: Path, workers: int, overrides: Sequence[str]) -> None:
        self.path = outputs / RECORD_FILE
        content = read_json(self.path) or {}
        self.content: dict[str, Any] = {"stages": {}, "sessions": [], **content}
        self.session: dict[str, Any] = {
            "started": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%MZ"),
            "commit": source_commit(),
            "workers": workers,
            "overrides": list(overrides),
            "machine": machine(),
            "versions": versions(),
            "wall_seconds": {},
        }

    @contextmanager
    def timed(self, dataset: str, part: str) -> Iterator[None]:
        """Add the wall time of the block, unless it left all results as they were."""
        start, before = time.monotonic(), _finished(self.path.parent, dataset)
        try:
            yield
        finally:
            if _finished(self.path.parent, dataset) != before:
                self._add(f"{dataset}/{part}", time.monotonic() - start)

    def _add(self, stage: str, seconds: float) -> None:
        if not self.session["wall_seconds"]:
            self.content["sessions"].append(self.session)
        self.session["wall_seconds"][stage] = round(seconds, 1)
        sums = self.content["stages"].setdefault(stage, {"wall_seconds": 0.0})
        sums["wall_seconds"] = round(sums["wall_seconds"] + seconds, 1)
        write_json(self.path, self.content)


def _finished(outputs: Path, dataset: str) -> dict[Path, float]:
    """Results of a data set with the times they were written."""
    return {path: path.stat().st_mtime for path in files_below(outputs / dataset, "result.json")}


def dataset_provenance(
    dataset: str, results: Sequence[dict[str, Any]], record: dict[str, Any]
) -> dict[str, Any]:
    """Provenance of the results of one data set."""
    own = [result for result in results if result["dataset"] == dataset]
    sessions = []
    for session in record.get("sessions", []):
        walls = {k: v for k, v in session["wall_seconds"].items() if k.startswith(f"{dataset}/")}
        if walls:
            sessions.append({**session, "wall_seconds": walls})
    return {
        "dataset": dataset,
        "source": sorted({result["source"] for result in own}),
        "notes": list(dict.fromkeys(note for result in own for note in result["notes"])),
        "data_sha256": sorted({result["config"]["data"] for result in own}),
        "splits": len({result["split"] for result in own}),
        "split_seed": sorted({result["config"]["split_seed"] for result in own}),
        "training_version": sorted({result["config"]["version"] for result in own}),
        "stages": {
            stage.partition("/")[2]: sums
            for stage, sums in record.get("stages", {}).items()
            if stage.startswith(f"{dataset}/")
        },
        "sessions": sessions,
    }


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
