"""Scores of every split as small CSV files, which are published."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from supclust.data.files import write_text
from supclust.model.aggregate import METRICS, linkage_order, objective_order

COLUMNS = ["dataset", "source", "objective", "linkage", "split", *METRICS, "alpha", "epochs"]
DIGITS = 5


def as_csv(results: Iterable[dict[str, Any]]) -> str:
    """Finished results without further axes, a line per split and linkage."""
    from supclust.tables.render import as_csv as csv_text

    rows = {}
    for result in results:
        if result["status"] != "done" or result.get("axes") or result["seed"] != 0:
            continue
        for linkage, entry in result["linkages"].items():
            key = (result["dataset"], result["objective"], linkage, result["split"])
            rows[key] = [
                *(result["dataset"], result["source"], *key[1:]),
                *(_text(entry["test"].get(metric)) for metric in METRICS),
                _text(entry["alpha"] if linkage == "exp" else None),
                str(result["epochs"]),
            ]
    return csv_text([COLUMNS, *(rows[key] for key in sorted(rows, key=_order))])


def read_csv(text: str) -> list[dict[str, Any]]:
    """Results as `summarise` takes them, from the text of a file."""
    results = []
    for row in csv.DictReader(text.splitlines()):
        test = {metric: float(row[metric]) for metric in METRICS if row[metric]}
        alpha = float(row["alpha"]) if row["alpha"] else None
        results.append(
            {
                "status": "done",
                **{key: row[key] for key in ("dataset", "source", "objective")},
                "split": int(row["split"]),
                "epochs": int(row["epochs"]),
                "linkages": {row["linkage"]: {"alpha": alpha, "test": test}},
            }
        )
    return results


def read_folder(folder: Path) -> list[dict[str, Any]]:
    """Results in all CSV files of a folder; none where it has no such files."""
    results = []
    for path in sorted(folder.glob("*.csv")):
        text = path.read_text(encoding="utf-8")
        if text.startswith(",".join(COLUMNS)):
            results += read_csv(text)
    return results


def write_folder(folder: Path, results: Sequence[dict[str, Any]]) -> list[Path]:
    """Write one file per data set; those of other sets are left as they are."""
    written = []
    for dataset in dict.fromkeys(result["dataset"] for result in results):
        path = folder / f"{dataset}.csv"
        write_text(path, as_csv(r for r in results if r["dataset"] == dataset))
        written.append(path)
    return written


def _text(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.{DIGITS}f}"


def _order(key: tuple[str, str, str, int]) -> tuple[Any, ...]:
    dataset, objective, linkage, split = key
    return dataset, objective_order(objective), linkage_order(linkage), split
