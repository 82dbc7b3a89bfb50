"""Charts of training: losses, purity and alpha after every epoch; calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from supclust.metrics.significance import mean_and_deviation
from supclust.model.aggregate import row_name
from supclust.report.charts import Line, Strip, line_chart, strip_chart
from supclust.report.data import DatasetResults
from supclust.report.scale import PERCENT, number
from supclust.report.scores import marker_of

PARTS = {"within": "pairs of one cluster", "across": "pairs of different clusters"}


def training_charts(group: DatasetResults) -> dict[str, Any]:
    """Values for the training part of a data set's section: lists of charts."""
    records = {row: _records(group, row) for row in group.rows}
    alphas = [chart for row in group.rows if (chart := alpha_chart(row, records[row]))]
    learned = any(record and record.get("alpha") is not None for record in group.records)
    final = _final_alphas(group)
    return {
        "losses": [loss_chart(row, records[row]) for row in group.rows if records[row]],
        "missing": sum(record is None for record in group.records),
        "parts": [c for row in group.rows if (c := _part_chart(row, records[row]))],
        "part_names": PARTS,
        "purities": [c for row in group.rows if (c := _purity_chart(row, records[row]))],
        "alphas": ([final] if final else []) + alphas,
        "alpha_not_recorded": learned and not alphas,
    }


def loss_chart(title: str, records: Sequence[dict[str, Any]]) -> Markup:
    """Train and dev loss of some trainings after every epoch."""
    lines, last = [], []
    for record in records:
        for part in ("train", "dev"):
            losses = _by_epoch(record.get(f"{part}_loss"))
            name = f"split {record['split']}, {part} loss, {len(losses)} epochs"
            lines.append(Line(name, losses, f"line {part}", record["split"]))
        if dev := _by_epoch(record.get("dev_loss")):
            last.append(dev[-1][1])
    epochs = _range([record["epochs"] for record in records])
    ends = f"; last dev loss {_range(last)}" if last else ""
    words = _sentence(records, f"stopped after {epochs} epochs{ends}.")
    return line_chart(title, lines, x_name="epoch", y_name="loss", words=words, log=None)


def alpha_chart(row: str, records: Sequence[dict[str, Any]]) -> Markup | None:
    """Alpha of some trainings after every epoch; ``None`` where they did not record it."""
    lines = _lines(records, "alpha_path", "line alpha")
    if not lines:
        return None
    words = _sentence(lines, f"alpha ends at {_range([line.points[-1][1] for line in lines])}.")
    title = f"{row}: alpha in training"
    return line_chart(title, lines, x_name="epoch", y_name="alpha", words=words)


def _part_chart(row: str, records: Sequence[dict[str, Any]]) -> Markup | None:
    """Training loss from pairs within and across clusters."""
    lines = [
        line
        for record in records
        for part, name in PARTS.items()
        for line in _lines([record], f"train_{part}", f"line {part}", f", {name}")
    ]
    if not lines:
        return None
    words = "Training loss from " + " and from ".join(PARTS.values()) + "."
    return line_chart(row, lines, x_name="epoch", y_name="loss", words=words, log=None)


def _purity_chart(row: str, records: Sequence[dict[str, Any]]) -> Markup | None:
    lines = _lines(records, "dev_purity", "line dev", factor=100)
    if not lines:
        return None
    words = f"Dev purity ends at {_range([line.points[-1][1] for line in lines])} %."
    return line_chart(
        row, lines, x_name="epoch", y_name="dev purity in %", words=words, y_within=PERCENT
    )


def _final_alphas(group: DatasetResults) -> Markup | None:
    """Alpha of exponential linkage, a dot per split."""
    strips = []
    for row in group.rows:
        dots = [
            (result["split"], float(result["linkages"]["exp"]["alpha"]))
            for result in group.results
            if row_name(result) == row and "exp" in result["linkages"]
        ]
        if dots:
            mean = mean_and_deviation([alpha for _, alpha in dots])[0]
            strips.append(Strip(row, marker_of("exp"), dots, mean))
    if not strips:
        return None
    name = "alpha (−∞ single, 0 average, ∞ complete)"
    return strip_chart("Alpha of every split", [("exp linkage", strips)], name, percent=False)


def _records(group: DatasetResults, row: str) -> list[dict[str, Any]]:
    """Training records of a row, each training once: several results may share one."""
    records: dict[str, dict[str, Any]] = {}
    for result, record in zip(group.results, group.records, strict=True):
        if record is not None and row_name(result) == row:
            records.setdefault(result["model"], record)
    return sorted(records.values(), key=lambda record: record["split"])


def _lines(
    records: Sequence[dict[str, Any]], key: str, style: str, suffix: str = "", factor: float = 1
) -> list[Line]:
    """A line per record that has values under a key."""
    return [
        Line(f"split {r['split']}{suffix}", [(x, factor * y) for x, y in points], style, r["split"])
        for r in records
        if (points := _by_epoch(r.get(key)))
    ]


def _by_epoch(values: Any) -> list[tuple[float, float]]:
    """(epoch, value) from epoch 1; missing values are left out."""
    known = enumerate(values if isinstance(values, list) else (), start=1)
    return [(float(i), float(v)) for i, v in known if isinstance(v, int | float) and v == v]


def _range(values: Sequence[float]) -> str:
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def _sentence(of_splits: Sequence[object], words: str) -> str:
    """As in ``5 splits; words``, or ``Words`` for one split."""
    count = f"{len(of_splits)} splits; " if len(of_splits) > 1 else ""
    text = count + words
    return text[0].upper() + text[1:]


def calibration_chart(record: Mapping[str, Any]) -> Markup | None:
    """Confidence against what was observed on entities held out; ``None`` for models without it.

    Args:
        record: of a model's training.
    """
    stored = record.get("confidence")
    if stored is None or not stored["curve"]["confidence"]:
        return None
    curve = stored["curve"]
    points = [
        (100 * x, 100 * y) for x, y in zip(curve["confidence"], curve["observed"], strict=True)
    ]
    low, high = min(min(one) for one in points), max(max(one) for one in points)
    skill = stored.get("skill")
    explained = "" if skill is None else f" Squared error avoided, against a constant: {skill:.0%}."
    return line_chart(
        "Calibration of the confidence",
        [
            Line("as said", [(low, low), (high, high)], "line dev"),
            Line("observed", points, "line test"),
        ],
        x_name="confidence in %",
        y_name="records that belong, in %",
        words=f"In training, on {int(sum(curve['records'])):,} records of entities that were held "
        f"out: expected calibration error {100 * stored['error']:.2f} %, that of the mean "
        f"probability of pairs {100 * stored['raw_error']:.2f} %.{explained} Dashed: a perfect "
        "confidence.",
        y_within=(0, 100),
    )
