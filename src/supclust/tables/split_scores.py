"""Scores of every split as rows: small CSV files, which are published, and rows for logs."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from supclust.data.files import write_text
from supclust.metrics.significance import mean_and_deviation
from supclust.model.aggregate import METRICS, linkage_order, objective_order

COLUMNS = ["dataset", "source", "objective", "linkage", "split", *METRICS, "alpha", "epochs"]
DIGITS = 5
PARTS = ("dev", "test")
SCORES = ("dendrogram_purity", "precision", "recall", "pairwise_f1")


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


def result_rows(results: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Column names, and one row per split and linkage, for a logger."""
    scores = [f"{part}_{score}" for part in PARTS for score in SCORES]
    columns = ["split", "objective", "linkage", "alpha", "threshold", "epochs", *scores]
    rows = []
    for result in results:
        for linkage, entry in result["linkages"].items():
            head = [result["split"], result["objective"], linkage]
            values = [entry[part][score] for part in PARTS for score in SCORES]
            rows.append([*head, entry["alpha"], entry["threshold"], result["epochs"], *values])
    return columns, rows


def result_summary(results: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Mean over splits per linkage, as ``test/exp/pairwise_f1``, for a logger."""
    means: dict[str, float] = {}
    for linkage in results[0]["linkages"] if results else ():
        entries = [result["linkages"][linkage] for result in results]
        for part in PARTS:
            for metric in METRICS:
                values = [entry[part][metric] for entry in entries]
                known = [value for value in values if value is not None]
                if known:
                    means[f"{part}/{linkage}/{metric}"] = mean_and_deviation(known)[0]
    return means


def _text(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.{DIGITS}f}"


def _order(key: tuple[str, str, str, int]) -> tuple[Any, ...]:
    dataset, objective, linkage, split = key
    return dataset, objective_order(objective), linkage_order(linkage), split
