"""The scores of every split as small CSV files, one per data set: what is published of results."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from supclust.data.files import write_text
from supclust.tables.aggregate import METRICS, linkage_order, objective_order

COLUMNS = ["dataset", "source", "objective", "linkage", "split", *METRICS, "alpha", "epochs"]
DIGITS = 5


def as_csv(results: Iterable[dict[str, Any]]) -> str:
    """Finished results without further axes, a line per split and linkage."""
    rows = {}
    for result in results:
        if result["status"] != "done" or result.get("axes") or result["seed"] != 0:
            continue
        for linkage, entry in result["linkages"].items():
            place = (result["objective"], linkage, result["split"])
            rows[(result["dataset"], *place)] = [
                *(result["dataset"], result["source"], *place),
                *(_text(entry["test"].get(metric)) for metric in METRICS),
                _text(entry["alpha"] if linkage == "exp" else None),
                str(result["epochs"]),
            ]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows[place] for place in sorted(rows, key=_order))
    return stream.getvalue()


def read_csv(text: str) -> list[dict[str, Any]]:
    """Results as `summarise` takes them, from the text of a file."""
    found = []
    for row in csv.DictReader(text.splitlines()):
        test = {metric: float(row[metric]) for metric in METRICS if row[metric]}
        alpha = float(row["alpha"]) if row["alpha"] else None
        found.append(
            {
                "status": "done",
                **{key: row[key] for key in ("dataset", "source", "objective")},
                "split": int(row["split"]),
                "epochs": int(row["epochs"]),
                "linkages": {row["linkage"]: {"alpha": alpha, "test": test}},
            }
        )
    return found


def read_folder(folder: Path) -> list[dict[str, Any]]:
    """Results in all CSV files of a folder; none where it has no such files."""
    found = []
    for path in sorted(folder.glob("*.csv")):
        text = path.read_text(encoding="utf-8")
        if text.startswith(",".join(COLUMNS)):
            found += read_csv(text)
    return found


def write_folder(folder: Path, results: Sequence[dict[str, Any]]) -> list[Path]:
    """Write one file per data set; those of other sets are left as they are."""
    written = []
    for dataset in dict.fromkeys(result["dataset"] for result in results):
        path = folder / f"{dataset}.csv"
        write_text(path, as_csv(r for r in results if r["dataset"] == dataset))
        written.append(path)
    return written


def _text(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return f"{value:.{DIGITS}f}"


def _order(place: tuple[str, str, str, int]) -> tuple[Any, ...]:
    dataset, objective, linkage, split = place
    return dataset, objective_order(objective), linkage_order(linkage), split
