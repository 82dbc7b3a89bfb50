"""``make test-cluster``: sweeps and clusterings on real clusters, compared with this machine alone.

Starts two nodes of Ray, and one of SLURM and Spark where they are installed, on loopback only.
Prints a table and exits with 1 if a check failed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from cluster.isolation import enter
from cluster.work import Failure, run, write_inputs


def main() -> int:
    """Run the checks one after the other and print the table."""
    parser = argparse.ArgumentParser(prog="cluster", description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=400_000, help="of the tables")
    parser.add_argument("--only", default="", help="checks whose title contains this")
    parser.add_argument("--keep", type=Path, help="new folder for all files, which are kept")
    options = parser.parse_args()
    enter(sys.argv[1:])
    folder = options.keep or Path(tempfile.mkdtemp(prefix="supclust-"))
    folder = folder.resolve()
    folder.mkdir(exist_ok=True)
    try:
        write_inputs(folder, options.records)
        print("| check | seconds | outcome |\n| --- | ---: | --- |", flush=True)
        parts = (_ray, _slurm, _spark)
        failed = sum(part(folder, options.only) for part in parts)
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{failed} failures")
    return int(failed > 0)


def _ray(folder: Path, only: str) -> int:
    """Number of failed checks on Ray."""
    if importlib.util.find_spec("ray") is None:
        print('| Ray | 0 | FAILED: not installed: pip install -c constraints.txt -e ".[dev,ray]" |')
        return 1
    from cluster.ray_checks import CHECKS, two_nodes

    chosen = {title: check for title, check in CHECKS.items() if only in title}
    if not chosen:
        return 0
    with two_nodes(folder / "nodes") as nodes:
        return sum(_row(title, check, folder, nodes) for title, check in chosen.items())


def _slurm(folder: Path, only: str) -> int:
    """Number of failed checks on SLURM; where it is not installed, a line that says so."""
    from cluster.slurm_checks import CHECKS, missing_programs, one_node

    chosen = {title: check for title, check in CHECKS.items() if only in title}
    missing = missing_programs()
    if missing or os.geteuid() != 0:
        reason = f"{missing[0]} is not installed" if missing else "its daemons need root"
        print(f"| SLURM | 0 | skipped: {reason} |")
    elif chosen:
        with one_node(folder / "slurm-node"):
            return sum(_row(title, check, folder) for title, check in chosen.items())
    return 0


def _spark(folder: Path, only: str) -> int:
    """Number of failed checks in Spark, on this machine; where it is missing, a line says so."""
    title = "Spark: label_blocks in applyInPandas"
    if only not in title:
        return 0
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        print("| Spark | 0 | skipped: needs pip install pyspark, and Java |")
        return 0
    return _row(title, lambda: run([sys.executable, "-m", "cluster.spark"], folder))


def _row(title: str, check: Callable[..., str | None], *arguments: object) -> bool:
    """Print the row of a check; whether it failed."""
    began, failed = time.monotonic(), True
    try:
        outcome = check(*arguments) or "same"
        failed = False
    except Failure as failure:
        outcome = f"FAILED: {failure}"
    except Exception as error:
        traceback.print_exc()
        outcome = f"FAILED: {type(error).__name__}: {error}"
    print(f"| {title} | {time.monotonic() - began:.0f} | {outcome} |", flush=True)
    return failed


if __name__ == "__main__":
    paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[2] / ".numba_cache"))
    sys.exit(main())
