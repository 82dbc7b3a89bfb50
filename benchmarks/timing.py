"""Measure fairly: competitors take turns in one run, and medians are compared."""

from __future__ import annotations

import platform
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np


def interleaved(contestants: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median seconds of each, after one warm-up round, taking turns.

    Every round has another order: who comes first after a larger one has to fetch fresh memory from
    the system, and that should not always be the same.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    order = np.random.default_rng(0)
    for turn in range(repeats + 1):
        for name in order.permutation(list(contestants)).tolist():
            run = contestants[name]
            start = time.perf_counter()
            run()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of log time over log size, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def peak_extra_bytes(run: Callable[[], object]) -> int:
    """Return how far the resident memory rises above its start while ``run`` works."""
    import psutil

    process = psutil.Process()
    start = process.memory_info().rss
    peak, done = start, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    run()
    done.set()
    watcher.join()
    return peak - start


def machine() -> str:
    """Describe processor, cores and versions in one line."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line.split(":")[1].strip()
            for line in cpuinfo.read_text().splitlines()
            if "model name" in line
        ]
        model = f"{names[0]}, {len(names)} cores" if names else model
    import numba

    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    return f"{model}; {versions}, Numba {numba.__version__}"


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
