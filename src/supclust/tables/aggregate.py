"""Results to tables: mean and deviation over splits per objective x linkage."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from supclust.hac.family import METHODS, TOP_DOWN
from supclust.objectives import OBJECTIVES
from supclust.tables.formats import MARKUPS, Markup, Table
from supclust.tables.significance import interval, marks

METRICS = {"dendrogram_purity": "dendrogram purity", "pairwise_f1": "pairwise F1"}
SCORES = "test scores in %"
LEGEND = ", mean ± standard deviation over splits"
LEGEND_INTERVAL = ", mean and its 95 % confidence interval over splits"


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
        mark: best, p<0.05, p<0.01 or nothing.
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


def summarise(results: Iterable[dict[str, Any]]) -> list[Cell]:
    """Average finished results over their splits (and seeds).

    One score per split enters; where several results have it (seeds; folders of one linkage and
    of all), their mean does.
    """
    scores: dict[tuple[str, str, str, str], dict[str, dict[int, list[float]]]] = {}
    for result in results:
        if result["status"] != "done":
            continue
        for linkage, entry in result["linkages"].items():
            for metric in METRICS:
                value = entry["test"].get(metric)
                if value is None:
                    continue
                column = (result["dataset"], result["source"], linkage, metric)
                rows = scores.setdefault(column, {})
                rows.setdefault(row_name(result), {}).setdefault(result["split"], []).append(value)
    cells = []
    for (dataset, source, linkage, metric), rows in scores.items():
        averaged = {
            name: {split: math.fsum(values) / len(values) for split, values in splits.items()}
            for name, splits in rows.items()
        }
        found = marks(averaged)
        for name, splits in averaged.items():
            values = list(splits.values())
            place = (dataset, source, name, linkage, metric)
            spread = (*mean_and_deviation(values), len(values))
            cells.append(Cell(*place, *spread, found[name], *interval(values)))
    return sorted(cells, key=_order)


def row_name(result: dict[str, Any]) -> str:
    """Objective, and the values of further axes of a sweep."""
    axes = "".join(f" {key}={value}" for key, value in result.get("axes", {}).items())
    return f"{result['objective']}{axes}"


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation (k - 1) of the values.

    >>> mean_and_deviation([1.0, 3.0])
    (2.0, 1.4142135623730951)
    """
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, math.nan
    return mean, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))


def as_csv(cells: Sequence[Cell]) -> str:
    """One line per cell; the source of the data is a column."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    fields = list(Cell.__dataclass_fields__)
    writer.writerow(fields)
    for cell in cells:
        values = [getattr(cell, field) for field in fields]
        writer.writerow(["" if value != value else value for value in values])
    return stream.getvalue()


def result_tables(cells: Sequence[Cell], markup: Markup, *, intervals: bool = False) -> list[Table]:
    """A table per data set and metric: objectives down, linkages across.

    Args:
        cells: of `summarise`.
        markup: of the format.
        intervals: confidence intervals in place of standard deviations.
    """
    found = []
    for dataset, source, metric in dict.fromkeys((c.dataset, c.source, c.metric) for c in cells):
        chosen = [c for c in cells if (c.dataset, c.source, c.metric) == (dataset, source, metric)]
        linkages = sorted({c.linkage for c in chosen}, key=linkage_order)
        rows = [["objective", *linkages, "splits"]]
        for objective in dict.fromkeys(c.objective for c in chosen):
            by_linkage = {c.linkage: c for c in chosen if c.objective == objective}
            shown = ["–"] * len(linkages)
            for i, linkage in enumerate(linkages):
                if linkage in by_linkage:
                    cell = by_linkage[linkage]
                    text = cell.interval_text if intervals else cell.text
                    shown[i] = markup.marked(text, cell.mark)
            counts = sorted({c.splits for c in by_linkage.values()})
            rows.append([objective, *shown, "-".join(map(str, counts))])
        found.append(Table(f"{dataset}{stand_in_warning(source)}: {METRICS[metric]}", rows))
    spread = LEGEND_INTERVAL if intervals else LEGEND
    repeated = any(cell.splits > 1 for cell in cells)
    legend = SCORES + (spread if repeated else "")
    if _unlike_splits(cells):
        legend += "; marked by the splits that all rows of a column have"
    return with_legend(found, legend + markup.legend(cell.mark for cell in cells))


def _unlike_splits(cells: Sequence[Cell]) -> bool:
    counts: dict[tuple[str, ...], set[int]] = {}
    for cell in cells:
        counts.setdefault((cell.dataset, cell.source, cell.linkage), set()).add(cell.splits)
    return any(len(found) > 1 for found in counts.values())


def with_legend(tables: Sequence[Table], legend: str) -> list[Table]:
    """The tables, with a note below the last."""
    *first, last = tables
    return [*first, last._replace(notes=(*last.notes, "", legend))]


def as_text(cells: Sequence[Cell]) -> str:
    """Aligned columns for a terminal."""
    return MARKUPS["text"].page(result_tables(cells, MARKUPS["text"]))


def stand_in_warning(source: str) -> str:
    """What follows the name of a data set that is not the real one."""
    return " [STAND-IN: generated data, not the real set]" if source == "stand-in" else ""


def linkage_order(name: str) -> tuple[int, str]:
    """Sorts linkages as the paper does, then by name."""
    known = (*METHODS, *TOP_DOWN)
    return (known.index(name) if name in known else len(known), name)


@cache
def objective_order(name: str) -> tuple[int, str]:
    """Sorts objectives in the order of `OBJECTIVES`, then by name."""
    known = list(OBJECTIVES)
    return (known.index(name) if name in known else len(known), name)


def _order(cell: Cell) -> tuple[Any, ...]:
    objective = objective_order(cell.objective.split(" ")[0])
    metric = list(METRICS).index(cell.metric)
    linkage = linkage_order(cell.linkage)
    return cell.dataset, cell.source, metric, objective, cell.objective, linkage
