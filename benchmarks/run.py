"""Run the benchmarks: ``python -m benchmarks.run [--quick] [--only linkage] [--write FILE]``."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from benchmarks.timing import machine

PARTS = {
    "linkage": ("Trees", "benchmarks.bench_linkage"),
    "training": ("Training step", "benchmarks.bench_training_step"),
    "experiment": ("Whole runs", "benchmarks.bench_experiment"),
    "epoch": ("Training epoch", "benchmarks.bench_epoch"),
    "cluster": ("Tables of records", "benchmarks.bench_cluster"),
    "graph": ("Sparse graphs", "benchmarks.bench_graph"),
    "records": ("Records of text", "benchmarks.bench_records"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--only", choices=PARTS, help="one part instead of all")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="also write the result as Markdown"
    )
    options = parser.parse_args()
    sections = [
        "# Benchmarks",
        f"Measured by `make bench` on: {machine()}. Libraries that are compared "
        "take turns in one run and figures are medians, unless a table says otherwise; a ratio "
        "above 1 means that supclust is faster. Times include checking the input.",
    ]
    for name in [options.only] if options.only else PARTS:
        title, module = PARTS[name]
        print(f"{title} ...", flush=True)
        sections += [f"## {title}", importlib.import_module(module).report(options.quick)]
    text = "\n\n".join(sections) + "\n"
    print(text)
    if options.write:
        options.write.write_text(text)


if __name__ == "__main__":
    main()
