"""Updates of an entity store: 1,000 new persons against 10,000, 100,000 and a million.

    python -m benchmarks.bench_store [--sizes 10000 100000 1000000] [--folder FOLDER]

Prints, per size: seconds to make the store (a full clustering), of ``supclust update`` as a new
process, the least of three updates of 1,000 records each, and of ``supclust correct``; and, in
brackets, the processor seconds of each, which other work on the machine hardly changes.
What is there already in FOLDER is used again.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.persons import COLUMNS, generate

BATCH, REPEATS, TRAINED = 1_000, 3, 10_000
# Rules that make few pairs per record in a million as well; chosen ones suit the size of training.
RULES = (
    "phone, similar(surname) & born, given_name & born, surname & prefix5(street), "
    "sound(surname) & given_name & zip, surname & year(born)"
)


def write(path: Path, records: list[tuple[str, ...]], labels: list[int], first: int) -> None:
    """Records with ids, numbered from ``first``, and the person of each."""
    columns = {name: [row[k] for row in records] for k, name in enumerate(COLUMNS)}
    ids = [f"r{first + k:08d}" for k in range(len(records))]
    pq.write_table(pa.table({"id": ids, **columns, "person": [f"p{k}" for k in labels]}), path)


class Run(NamedTuple):
    """Seconds, processor seconds, and the last line printed, of a command as a new process."""

    wall: float
    cpu: float
    line: str


def processor() -> float:
    """Processor seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(*words: object) -> Run:
    """Run a command of supclust as a new process."""
    start, before = time.perf_counter(), processor()
    command = [sys.executable, "-m", "supclust", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"supclust {words[0]} failed: {done.stderr}")
    line = done.stdout.strip().splitlines()[-1]
    return Run(time.perf_counter() - start, processor() - before, line)


def prepared(folder: Path, size: int) -> tuple[Path, str]:
    """A folder with model, store and batches; and seconds that making the store took."""
    here = folder / str(size)
    here.mkdir(parents=True, exist_ok=True)
    if not (here / "first.parquet").exists():
        records, labels = generate(size + BATCH * REPEATS + 500)
        for k in range(REPEATS):
            part = slice(size + k * BATCH, size + (k + 1) * BATCH)
            write(here / f"new{k}.parquet", records[part], labels[part], part.start)
        write(here / "first.parquet", records[:size], labels[:size], 0)
    model = folder / "model"
    if not model.exists():
        write(folder / "labelled.parquet", *generate(TRAINED, seed=1), 10**8)
        run(
            "fit",
            folder / "labelled.parquet",
            "--label",
            "person",
            "--candidates",
            RULES,
            "-o",
            model,
        )
    if not (here / "seconds").exists():
        shutil.rmtree(here / "store", ignore_errors=True)
        output = ("-o", here / "out.parquet", "--store", here / "store")
        done = run("cluster", here / "first.parquet", "--model", model, *output)
        (here / "seconds").write_text(f"{done.wall:.0f} ({done.cpu:.0f})")
    return here, (here / "seconds").read_text()


def measure(folder: Path, size: int) -> None:
    here, made = prepared(folder, size)
    copy = here / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(here / "store", copy)
    updates = [run("update", copy, here / f"new{k}.parquet") for k in range(REPEATS)]
    ids = pq.read_table(here / "new0.parquet", columns=["id"])["id"].to_pylist()
    corrections = [run("correct", copy, "--together", ids[0], ids[k]) for k in (1, 2, 3)]
    shutil.rmtree(copy)
    shown = (
        f"{min(one.wall for one in runs):6.2f} ({min(one.cpu for one in runs):5.2f})"
        for runs in (updates, corrections)
    )
    print(f"{size:>9,}  {made:>12}  {'  '.join(shown)}  {updates[0].line}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    print("seconds (processor seconds)")
    print(f"{'records':>9}  {'made in':>12}  {'update':>14}  {'correct':>14}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        for size in chosen.sizes:
            measure(chosen.folder or Path(name), size)


if __name__ == "__main__":
    main()
