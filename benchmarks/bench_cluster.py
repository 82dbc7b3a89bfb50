"""``supclust cluster`` on a table of many blocks, beside a joblib loop of pdist and fastcluster."""

from __future__ import annotations

import contextlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

from benchmarks.joblib_loop import HEIGHT, loop, tree_of_block
from benchmarks.timing import interleaved, table

BLOCKS, WIDTH = 20_000, 10
QUICK_BLOCKS = 1_000
ALPHA = -0.7


class Ran(NamedTuple):
    seconds: float
    peak_bytes: int


def make_data(folder: Path, n_blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """Write a table and a model; return the points (n, d) and the starts of the blocks.

    Blocks have 20 to 80 records, 50 on average, in clusters of 8; the table is sorted by block.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from supclust.model import TrainedModel

    rng = np.random.default_rng(0)
    sizes = rng.integers(20, 81, n_blocks)
    block = np.repeat(np.arange(n_blocks), sizes)
    cluster = (rng.random(len(block)) * np.repeat(np.maximum(1, sizes // 8), sizes)).astype(int)
    centres = 3 * rng.normal(size=(n_blocks, 10, WIDTH))
    points = (centres[block, cluster] + rng.normal(size=(len(block), WIDTH)) / 2).astype(np.float32)
    names = [f"x{i + 1}" for i in range(WIDTH)]
    columns = {"id": np.arange(len(block)), "block": [f"block {b}" for b in block]}
    columns |= {name: points[:, i] for i, name in enumerate(names)}
    pq.write_table(pa.table(columns), folder / "records.parquet")
    spec = {"name": "mahalanobis", "kind": "vectors", "d": WIDTH}
    weights = {"weight": np.eye(WIDTH, dtype=np.float32)}
    record = {"records": {"layout": "records", "block": "block", "id": "id"}}
    TrainedModel(
        spec, weights, "exp_alpha", tuple(names), "exp", ALPHA, HEIGHT, record=record
    ).save(folder / "model")
    return points, np.concatenate([[0], np.cumsum(sizes)])


def command(folder: Path, output: str) -> list[str]:
    arguments = ["cluster", "records.parquet", "--model", "model", "-o", output]
    return [sys.executable, "-m", "supclust", *arguments]


def run(arguments: list[str], folder: Path) -> Ran:
    """Run a process to its end."""
    paths = [str(Path.cwd()), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    start = time.perf_counter()
    process = subprocess.Popen(arguments, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    watched, peak = psutil.Process(process.pid), 0
    # (What the system notes as a child's peak counts the memory of its parent before exec.)
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            peak = max(peak, watched.memory_info().rss)
        time.sleep(0.005)
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed with code {process.returncode}")
    return Ran(time.perf_counter() - start, peak)


def kill_and_resume(folder: Path, n_chunks: int) -> str:
    """Kill the command in the middle, run it again, and compare with an undisturbed run."""
    partial = folder / "killed.parquet.partial"
    process = subprocess.Popen(
        command(folder, "killed.parquet"), cwd=folder, stdout=subprocess.DEVNULL
    )
    while process.poll() is None and len(list(partial.glob("clusters-*"))) < max(1, n_chunks // 2):
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = len(list(partial.glob("clusters-*"))) if partial.is_dir() else 0
    run(command(folder, "killed.parquet"), folder)
    same = (folder / "killed.parquet").read_bytes() == (folder / "whole.parquet").read_bytes()
    clean = not partial.exists()
    return (
        f"Killed (SIGKILL) with {finished} of {n_chunks} chunks finished and run again: the output "
        f"is {'the same, byte for byte' if same else 'DIFFERENT'}"
        f"{'' if clean else ', and files were LEFT BEHIND'}."
    )


def computing(
    points: np.ndarray, starts: np.ndarray, folder: Path, repeats: int
) -> list[list[str]]:
    """Rows of the table for computing alone, on data in memory."""
    from supclust.cluster.flat import label_points
    from supclust.model import load

    model = load(folder / "model")
    cut = model.cut()
    blocks = np.split(points, starts[1:-1])
    seconds = interleaved(
        {
            "supclust": lambda: label_points(model, points, starts, cut),
            "loop": lambda: loop(blocks),
            "trees": lambda: loop(blocks, tree_of_block),
        },
        repeats,
    )
    ours = seconds["supclust"]
    return [
        _row("clusters in memory", ours, seconds["loop"], len(points)),
        _row("the same, the loop without cutting its trees", ours, seconds["trees"], len(points)),
    ]


def _row(name: str, ours: float, theirs: float, records: int) -> list[str]:
    speed = f"{records / ours:,.0f}"
    return [name, f"{ours:.2f} s", speed, f"{theirs:.2f} s", f"{theirs / ours:.1f}"]


def report(quick: bool) -> str:
    """Return the section."""
    n_blocks, repeats = (QUICK_BLOCKS, 1) if quick else (BLOCKS, 3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        points, starts = make_data(folder, n_blocks)
        script = [sys.executable, "-m", "benchmarks.joblib_loop", "records.parquet", "loop.parquet"]
        run(command(folder, "whole.parquet"), folder)  # compiles, once per installation
        ours, theirs = [], []
        for _ in range(repeats):
            ours.append(run(command(folder, "whole.parquet"), folder))
            theirs.append(run(script, folder))
        median = statistics.median(ran.seconds for ran in ours)
        whole = _row(
            "whole process: start, read, cluster, write",
            median,
            statistics.median(ran.seconds for ran in theirs),
            len(points),
        )
        rows = [whole, *computing(points, starts, folder, repeats)]
        resumed = kill_and_resume(folder, -(-len(points) // 50_000))
        peak = max(ran.peak_bytes for ran in ours) / 2**20
    header = ["what", "supclust", "records/s", "joblib loop (2 processes)", "ratio"]
    return "\n\n".join(
        [
            f"{len(points):,} records of {WIDTH} numbers in {n_blocks:,} blocks, a Parquet file. "
            "The loop is `joblib.Parallel(n_jobs=2)` over pdist, fastcluster (average linkage) and "
            f"SciPy's fcluster; supclust uses exponential linkage with alpha {ALPHA} under a "
            "Mahalanobis distance, which no other library has.",
            table(header, rows),
            f"Peak memory of `supclust cluster`: {peak:,.0f} MB. {resumed}",
        ]
    )
