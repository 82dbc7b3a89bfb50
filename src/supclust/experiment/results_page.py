"""Publish results: scores per split and their provenance as files, and tables in a page.

The page is written by hand, except for the regions between ``<!-- begin NAME -->`` and
``<!-- end NAME -->``, which are generated from the files beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from supclust.data.files import read_json, write_json, write_text
from supclust.experiment.progress import duration
from supclust.experiment.reproduction import RECORD_FILE
from supclust.model.aggregate import summarise
from supclust.tables.formats import TABLE_FORMATS, Table, as_markdown
from supclust.tables.render import render
from supclust.tables.split_scores import read_folder, write_folder

PAGE, FOLDER = "results.md", "results"
_REGION = re.compile(r"(<!-- begin (\S+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


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
        write_json(path, provenance(dataset, done, record))
        written.append(path)
    page = docs / PAGE
    if page.is_file():
        write_text(page, filled(page.read_text(encoding="utf-8"), docs / FOLDER))
        written.append(page)
    return written


def provenance(
    dataset: str, results: Sequence[dict[str, Any]], record: dict[str, Any]
) -> dict[str, Any]:
    """Provenance of the results of one data set."""
    own = [result for result in results if result["dataset"] == dataset]
    sessions = []
    for session in record.get("sessions", []):
        walls = {k: v for k, v in session["wall_seconds"].items() if k.startswith(f"{dataset}/")}
        if walls:
            sessions.append({**session, "wall_seconds": walls})
    return {
        "dataset": dataset,
        "source": sorted({result["source"] for result in own}),
        "notes": list(dict.fromkeys(note for result in own for note in result["notes"])),
        "data_sha256": sorted({result["config"]["data"] for result in own}),
        "splits": len({result["split"] for result in own}),
        "split_seed": sorted({result["config"]["split_seed"] for result in own}),
        "training_version": sorted({result["config"]["version"] for result in own}),
        "stages": {
            stage.partition("/")[2]: sums
            for stage, sums in record.get("stages", {}).items()
            if stage.startswith(f"{dataset}/")
        },
        "sessions": sessions,
    }


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
    notes = (
        "Wall time, and the sum over workers; `+`: the code had changes on top of the commit.",
    )
    return as_markdown([Table("Runs", rows, notes)])


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


def _listed(texts: Any) -> str:
    return "; ".join(dict.fromkeys(texts)) or "–"


REGIONS: dict[str, Callable[[Path], str]] = {
    "paper": _layout("paper"),
    "intervals": _layout("intervals"),
    "against": _layout("against"),
    "distances": _distances,
    "runs": _runs,
}
