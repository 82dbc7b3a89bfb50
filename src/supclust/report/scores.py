"""Scores of the results on one data set: tables, a strip of dots per split, F1 by cut."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from supclust.hac.family import METHODS, TOP_DOWN
from supclust.metrics.significance import mean_and_deviation
from supclust.metrics.threshold import ThresholdCurve
from supclust.model.aggregate import METRICS, linkage_order, row_name, score_table
from supclust.report.charts import Line, Strip, Upright, line_chart, strip_chart
from supclust.report.data import DatasetResults
from supclust.report.restore import LinkageTrees, SplitTrees
from supclust.report.scale import number

KNOWN = (*METHODS, *TOP_DOWN)
LEAST_F1 = 0.02
"""Share of its maximum at which the curve of F1 over cuts starts."""


def in_order(linkages: Iterable[str]) -> list[str]:
    """Linkages in the order of the tables."""
    return sorted(set(linkages), key=linkage_order)


def marker_of(linkage: str) -> int:
    """Index of a linkage's marker and colour."""
    return (*KNOWN, linkage).index(linkage)


def score_tables(group: DatasetResults) -> list[dict[str, Any]]:
    """One table per metric: linkages, and rows of (objective, cells, numbers of splits)."""
    tables = []
    for metric, name in METRICS.items():
        linkages, rows = score_table([cell for cell in group.cells if cell.metric == metric])
        if rows:
            tables.append({"name": name, "linkages": linkages, "rows": rows})
    return tables


def split_strips(group: DatasetResults) -> list[Markup]:
    """A dot per split, objective by linkage, for both metrics."""
    linkages = in_order(cell.linkage for cell in group.cells)
    charts = []
    for metric, name in METRICS.items():
        groups = []
        for row in group.rows:
            strips = [_strip(group, row, linkage, metric) for linkage in linkages]
            if kept := [strip for strip in strips if strip.dots]:
                groups.append((row, kept))
        if groups:
            title = f"{name[0].upper()}{name[1:]} of every split"
            charts.append(strip_chart(title, groups, f"test {name} in %"))
    return charts


def _strip(group: DatasetResults, row: str, linkage: str, metric: str) -> Strip:
    dots = []
    for result in group.results:
        value = result["linkages"].get(linkage, {}).get("test", {}).get(metric)
        if value is not None and row_name(result) == row:
            dots.append((result["split"], value))
    mean = mean_and_deviation([value for _, value in dots])[0] if dots else math.nan
    return Strip(linkage, marker_of(linkage), dots, mean)


def cut_charts(trees: SplitTrees, first: str) -> list[Markup]:
    """F1 at every possible cut, a chart per linkage, with the cut that was chosen on dev."""
    names = [first, *(name for name in in_order(trees.linkages) if name != first)]
    return [_cut_chart(name, trees.linkages[name], trees.part) for name in names]


def _cut_chart(linkage: str, trees: LinkageTrees, part: str) -> Markup:
    lines = []
    if trees.dev is not None:
        lines.append(Line("dev blocks", _curve(trees.dev), "line dev", steps=True))
    if trees.test is not None:
        lines.append(Line(part, _curve(trees.test), "line test", steps=True))
    best = float(max(trees.test.f1)) if trees.test is not None else math.nan
    words = f"Best possible at one height on {part}: F1 {100 * best:.1f} %."
    if trees.ceiling is not None:
        words += f" The best cut of these trees would reach {100 * trees.ceiling:.1f} %."
    if trees.f1_learned is not None:
        words = f"The learned cut, which is used, has F1 {100 * trees.f1_learned:.1f} %. {words}"
    upright = None
    if trees.threshold is not None and math.isfinite(trees.threshold):
        upright = Upright(trees.threshold, f"cut {number(trees.threshold)}")
        words = (
            f"Cut at {number(trees.threshold, 4)}, chosen on other data: {part} F1 "
            f"{100 * (trees.f1_recomputed or 0):.1f} %. {words}"
        )
    return line_chart(
        f"{linkage} (alpha {number(trees.alpha)})",
        lines,
        x_name="height of the cut",
        y_name="pairwise F1",
        words=words,
        upright=upright,
        y_range=(0.0, 1.0),
    )


def _curve(curve: ThresholdCurve) -> list[tuple[float, float]]:
    """(height, F1), without the cuts below the first F1 of at least `LEAST_F1` of the best."""
    pairs = zip(curve.heights.tolist(), curve.f1.tolist(), strict=True)
    finite = [(height, f1) for height, f1 in pairs if math.isfinite(height)]
    least = LEAST_F1 * max((f1 for _, f1 in finite), default=0.0)
    start = next((i for i, (_, f1) in enumerate(finite) if f1 >= least), 0)
    return finite[max(0, start - 1) :]
