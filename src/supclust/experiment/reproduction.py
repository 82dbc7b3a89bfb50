"""The paper's tables on real data: sweeps of the template ``reproduce``, and their publication.

The page of results is written by hand, except for the regions between ``<!-- begin NAME -->`` and
``<!-- end NAME -->``, which are generated from the files beside it.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from supclust.data.files import read_json, write_json, write_text
from supclust.experiment.progress import duration
from supclust.experiment.provenance import RECORD_FILE, Record, dataset_provenance
from supclust.model.aggregate import summarise
from supclust.tables.render import TABLE_FORMATS, Table, as_markdown, render
from supclust.tables.split_scores import read_folder, write_folder

DATASETS = ("faces", "aminer", "rexa", "gum_coref")
PARTS = ("grid", "top_down")
TEMPLATE = "reproduce"
INTERRUPTED, TERMINATED = 130, 143  # exit codes after Ctrl-C and SIGTERM, as in shells
PAGE, FOLDER = "results.md", "results"
_REGION = re.compile(r"(<!-- begin (\S+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


class Options(NamedTuple):
    """How to run the sweeps.

    Attributes:
        conf: folder of the configuration; the templates lie beside it.
        data: folder of the real data sets.
        outputs: folder of the results.
        jobs: number of worker processes.
        splits: how many, from 0.
        chunk: splits trained together.
        overrides: settings that differ from the paper's.
    """

    conf: Path
    data: Path
    outputs: Path
    jobs: int = 2
    splits: int = 50
    chunk: int = 25
    overrides: tuple[str, ...] = ()


def reproduce(datasets: Sequence[str], parts: Sequence[str], options: Options) -> int:
    """Run the sweeps one after the other; finished results are not computed again.

    Returns:
        Exit code: 0, 1 if jobs failed, 2 for wrong usage, 130 after Ctrl-C, 143 after SIGTERM.
    """
    record = Record(options.outputs, options.jobs, options.overrides)
    code = 0
    for part in parts:
        for dataset in datasets:
            with record.timed(dataset, part):
                for command in commands(dataset, part, options):
                    returned = run_sweep(command)
                    if returned in (2, INTERRUPTED, TERMINATED):
                        return returned
                    code = max(code, int(returned != 0))
    return code


def run_sweep(command: Sequence[str]) -> int:
    """Run a command; Ctrl-C and SIGTERM to this process also end it and its worker processes.

    Returns:
        Exit code; 130 or 143 after a signal.
    """
    received: list[int] = []
    running: list[subprocess.Popen[bytes]] = []

    def forward(number: int, frame: FrameType | None) -> None:
        received.append(number)
        for process in running:
            with suppress(ProcessLookupError):  # it has just ended
                os.killpg(process.pid, number)

    before = {n: signal.signal(n, forward) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        # A session of its own: these signals are the only ones, and go to all its processes once.
        process = subprocess.Popen(command, start_new_session=True)
        running.append(process)
        if received:  # while it was started; SIGTERM, as a Python that starts may ignore SIGINT
            os.killpg(process.pid, signal.SIGTERM)
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 128 + received[0] if received else code


def commands(dataset: str, part: str, options: Options) -> Iterator[list[str]]:
    """Command lines of the sweeps of one part of the tables of a data set.

    Args:
        dataset: name.
        part: ``grid``: all objectives, four linkages. ``top_down``: recursive sparsest cut with the
            models of the grid, and random trees, which do not depend on the model.
        options: how to run them.
    """
    conf = options.conf.resolve()
    numbers = range(options.splits)
    chunks = [numbers[i : i + options.chunk] for i in numbers[:: options.chunk]]
    splits = ",".join(f"[{','.join(map(str, chunk))}]" for chunk in chunks)
    every = f"[{','.join(map(str, numbers))}]"
    grid = [f"dataset={dataset}", f"split={splits}", "linkage=all"]
    top_down = [
        [f"dataset={dataset}", f"split={splits}", "linkage=rsc"],
        [f"dataset={dataset}", f"split={every}", "linkage=random", "objective=exp_alpha"],
    ]
    for sweep in [grid] if part == "grid" else top_down:
        yield [
            *(sys.executable, "-m", "supclust", "train", "--config-path", str(conf)),
            *("--config-dir", str(conf.parent / "multirun_templates"), "--config-name", TEMPLATE),
            f"paths.data='{options.data.resolve()}'",
            f"paths.outputs='{options.outputs.resolve()}'",
            f"hydra.launcher.n_jobs={options.jobs}",
            *sweep,
            *options.overrides,
        ]


# -- the page of results -------------------------------------------------------------------------


def publish(results: Sequence[dict[str, Any]], outputs: Path, docs: Path) -> list[Path]:
    """Write the files of every data set that has results, then the tables of the page.

    Args:
        results: finished ones, of `find_results`.
        outputs: folder they come from, for the times of the reproduction.
        docs: folder of the page.

    Returns:
        Paths that were written. Files of data sets without results are kept.
    """
    done = [result for result in results if result["status"] == "done"]
    written = write_folder(docs / FOLDER, done)
    record = read_json(outputs / RECORD_FILE) or {}
    for dataset in dict.fromkeys(result["dataset"] for result in done):
        path = docs / FOLDER / f"{dataset}.json"
        write_json(path, dataset_provenance(dataset, done, record))
        written.append(path)
    page = docs / PAGE
    if page.is_file():
        write_text(page, filled(page.read_text(encoding="utf-8"), docs / FOLDER))
        written.append(page)
    return written


def filled(page: str, folder: Path) -> str:
    """The page with all its regions generated from the files of a folder."""

    def replace(match: re.Match[str]) -> str:
        name = match.group(2)
        if name not in REGIONS:
            raise ValueError(
                f"regions of {PAGE} are {', '.join(REGIONS)}; received {name!r}. "
                "Correct its <!-- begin ... --> line."
            )
        return f"{match.group(1)}\n{REGIONS[name](folder).strip()}\n\n{match.group(3)}"

    return _REGION.sub(replace, page)


def runs_text(outputs: Path) -> str:
    """Times of the stages of a reproduction, for a terminal."""
    stages = (read_json(outputs / RECORD_FILE) or {}).get("stages", {})
    return "\n".join(f"{stage}: {_time(sums)}" for stage, sums in stages.items())


def _layout(name: str) -> Callable[[Path], str]:
    def make(folder: Path) -> str:
        cells = summarise(read_folder(folder))
        return render(cells, name, "markdown") if cells else "No results yet."

    return make


def _distances(folder: Path) -> str:
    from supclust.tables.differences import distance_table, distances
    from supclust.tables.paper import grid_of

    cells = summarise(read_folder(folder))
    if not cells:
        return "No results yet."
    return TABLE_FORMATS["markdown"].page([distance_table(distances(grid_of(cells)))])


def _runs(folder: Path) -> str:
    """A row per data set: times, workers, commits, machine."""
    rows = [["data set", "splits", "grid", "top-down trees", "workers", "commit", "machine"]]
    for path in sorted(folder.glob("*.json")):
        content = read_json(path) or {}
        sessions = content.get("sessions", [])
        rows.append(
            [
                str(content.get("dataset", path.stem)),
                str(content.get("splits", "")),
                *(_time(content.get("stages", {}).get(part)) for part in ("grid", "top_down")),
                _listed(str(s["workers"]) for s in sessions),
                _listed(_short(s["commit"]) for s in sessions),
                _listed(_machine(s) for s in sessions),
            ]
        )
    if len(rows) == 1:
        return "No results yet."
    note = "Wall time, and the sum over workers; `+`: the code had changes on top of the commit."
    return as_markdown([Table("Runs", rows, (note,))])


def _time(sums: dict[str, Any] | None) -> str:
    if not sums:
        return "–"
    wall = duration(sums["wall_seconds"])
    # Version 0.1 recorded the seconds of the worker processes, too.
    return f"{wall} ({duration(sums['worker_seconds'])})" if "worker_seconds" in sums else wall


def _short(commit: str | None) -> str:
    return "none" if commit is None else commit[:12] + "+" * commit.endswith("+")


def _machine(session: dict[str, Any]) -> str:
    machine, versions = session["machine"], session["versions"]
    text = f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB"
    return f"{text}; Python {versions['python']}, torch {versions.get('torch', '?')}"


def _listed(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts)) or "–"


REGIONS: dict[str, Callable[[Path], str]] = {
    "paper": _layout("paper"),
    "intervals": _layout("intervals"),
    "against": _layout("against"),
    "distances": _distances,
    "runs": _runs,
}
