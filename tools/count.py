"""Count what a reader has to read: ``make count``, or ``python tools/count.py [--modules]``.

Lines of ``src``, modules per package, ``type: ignore`` comments, long files, and the modules of the
project that a run imports: one training with ``train.py``, and ``supclust fit`` with ``supclust
cluster``, each in a process of its own. The goal stands beside every figure.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "supclust"
LINES, MODULES, IGNORES, LONG = 25_000, 15, 29, 250
CROSSED_TRAIN, CROSSED_TABLES = 75, 60

# Runs a command line and writes the names of the imported modules of the project to argv[1].
CODE = """
import runpy, sys
listing, program, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = program
try:
    if program.endswith(".py"):
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
finally:
    names = [name for name in sys.modules if name.partition(".")[0] == "supclust"]
    open(listing, "w").write("\\n".join(sorted(names)))
"""


def imported(folder: Path, *command: str) -> set[str]:
    """The modules of the project that a command line imports, in a process of its own."""
    listing = folder / "modules.txt"
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "WANDB_MODE": "offline"}
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(listing), *command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return set(listing.read_text().split())


def training_modules(folder: Path) -> set[str]:
    """Modules of ``train.py objective=exp_alpha dataset=faces``, split 0, three epochs."""
    words = ["objective=exp_alpha", "dataset=faces", "trainer.max_epochs=3", "split=0"]
    return imported(folder, "train.py", *words, f"paths.outputs={folder / 'outputs'}")


def table_modules(folder: Path) -> tuple[set[str], set[str]]:
    """Modules of ``supclust fit`` and of ``supclust cluster``, on records of text and numbers."""
    records, model = folder / "records.csv", folder / "model"
    with records.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "name", "who", "title", "year"])
        for i in range(120):
            who = i % 3
            writer.writerow([i, f"name {i // 12}", who, f"title {who} of {i % 5}", 1990 + 5 * who])
    columns = ("--label", "who", "--block", "name", "--epochs", "3")
    fit = imported(folder, "supclust", "fit", str(records), *columns, "-o", str(model))
    output = ("--model", str(model), "-o", str(folder / "clusters.csv"))
    return fit, imported(folder, "supclust", "cluster", str(records), *output)


def sources() -> dict[Path, list[str]]:
    """Lines of every source file."""
    return {
        path: path.read_text(encoding="utf-8").splitlines()
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def modules_per_package(files: dict[Path, list[str]]) -> dict[str, int]:
    """Number of modules of every package, without its ``__init__``."""
    counts: dict[str, int] = {}
    for path in files:
        package = ".".join(path.parent.relative_to(PACKAGE.parent).parts)
        counts[package] = counts.get(package, 0) + (path.name != "__init__.py")
    return counts


def row(what: str, figure: int, goal: int) -> str:
    return f"{what:<58} {figure:>7,}   goal {goal:>6,}{'' if figure <= goal else '   OVER'}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--modules", action="store_true", help="list the imported modules as well")
    options = parser.parse_args()
    files = sources()
    print(row("lines of src", sum(map(len, files.values())), LINES))
    ignores = sum(
        bool(re.search(r"#\s*type:\s*ignore", line)) for f in files.values() for line in f
    )
    print(row("type: ignore", ignores, IGNORES))
    packages = modules_per_package(files)
    print(row("modules in the largest package", max(packages.values()), MODULES))
    with tempfile.TemporaryDirectory() as name:
        train = training_modules(Path(name))
        fit, cluster = table_modules(Path(name))
    print(row("modules: train.py objective=exp_alpha dataset=faces", len(train), CROSSED_TRAIN))
    print(row("modules: supclust fit, then supclust cluster", len(fit | cluster), CROSSED_TABLES))
    print(f"  supclust fit alone {len(fit)}, supclust cluster alone {len(cluster)}")
    long = {path: len(lines) for path, lines in files.items() if len(lines) > LONG}
    print(row(f"files over {LONG} lines", len(long), 0))
    for path, lines in sorted(long.items(), key=lambda one: -one[1]):
        print(f"  {path.relative_to(PACKAGE)}  {lines}")
    print("\nmodules per package")
    for package, count in packages.items():
        print(f"  {package:<30} {count:>3}{'' if count <= MODULES else '   OVER'}")
    if options.modules:
        for title, names in (("train.py", train), ("fit", fit), ("cluster", cluster)):
            print(f"\n{title}\n  " + "\n  ".join(sorted(names)))


if __name__ == "__main__":
    main()
