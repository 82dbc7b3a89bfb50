"""Scores of results, aggregated over splits per data set, objective and linkage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from supclust.hac.family import METHODS, TOP_DOWN
from supclust.metrics.significance import interval, marks, mean_and_deviation
from supclust.objectives import OBJECTIVES

METRICS = {"dendrogram_purity": "dendrogram purity", "pairwise_f1": "pairwise F1"}
STARS = {"p<0.05": "*", "p<0.01": "**"}
PARTS = ("dev", "test")
SCORES = ("dendrogram_purity", "precision", "recall", "pairwise_f1")


@dataclass(frozen=True)
class Cell:
    """One data set, objective and linkage under one metric.

    Attributes:
        dataset: title of the data set.
        source: real, stand-in or file.
        objective: name, with the values of further axes.
        linkage: name.
        metric: key of `METRICS`.
        mean: over splits.
        deviation: standard deviation over splits (k - 1); NaN for one split.
        splits: number of splits.
        mark: ``best``, ``p<0.05``, ``p<0.01`` or empty.
        low: lower end of the mean's 95 % confidence interval; NaN for one split.
        high: upper end.
    """

    dataset: str
    source: str
    objective: str
    linkage: str
    metric: str
    mean: float
    deviation: float
    splits: int
    mark: str
    low: float = math.nan
    high: float = math.nan

    @property
    def percent(self) -> str:
        """As in ``93.2``."""
        return f"{100 * self.mean:.1f}"

    @property
    def text(self) -> str:
        """As in ``93.2 ± 1.4``, in percent."""
        spread = "" if math.isnan(self.deviation) else f" ± {100 * self.deviation:.1f}"
        return self.percent + spread

    @property
    def interval_text(self) -> str:
        """As in ``93.2 (92.8 to 93.6)``, in percent."""
        known = not math.isnan(self.low)
        return self.percent + (f" ({100 * self.low:.1f} to {100 * self.high:.1f})" if known else "")


class ScoreRow(NamedTuple):
    """One objective of a table of scores."""

    objective: str
    cells: list[Cell | None]
    """One per linkage of the table."""
    splits: list[int]
    """Different numbers of splits of the cells, ascending."""


def summarise(results: Iterable[dict[str, Any]]) -> list[Cell]:
    """Average finished results over their splits (and seeds).

    One score per split is counted: the mean, where several results have it (seeds; folders of one
    linkage and of all).
    """
    scores: dict[tuple[str, str, str, str], dict[str, dict[int, list[float]]]] = {}
    for result in results:
        if result["status"] != "done":
            continue
        for linkage, entry in result["linkages"].items():
            for metric in METRICS:
                value = entry["test"].get(metric)
                if value is not None:
                    column = (result["dataset"], result["source"], linkage, metric)
                    row = scores.setdefault(column, {}).setdefault(row_name(result), {})
                    row.setdefault(result["split"], []).append(value)
    cells = []
    for (dataset, source, linkage, metric), rows in scores.items():
        means = {
            name: {split: math.fsum(values) / len(values) for split, values in splits.items()}
            for name, splits in rows.items()
        }
        marked = marks(means)
        for name, splits in means.items():
            values = list(splits.values())
            mean, deviation = mean_and_deviation(values)
            key = (dataset, source, name, linkage, metric)
            ends = interval(values)
            cells.append(Cell(*key, mean, deviation, len(values), marked[name], *ends))
    return sorted(cells, key=_order)


def score_table(cells: Sequence[Cell]) -> tuple[list[str], list[ScoreRow]]:
    """Arrange the cells of one data set and metric: linkages across, objectives down."""
    linkages = sorted({cell.linkage for cell in cells}, key=linkage_order)
    rows = []
    for objective in dict.fromkeys(cell.objective for cell in cells):
        by_linkage = {cell.linkage: cell for cell in cells if cell.objective == objective}
        counts = sorted({cell.splits for cell in by_linkage.values()})
        rows.append(ScoreRow(objective, [by_linkage.get(name) for name in linkages], counts))
    return linkages, rows


def legend(cells: Sequence[Cell], *, best: str, worse: str, intervals: bool = False) -> str:
    """Explain the numbers and marks of a table of scores.

    Args:
        cells: of the table.
        best: explains the mark of the best cell of a column.
        worse: explains the marks of significantly lower cells.
        intervals: whether it shows confidence intervals in place of standard deviations.
    """
    text = "test scores in %"
    if any(cell.splits > 1 for cell in cells):
        interval_words = ", mean and its 95 % confidence interval over splits"
        text += interval_words if intervals else ", mean ± standard deviation over splits"
    counts: dict[tuple[str, ...], set[int]] = {}
    for cell in cells:
        counts.setdefault((cell.dataset, cell.source, cell.linkage), set()).add(cell.splits)
    if any(len(different) > 1 for different in counts.values()):
        text += "; marked by the splits that all rows of a column have"
    return text + mark_legend(cells, best=best, worse=worse)


def mark_legend(cells: Iterable[Cell], *, best: str, worse: str) -> str:
    """Explain the marks that occur, after a semicolon; empty where there are none."""
    present = {cell.mark for cell in cells}
    shown = [best] if "best" in present else []
    shown += [worse] if present & {*STARS} else []
    return "; " + ", ".join(shown) if shown else ""


def row_name(result: Mapping[str, Any]) -> str:
    """Objective, and the values of further axes of a sweep."""
    axes = "".join(f" {key}={value}" for key, value in result.get("axes", {}).items())
    return f"{result['objective']}{axes}"


def stand_in_warning(source: str) -> str:
    """Suffix for the name of a data set that is not the real one."""
    return " [STAND-IN: generated data, not the real set]" if source == "stand-in" else ""


def linkage_order(name: str) -> tuple[int, str]:
    """Sort key of linkages: the order of the paper, then by name."""
    known = (*METHODS, *TOP_DOWN)
    return (known.index(name) if name in known else len(known), name)


@cache
def objective_order(name: str) -> tuple[int, str]:
    """Sort key of objectives: the order of `OBJECTIVES`, then by name."""
    known = list(OBJECTIVES)
    return (known.index(name) if name in known else len(known), name)


def _order(cell: Cell) -> tuple[Any, ...]:
    objective = objective_order(cell.objective.split(" ")[0])
    metric = list(METRICS).index(cell.metric)
    linkage = linkage_order(cell.linkage)
    return cell.dataset, cell.source, metric, objective, cell.objective, linkage


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
