"""One tree after another in a process of its own: ``python -m benchmarks.alone SET N LIBRARY``.

Taking turns, libraries change the state of the machine's memory for each other. Where that decides,
this is the other way to compare them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

import fastcluster
import numpy as np
from scipy.spatial.distance import pdist, squareform

import supclust
from benchmarks.bench_linkage import SETS
from benchmarks.timing import table

LIBRARIES = ("fastcluster average", "exp +1 float32", "exp +1 float64", "exp +1 float64, condensed")


def seconds(name: str, n: int, library: str, repeats: int) -> list[float]:
    """Return the times of all trees but the first."""
    condensed = pdist(SETS[name](n, np.random.default_rng(n)))
    if library == "exp +1 float32":
        given = squareform(condensed).astype(np.float32)
    else:
        given = squareform(condensed) if library == "exp +1 float64" else condensed
    found = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        if library == "fastcluster average":
            fastcluster.linkage(given, "average")
        else:
            supclust.linkage(given, "exp", alpha=1.0)
        found.append(time.perf_counter() - start)
    return found[1:]


def report(repeats: dict[int, int]) -> str:
    """Fastest and slowest of so many repeats for every n, and the ratios of the fastest."""
    rows = [_row(name, n, repeats[n]) for name in SETS for n in repeats]
    return table(["data", "n", *LIBRARIES], rows)


def _row(name: str, n: int, repeats: int) -> list[str]:
    times = {}
    for library in LIBRARIES:
        command = [sys.executable, "-m", "benchmarks.alone", name, str(n), library, str(repeats)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        times[library] = json.loads(out)
    best = min(times[LIBRARIES[0]])
    cells = [f"{min(t) * 1e3:,.1f} to {max(t) * 1e3:,.1f} ms" for t in times.values()]
    ratios = ["", *(f" ({best / min(times[library]):.1f}x)" for library in LIBRARIES[1:])]
    row = [name, f"{n:,}", *map("".join, zip(cells, ratios, strict=True))]
    print("  ", *row, flush=True)
    return row


if __name__ == "__main__":
    set_name, points, library_name, turns = sys.argv[1:]
    print(json.dumps(seconds(set_name, int(points), library_name, int(turns))))
