"""Results to tables: mean and deviation over splits per objective x linkage."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from supclust.experiment.significance import marks
from supclust.experiment.values import LINKAGES, OBJECTIVES, TOP_DOWN

METRICS = {"dendrogram_purity": "dendrogram purity", "pairwise_f1": "pairwise F1"}
_SIGNS = {"best": "", "p<0.05": "*", "p<0.01": "**", "": ""}
LEGEND = (
    "test scores in %, mean ± standard deviation over splits; best of a column in bold, "
    "* p < 0.05 and ** p < 0.01 against it (paired t-test over splits)"
)


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

    @property
    def text(self) -> str:
        """As in ``93.2 ± 1.4``, in percent."""
        spread = "" if math.isnan(self.deviation) else f" ± {100 * self.deviation:.1f}"
        return f"{100 * self.mean:.1f}{spread}{_SIGNS[self.mark]}"


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
            mean, deviation = mean_and_deviation(list(splits.values()))
            cells.append(
                Cell(
                    *(dataset, source, name, linkage, metric, mean, deviation),
                    len(splits),
                    found[name],
                )
            )
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


def as_text(cells: Sequence[Cell]) -> str:
    """Aligned columns for a terminal."""
    blocks = []
    for title, rows in _tables(cells, bold=lambda text: f"{text} <"):
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
        lines.insert(1, "  ".join("-" * width for width in widths))
        blocks.append("\n".join([title, *(line.rstrip() for line in lines)]))
    return "\n\n".join([*blocks, LEGEND.replace("in bold", "marked <")]) + "\n"


def as_markdown(cells: Sequence[Cell]) -> str:
    """GitHub tables."""
    blocks = []
    for title, rows in _tables(cells, bold=lambda text: f"**{text}**", star="\\*"):
        lines = [f"| {' | '.join(row)} |" for row in rows]
        lines.insert(1, "|" + " --- |" * len(rows[0]))
        blocks.append("\n".join([f"### {title}", "", *lines]))
    return "\n\n".join([*blocks, LEGEND.replace("*", "\\*")]) + "\n"


def as_latex(cells: Sequence[Cell]) -> str:
    """``tabular`` environments, with booktabs."""
    blocks = []
    for title, rows in _tables(cells, bold=lambda text: f"\\textbf{{{text}}}"):
        escaped = [[cell.replace("_", r"\_") for cell in row] for row in rows]
        head, *body = [" & ".join(row) + r" \\" for row in escaped]
        lines = ["\\toprule", head, "\\midrule", *body, "\\bottomrule"]
        text = "\n".join([f"\\begin{{tabular}}{{l{'c' * (len(rows[0]) - 1)}}}", *lines])
        text = text.replace("±", "$\\pm$").replace("–", "--")
        blocks.append(f"% {title}\n{text}\n\\end{{tabular}}")
    return "\n\n".join([*blocks, "% " + LEGEND]) + "\n"


FORMATS: dict[str, Callable[[Sequence[Cell]], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
}


def _tables(
    cells: Sequence[Cell], bold: Callable[[str], str], star: str = "*"
) -> list[tuple[str, list[list[str]]]]:
    """(title, rows with a header) per data set and metric."""
    found = []
    for dataset, source, metric in dict.fromkeys((c.dataset, c.source, c.metric) for c in cells):
        chosen = [c for c in cells if (c.dataset, c.source, c.metric) == (dataset, source, metric)]
        linkages = sorted({c.linkage for c in chosen}, key=_linkage_order)
        rows = [["objective", *linkages, "splits"]]
        for objective in dict.fromkeys(c.objective for c in chosen):
            by_linkage = {c.linkage: c for c in chosen if c.objective == objective}
            shown = ["–"] * len(linkages)
            for i, linkage in enumerate(linkages):
                if linkage in by_linkage:
                    cell = by_linkage[linkage]
                    text = cell.text.replace("*", star)
                    shown[i] = bold(text) if cell.mark == "best" else text
            counts = sorted({c.splits for c in by_linkage.values()})
            rows.append([objective, *shown, "-".join(map(str, counts))])
        found.append((f"{dataset}{_warning(source)}: {METRICS[metric]}", rows))
    return found


def _warning(source: str) -> str:
    return " [STAND-IN: generated data, not the real set]" if source == "stand-in" else ""


def _linkage_order(name: str) -> tuple[int, str]:
    known = (*LINKAGES, *TOP_DOWN)
    return (known.index(name) if name in known else len(known), name)


def _order(cell: Cell) -> tuple[Any, ...]:
    first = cell.objective.split(" ")[0]
    place = OBJECTIVES.index(first) if first in OBJECTIVES else len(OBJECTIVES)
    metric = list(METRICS).index(cell.metric)
    return cell.dataset, cell.source, metric, place, cell.objective, _linkage_order(cell.linkage)
