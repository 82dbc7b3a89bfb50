"""The first call on a new machine: seconds that kernels take to compile, and prediction beside
`supclust cluster`.

    python -m benchmarks.bench_start [--before REVISION] [--repeats 2]

Every measurement is a process of its own with an empty cache of kernels. With ``--before`` the
package of another revision takes turns with this one. Processor time counts all threads.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.timing import machine, table

ROOT = Path(__file__).parents[1]
LINKAGE = """
import numpy as np, supclust
x = np.arange(50.0) ** 2
supclust.linkage(np.abs(x[:, None] - x), "exp", alpha=-1.0)
"""
PREDICT = """
import json, time
import numpy as np
from supclust import SupervisedHAC
from supclust.cluster.flat import label_points
from supclust.cut.rule import Cut
from supclust.model.trained import TrainedModel

rng = np.random.default_rng(0)
groups = np.repeat(np.arange(640), 203)[:130_000]
points = rng.normal(size=(len(groups), 10))
points[:, 0] += 4 * (np.arange(len(groups)) % 20)
spec = {"name": "mahalanobis", "kind": "vectors", "d": 10}
weights = {"weight": np.eye(10, dtype=np.float32)}
names = tuple(f"x{i}" for i in range(10))
model = TrainedModel(spec, weights, "exp_alpha", names, "exp", -0.7, 2.5)
model.save("model")
estimator = SupervisedHAC.load("model")
starts = np.searchsorted(groups, np.arange(641))

def cpu(call):
    best = np.inf
    for _ in range(6):
        began = time.process_time()
        call()
        best = min(best, time.process_time() - began)
    return best

a = cpu(lambda: estimator.predict(points, groups))
b = cpu(lambda: label_points(model, points, starts, Cut(-0.7, 2.5)))
print("FIGURES", json.dumps([a, b]))
"""
COMMANDS = {
    "first `supclust.linkage` of a process": ("-c", LINKAGE),
    "`supclust warmup`": ("-m", "supclust", "warmup"),
}


def measure(source: Path, words: tuple[str, ...]) -> tuple[float, float, str]:
    """Wall and processor seconds of a process with no compiled kernel, and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache", "PYTHONPATH": str(source)}
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env=env,
            check=True,
            capture_output=True,
            text=True,
        )
        after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, cpu, done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", metavar="REVISION", help="compare with this commit")
    parser.add_argument("--repeats", type=int, default=2, help="the least of so many is shown")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sources = {"now": ROOT / "src"}
        if options.before:
            content = subprocess.run(
                ["git", "archive", options.before, "src"], cwd=ROOT, check=True, capture_output=True
            ).stdout
            subprocess.run(["tar", "-x", "-C", folder], input=content, check=True)
            sources = {options.before: Path(folder) / "src", **sources}
        print(f"{machine()}\n")
        rows = []
        for title, words in COMMANDS.items():
            for name, source in sources.items():
                runs = [measure(source, words) for _ in range(options.repeats)]
                wall, cpu = min(run[0] for run in runs), min(run[1] for run in runs)
                rows.append([title, name, f"{wall:.1f}", f"{cpu:.1f}"])
        print(table(["cold, with imports", "revision", "seconds", "processor seconds"], rows))
        for name, source in sources.items():
            shown = measure(source, ("-c", PREDICT))[2].rpartition("FIGURES ")[2]
            predict, cluster = (float(text) for text in shown.strip(" []\n").split(","))
            print(
                f"\n{name}: 130,000 points in 640 blocks, processor seconds: predict {predict:.2f},"
            )
            print(f"the path of supclust cluster {cluster:.2f}, ratio {predict / cluster:.2f}")


if __name__ == "__main__":
    main()
