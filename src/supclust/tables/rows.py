"""Results as flat rows and as means, for logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from supclust.tables.aggregate import METRICS, mean_and_deviation

PARTS = ("dev", "test")
SCORES = ("dendrogram_purity", "precision", "recall", "pairwise_f1")


def result_rows(results: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Column names, and one row per split and linkage."""
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
    """Mean over splits per linkage, as ``test/exp/pairwise_f1``."""
    found: dict[str, float] = {}
    for linkage in results[0]["linkages"] if results else ():
        entries = [result["linkages"][linkage] for result in results]
        for part in PARTS:
            for metric in METRICS:
                values = [entry[part][metric] for entry in entries]
                known = [value for value in values if value is not None]
                if known:
                    found[f"{part}/{linkage}/{metric}"] = mean_and_deviation(known)[0]
    return found
