"""The parts of a report about the results on one data set: table, splits, cut."""

from __future__ import annotations

import math
from collections.abc import Iterable

from supclust.hac.family import METHODS, TOP_DOWN
from supclust.metrics.threshold import ThresholdCurve
from supclust.report.axes import number
from supclust.report.data import DatasetResults
from supclust.report.escape import text
from supclust.report.figures import Line, Strip, Upright, line_chart, marker, strip_chart
from supclust.report.restored import LinkageCase, TreeCase
from supclust.tables.aggregate import METRICS, Cell, mean_and_deviation, row_name

KNOWN = (*METHODS, *TOP_DOWN)
LEAST_F1 = 0.02
"""Of its maximum: where the curve of F1 over cuts starts."""
_SIGNS = {"p<0.05": ("*", "p < 0.05"), "p<0.01": ("**", "p < 0.01")}


def in_order(linkages: Iterable[str]) -> list[str]:
    """Linkages in the order of the tables."""
    return sorted(set(linkages), key=lambda name: (*KNOWN, name).index(name))


def kind_of(linkage: str) -> int:
    """Marker and colour of a linkage."""
    return (*KNOWN, linkage).index(linkage)


def score_tables(group: DatasetResults) -> str:
    """One table per metric: best of a column, and whether the others differ from it."""
    tables = "".join(_table(group, metric) for metric in METRICS)
    note = (
        '<p class="note">Test scores in %, mean ± standard deviation over splits. '
        '<span class="best">Best</span>: the highest mean of its column. '
        "* p &lt; 0.05, ** p &lt; 0.01: differs from it (paired t-test over splits). "
        "No sign: the two cannot be told apart with these splits.</p>"
    )
    return f'<div class="tables">{tables}</div>{note}'


def _table(group: DatasetResults, metric: str) -> str:
    cells = [cell for cell in group.cells if cell.metric == metric]
    if not cells:
        return ""
    linkages = in_order(cell.linkage for cell in cells)
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in linkages)
    rows = ""
    for objective in dict.fromkeys(cell.objective for cell in cells):
        by_linkage = {cell.linkage: cell for cell in cells if cell.objective == objective}
        counts = sorted({cell.splits for cell in by_linkage.values()})
        rows += (
            f'<tr><th scope="row">{text(objective)}</th>'
            + "".join(_cell(by_linkage.get(name)) for name in linkages)
            + f"<td>{'–'.join(map(str, counts))}</td></tr>"
        )
    name = METRICS[metric]
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table: {text(name)}">'
        f"<table><caption>{text(name[0].upper() + name[1:])}, by objective (rows) and linkage"
        f'</caption><thead><tr><th scope="col">objective</th>{head}<th scope="col">splits</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "<td>–</td>"
    spread = "" if math.isnan(cell.deviation) else f" <small>± {100 * cell.deviation:.1f}</small>"
    shown = f"{100 * cell.mean:.1f}{spread}"
    if cell.mark == "best":
        return f'<td class="best"><strong>{shown}</strong><span class="badge">best</span></td>'
    sign, words = _SIGNS.get(cell.mark, ("", ""))
    star = f'<abbr title="{words}">{sign}</abbr>' if sign else ""
    return f"<td>{shown}{star}</td>"


def split_strips(group: DatasetResults) -> str:
    """A dot per split, objective by linkage, for both metrics."""
    charts = []
    for metric, name in METRICS.items():
        groups = []
        for row in group.rows:
            strips = [
                strip
                for linkage in in_order(cell.linkage for cell in group.cells)
                if (strip := _strip(group, row, linkage, metric)) is not None
            ]
            if strips:
                groups.append((row, strips))
        if groups:
            title = f"{name[0].upper()}{name[1:]} of every split"
            charts.append(strip_chart(title, groups, f"test {name} in %"))
    return f'<div class="pair">{"".join(charts)}</div>'


def _strip(group: DatasetResults, row: str, linkage: str, metric: str) -> Strip | None:
    dots = []
    for result in group.results:
        value = result["linkages"].get(linkage, {}).get("test", {}).get(metric)
        if value is not None and row_name(result) == row:
            dots.append((result["split"], value))
    if not dots:
        return None
    return Strip(linkage, kind_of(linkage), dots, mean_and_deviation([v for _, v in dots])[0])


def linkage_legend(group: DatasetResults) -> str:
    """Which marker is which linkage."""
    items = "".join(
        f"<li>{marker(kind_of(name))}{text(name)}</li>"
        for name in in_order(cell.linkage for cell in group.cells)
    )
    return f'<ul class="legend" aria-label="Markers">{items}<li>▏ mean over splits</li></ul>'


def cut_charts(case: TreeCase, first: str) -> str:
    """F1 at every possible cut, a chart per linkage, with the cut that was chosen on dev."""
    names = [first, *(name for name in in_order(case.linkages) if name != first)]
    charts = "".join(_cut_chart(name, case.linkages[name], case.part) for name in names)
    return f'<div class="charts">{charts}</div>'


def _cut_chart(linkage: str, case: LinkageCase, part: str) -> str:
    lines = []
    if case.dev is not None:
        lines.append(Line("dev blocks", _curve(case.dev), "line dev", steps=True))
    if case.test is not None:
        lines.append(Line(part, _curve(case.test), "line test", steps=True))
    best = float(max(case.test.f1)) if case.test is not None else math.nan
    words = f"Best possible on {part}: F1 {100 * best:.1f} %."
    upright = None
    if case.threshold is not None and math.isfinite(case.threshold):
        upright = Upright(case.threshold, f"cut {number(case.threshold)}")
        words = (
            f"Cut at {number(case.threshold, 4)}, chosen on dev: {part} F1 "
            f"{100 * (case.f1_again or 0):.1f} %. {words}"
        )
    title = f"{linkage} (alpha {number(case.alpha)})"
    return line_chart(
        *(title, lines),
        x_name="height of the cut",
        y_name="pairwise F1",
        words=words,
        upright=upright,
        y_range=(0.0, 1.0),
    )


def _curve(curve: ThresholdCurve) -> list[tuple[float, float]]:
    """Points where F1 changes, from where it is worth seeing: a few merges may lie far below."""
    pairs = zip(curve.heights.tolist(), curve.f1.tolist(), strict=True)
    finite = [(height, f1) for height, f1 in pairs if math.isfinite(height)]
    seen = LEAST_F1 * max((f1 for _, f1 in finite), default=0.0)
    start = next((i for i, (_, f1) in enumerate(finite) if f1 >= seen), 0)
    return finite[max(0, start - 1) :]
