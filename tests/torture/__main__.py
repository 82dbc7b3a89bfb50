"""``make torture``: the whole campaign, or with ``--short`` a few cases of each part.

Prints a table of what was tried and what failed, and exits with 1 if anything did. With
``--results FILE`` the rows are kept: parts that passed are not run again, so that a campaign which
was stopped, or is run part by part, ends with one table.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from torture.processes import Child

Fuzz = Callable[..., Iterator[tuple[str, str | None]]]


class Part(NamedTuple):
    """A part of the campaign: what it runs, and how many cases in the long and the short form."""

    title: str
    run: Callable[[], Fuzz]
    cases: int
    short: int
    seconds: float = 600.0
    """After which no new case begins."""


class Row(NamedTuple):
    """A row of the table: what a part tried, and what failed."""

    part: str
    tried: int
    failed: list[list[str]]
    seconds: float
    revision: str
    cut_off: bool
    """Whether its time ended before its cases."""

    def __str__(self) -> str:
        """The row in Markdown."""
        tried = f"{self.tried:,}{' (out of time)' if self.cut_off else ''}"
        cells = (self.part, tried, len(self.failed), f"{self.seconds:.0f}", self.revision)
        return f"| {' | '.join(map(str, cells))} |"


HEADER = "| part | tried | failed | seconds | revision |\n| --- | ---: | ---: | ---: | --- |"


def _api() -> Fuzz:
    from torture.api import fuzz_api

    return fuzz_api


def _files() -> Fuzz:
    from torture.files import fuzz_files

    return fuzz_files


def _fit() -> Fuzz:
    from torture.files import fuzz_fit

    return fuzz_fit


def _folder(name: str) -> Callable[[], Fuzz]:
    import torture.folders

    return lambda: getattr(torture.folders, name)


def _condition(name: str, *arguments: object) -> Callable[[], Fuzz]:
    import torture.conditions

    found = getattr(torture.conditions, name)
    return lambda: found(*arguments) if arguments else found


def _saves() -> Fuzz:
    from torture.saves import LONGER, SCENARIOS

    def run(inputs: object, cases: int, rng: random.Random) -> Iterator[tuple[str, str | None]]:
        for name, scenario in list({**SCENARIOS, **LONGER}.items())[:cases]:
            with tempfile.TemporaryDirectory() as folder:
                for _ in range(scenario(Path(folder).resolve())):
                    yield f"killed at every step: {name}", None

    return run


def _stores(name: str, *arguments: object) -> Callable[[], Fuzz]:
    import torture.stores

    found = getattr(torture.stores, name)
    return lambda: found(*arguments) if arguments else found


def parts() -> list[Part]:
    """All parts. One more is one more line here."""
    return [
        Part("API against brute force", _api, 20_000, 300),
        Part("tables", _files, 2_000, 40),
        Part("tables to learn from", _fit, 40, 0),
        Part("model folders", _folder("fuzz_models"), 800, 20),
        Part("result folders", _folder("fuzz_results"), 800, 20),
        Part("cache entries", _folder("fuzz_cache"), 400, 10),
        Part("kill at every step", _saves, 6, 0),
        *(
            Part(
                f"kill -9 in {name}", _condition("killed", name), 30, 1 if name == "cluster" else 0
            )
            for name in ("cluster", "edges", "fit", "sweep")
        ),
        *(
            Part(f"kill -9 in {name}", _condition("killed", name), cases, 0)
            for name, cases in (
                ("fit of a bare table", 10),
                ("cluster of a bare table", 30),
                ("learned cut", 10),
            )
        ),
        *(
            Part(f"Ctrl-C in {name}", _condition("killed", name, signal.SIGINT), 5, 0)
            for name in ("cluster", "fit", "sweep")
        ),
        *(
            Part(f"SIGTERM in {name}", _condition("killed", name, signal.SIGTERM), 5, 0)
            for name in ("cluster", "fit", "sweep")
        ),
        *(
            Part(f"stores: update = batch ({k} of 4)", _stores("lives", k), 65, 2 if k == 1 else 0)
            for k in (1, 2, 3, 4)
        ),
        *(
            Part(f"stores: historical records ({k} of 4)", _stores("historical_lives", k), 10, 0)
            for k in (1, 2, 3, 4)
        ),
        *(
            Part(f"stores: kill -9 in {name}", _stores("killed", name), 25, short)
            for name, short in (("update", 1), ("correct", 0))
        ),
        Part("full disk", _condition("full_disk"), 5, 0),
        Part("read-only output", _condition("read_only"), 1, 0),
        Part("two writers", _condition("two_writers"), 3, 0),
        Part("unreachable W&B", _condition("no_wandb"), 1, 0),
    ]


def run_part(part: Part, cases: int, seed: int, folder: Path) -> int:
    """Run a part, in a process of its own; write what it tried and what failed."""
    from torture.inputs import Inputs

    tried, failed, cut_off = 0, [], False
    end = time.monotonic() + part.seconds
    try:
        for title, fault in part.run()(Inputs(folder / "inputs"), cases, random.Random(seed)):
            tried += 1
            if fault:
                failed.append((title, fault))
            if time.monotonic() > end:
                cut_off = True
                break
    except Exception as error:
        failed.append((part.title, f"the part itself failed: {type(error).__name__}: {error}"))
    report = {"tried": tried, "failed": failed, "cut_off": cut_off}
    (folder / "report.json").write_text(json.dumps(report))
    return 0


def row_of(part: Part, cases: int, seed: int) -> Row:
    """Run a part in a child process."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        child = Child(partial(run_part, part, cases, seed, folder))
        code = child.wait(2 * part.seconds)
        fault = f"the part ended with {code}: {child.shown[-300:]}"
        report = {"tried": 0, "failed": [(part.title, fault)], "cut_off": code is None}
        if (folder / "report.json").exists():
            report = json.loads((folder / "report.json").read_text())
    return Row(part.title, seconds=time.monotonic() - began, revision=_revision(), **report)


def main() -> int:
    """Run the parts one after the other and print the table."""
    parser = argparse.ArgumentParser(prog="torture", description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="a few cases of each part")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="parts whose title contains this")
    parser.add_argument(
        "--results", type=Path, help="file of the rows; parts that passed are not run again"
    )
    options = parser.parse_args()
    passed = {} if options.results is None else _passed(options.results)
    _import_everything()
    print(HEADER, flush=True)
    failures: list[list[str]] = []
    for part in parts():
        cases = part.short if options.short else part.cases
        if cases == 0 or options.only not in part.title:
            continue
        row = passed.get(part.title)
        if row is None:
            row = row_of(part, cases, options.seed)
            if options.results is not None:
                with options.results.open("a") as stream:
                    stream.write(json.dumps(row._asdict()) + "\n")
        failures += row.failed
        print(row, flush=True)
    for title, fault in failures[:50]:
        print(f"FAILED {title}: {fault}", file=sys.stderr)
    print(f"\n{len(failures)} failures")
    return int(bool(failures))


def _passed(path: Path) -> dict[str, Row]:
    """Rows of a file without failures; the last of each part counts."""
    lines = path.read_text().splitlines() if path.exists() else []
    rows = {row.part: row for row in (Row(**json.loads(line)) for line in lines)}
    return {title: row for title, row in rows.items() if not row.failed and not row.cut_off}


def _revision() -> str:
    """The commit of the code, with a + where files differ from it."""
    words = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    done = subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def _import_everything() -> None:
    """Import what the children use, and run none of it: then a fork is safe, and starts at once."""
    for name in (
        # joblib makes a semaphore when it is imported, which a limit of file sizes would prevent.
        *(
            "joblib",
            "lightgbm",
            "pytorch_lightning",
            "supclust.cluster.edges",
            "supclust.cluster.table",
        ),
        *("supclust.experiment.job", "supclust.experiment.loggers", "supclust.experiment.run"),
        *("supclust.experiment.training", "supclust.model.fit", "supclust.resolve.fit"),
        *("supclust.store.entity_store", "scipy.sparse.csgraph", "scipy.optimize", "store_tables"),
        "torture.conditions",
    ):
        import_module(name)


if __name__ == "__main__":
    os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[2] / ".numba_cache"))
    sys.exit(main())
