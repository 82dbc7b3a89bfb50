"""What `recipe=best` costs: Faces beside the paper's recipe, and `supclust fit` of a table.

    python -m benchmarks.bench_fit [--repeats 2] [--only fit]

Every measurement is a process of its own, start of Python included, after one that fills the caches
of data and kernels; the two recipes take turns, and the least of the repeats is shown. Processor
time counts all threads. The table has 2,000 rows, 12 numbers and 300 clusters; Faces are the real
set where SUPCLUST_DATA has it, else the stand-in.
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.timing import machine, table

ROOT = Path(__file__).parents[1]
ROWS, NUMBERS, CLUSTERS = 2000, 12, 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", choices=["faces", "fit"], help="one of the two")
    options = parser.parse_args()
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as folder:
        if options.only != "fit":
            print(faces(Path(folder), options.repeats), flush=True)
        if options.only != "faces":
            print(fit(Path(folder), options.repeats))


def faces(folder: Path, repeats: int) -> str:
    """Both recipes on all splits of Faces, in turns."""
    recipes = ("paper", "best")
    seconds: dict[str, list[tuple[float, float]]] = {recipe: [] for recipe in recipes}
    for turn in range(repeats + 1):
        for recipe in recipes:
            splits = "split=all" if turn else "split=0"
            words = ["dataset=faces", "objective=exp_alpha", f"recipe={recipe}", splits]
            outputs = f"paths.outputs={folder / str(turn)}"
            used = measured([str(ROOT / "train.py"), *words, "logger=none", outputs], folder)
            if turn:
                seconds[recipe].append(used)
    least = {
        recipe: [min(column) for column in zip(*seconds[recipe], strict=True)] for recipe in recipes
    }
    rows = [[f"`recipe={r}`", *(f"{value:.1f}" for value in least[r])] for r in recipes]
    ratio = (best / paper for best, paper in zip(least["best"], least["paper"], strict=True))
    rows.append(["ratio", *(f"{value:.2f}" for value in ratio)])
    return table(["Faces, `exp_alpha`, all splits", "seconds", "processor seconds"], rows) + "\n"


def fit(folder: Path, repeats: int) -> str:
    """`supclust fit` with its defaults."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, CLUSTERS, ROWS)
    centres = 2 * rng.normal(size=(CLUSTERS, NUMBERS))
    points = centres[labels] + rng.normal(size=(ROWS, NUMBERS))
    with (folder / "table.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "who", *(f"f{i}" for i in range(NUMBERS))])
        for i, (label, row) in enumerate(zip(labels, points.round(4), strict=True)):
            writer.writerow([i, f"c{label}", *row])
    words = ["-m", "supclust", "fit", "table.csv", "--label", "who", "--id", "id", "-o"]
    used = [measured([*words, f"model{turn}"], folder) for turn in range(repeats + 1)][1:]
    least = [f"{min(column):.1f}" for column in zip(*used, strict=True)]
    title = f"`supclust fit` of {ROWS:,} rows"
    return table([title, "seconds", "processor seconds"], [["all defaults", *least]])


def measured(words: list[str], folder: Path) -> tuple[float, float]:
    """Wall and processor seconds of a Python process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *words], cwd=folder, check=True, capture_output=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
