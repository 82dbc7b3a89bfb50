"""The parts of a report about the results on one data set: table, splits, training, alpha, cut."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from supclust.experiment.tables import METRICS, Cell, mean_and_deviation, row_name
from supclust.experiment.values import LINKAGES, TOP_DOWN
from supclust.metrics.threshold import ThresholdCurve
from supclust.report.axes import number
from supclust.report.data import DatasetResults
from supclust.report.escape import text
from supclust.report.figures import Line, Strip, Upright, line_chart, marker, strip_chart
from supclust.report.restored import LinkageCase, TreeCase

KNOWN = (*LINKAGES, *TOP_DOWN)
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


def training_charts(group: DatasetResults) -> str:
    """Loss after every epoch, a chart per objective, a line per split."""
    charts = []
    for row in group.rows:
        records = _records(group, row)
        if records:
            charts.append(training_chart(row, records))
    missing = sum(record is None for record in group.records)
    gone = f'<p class="missing">{missing} training records are not there.</p>' if missing else ""
    return f'<div class="charts">{"".join(charts)}</div>{gone}'


def training_chart(row: str, records: Sequence[dict[str, Any]]) -> str:
    """Train and dev loss of some trainings after every epoch."""
    lines, last = [], []
    for record in records:
        split = record["split"]
        for part in ("train", "dev"):
            losses = _numbers(record.get(f"{part}_loss"))
            name = f"split {split}, {part} loss, {len(losses)} epochs"
            lines.append(Line(name, losses, f"line {part}", split))
        last += [losses[-1][1]] if (losses := _numbers(record.get("dev_loss"))) else []
    epochs = [record["epochs"] for record in records]
    ends = f"; last dev loss {_range(last)}" if last else ""
    words = f"{_several(records)}stopped after {_range(epochs)} epochs{ends}."
    words = words[0].upper() + words[1:]
    return line_chart(row, lines, x_name="epoch", y_name="loss", words=words, log=None)


PARTS = {"within": "pairs of one cluster", "across": "pairs of different clusters"}


def part_charts(group: DatasetResults) -> str:
    """What the loss is made of, and dev purity, where the records have them."""
    parts, purities = [], []
    for row in group.rows:
        records = _records(group, row)
        lines = [
            Line(f"split {r['split']}, {name}", points, f"line {part}", r["split"])
            for r in records
            for part, name in PARTS.items()
            if (points := _numbers(r.get(f"train_{part}")))
        ]
        if lines:
            words = "Training loss from " + " and from ".join(PARTS.values()) + "."
            axes = ("epoch", "loss")
            parts.append(_lines(row, lines, axes, words))
        purity = [
            Line(f"split {r['split']}", [(x, 100 * y) for x, y in points], "line dev", r["split"])
            for r in records
            if (points := _numbers(r.get("dev_purity")))
        ]
        if purity:
            ends = _range([line.points[-1][1] for line in purity])
            words = f"Dev purity ends at {ends} %."
            purities.append(_lines(row, purity, ("epoch", "dev purity in %"), words))
    legend = "".join(
        f'<li><span class="sample {part}"></span>{name}</li>' for part, name in PARTS.items()
    )
    heading = f'<h4>Parts of the training loss</h4><ul class="legend">{legend}</ul>'
    shown = f'{heading}<div class="charts">{"".join(parts)}</div>' if parts else ""
    if purities:
        shown += f'<h4>Purity in training</h4><div class="charts">{"".join(purities)}</div>'
    return shown


def _lines(title: str, lines: Sequence[Line], axes: tuple[str, str], words: str) -> str:
    return line_chart(title, lines, x_name=axes[0], y_name=axes[1], words=words, log=None)


def alpha_charts(group: DatasetResults) -> str:
    """Alpha of the exponential linkage: its way through training, and where it ended."""
    charts = []
    for row in group.rows:
        chart = alpha_chart(row, _records(group, row))
        charts += [chart] if chart else []
    learning = [r for r in group.records if r is not None and r.get("alpha") is not None]
    note = ""
    if learning and not charts:
        note = (
            '<p class="missing">These trainings did not record alpha after every epoch, so its '
            "way is not shown, only where it ended.</p>"
        )
    final = _final_alphas(group)
    return f'{note}<div class="charts">{final}{"".join(charts)}</div>' if final or charts else ""


def alpha_chart(row: str, records: Sequence[dict[str, Any]]) -> str:
    """Alpha of some trainings after every epoch; empty where they did not record it."""
    lines = [
        Line(f"split {record['split']}", path, "line alpha", record["split"])
        for record in records
        if (path := _numbers(record.get("alpha_path")))
    ]
    if not lines:
        return ""
    ends = [line.points[-1][1] for line in lines]
    words = f"{_several(lines)}alpha ends at {_range(ends)}."
    words = words[0].upper() + words[1:]
    title = f"{row}: alpha in training"
    return line_chart(title, lines, x_name="epoch", y_name="alpha", words=words)


def _final_alphas(group: DatasetResults) -> str:
    strips = []
    for row in group.rows:
        dots = [
            (result["split"], float(result["linkages"]["exp"]["alpha"]))
            for result in group.results
            if row_name(result) == row and "exp" in result["linkages"]
        ]
        if dots:
            mean = mean_and_deviation([alpha for _, alpha in dots])[0]
            strips.append(Strip(row, kind_of("exp"), dots, mean))
    if not strips:
        return ""
    name = "alpha (−∞ single, 0 average, ∞ complete)"
    return strip_chart("Alpha of every split", [("exp linkage", strips)], name, percent=False)


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
    """Points where F1 changes; a cut below everything starts at the first merge."""
    pairs = zip(curve.heights.tolist(), curve.f1.tolist(), strict=True)
    return [(height, f1) for height, f1 in pairs if math.isfinite(height)]


def _records(group: DatasetResults, row: str) -> list[dict[str, Any]]:
    """Training records of a row, each training once: results may share it."""
    found: dict[str, dict[str, Any]] = {}
    for result, record in zip(group.results, group.records, strict=True):
        if record is not None and row_name(result) == row:
            found.setdefault(result["model"], record)
    return sorted(found.values(), key=lambda record: record["split"])


def _numbers(values: Any) -> list[tuple[float, float]]:
    """(epoch, number) of what a record has, from epoch 1; what is no number is left out."""
    known = enumerate(values if isinstance(values, list) else (), start=1)
    return [(float(i), float(v)) for i, v in known if isinstance(v, int | float) and v == v]


def _range(values: Sequence[float]) -> str:
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def _several(of_splits: Sequence[object]) -> str:
    """As in ``5 splits; ``; nothing for one."""
    return f"{len(of_splits)} splits; " if len(of_splits) > 1 else ""
