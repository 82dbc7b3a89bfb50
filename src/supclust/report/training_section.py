"""The parts of a report about training: losses, purity and alpha after every epoch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supclust.report.axes import PERCENT, number
from supclust.report.data import DatasetResults
from supclust.report.figures import Line, Strip, line_chart, strip_chart
from supclust.report.sections import kind_of
from supclust.tables.aggregate import mean_and_deviation, row_name


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
            axes = ("epoch", "dev purity in %")
            purities.append(_lines(row, purity, axes, words, percent=True))
    legend = "".join(
        f'<li><span class="sample {part}"></span>{name}</li>' for part, name in PARTS.items()
    )
    heading = f'<h4>Parts of the training loss</h4><ul class="legend">{legend}</ul>'
    shown = f'{heading}<div class="charts">{"".join(parts)}</div>' if parts else ""
    if purities:
        shown += f'<h4>Purity in training</h4><div class="charts">{"".join(purities)}</div>'
    return shown


def _lines(
    title: str, lines: Sequence[Line], axes: tuple[str, str], words: str, percent: bool = False
) -> str:
    return line_chart(
        *(title, lines),
        x_name=axes[0],
        y_name=axes[1],
        words=words,
        log=False if percent else None,
        y_within=PERCENT if percent else None,
    )


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
