"""The page of a model of a bare table: what it compares, how it decides, and what is doubtful.

A table of any size is shown: of its components some are drawn, those with the most doubtful merges
and the largest that fit.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supclust.data.errors import DataError
from supclust.explain.component import sides
from supclust.hac.graph.forest import Forest, Ints
from supclust.metrics.threshold import ThresholdCurve
from supclust.report.model_blocks import Columns
from supclust.report.page import page, render
from supclust.report.restore import LinkageTrees, SplitTrees
from supclust.report.scale import number
from supclust.report.scores import cut_charts
from supclust.report.training import calibration_chart
from supclust.report.tree_section import tree_section
from supclust.report.trees import Points

if TYPE_CHECKING:
    from supclust.model.trained import TrainedModel
    from supclust.resolve.apply import Scored

MOST_FEATURES = 40
_DOUBTFUL = 20  # merges that are listed
_DRAWN = 8  # components
_LARGEST = 400  # records of a drawn component
_SIDE = 3  # records of a side of a merge that are shown
_VALUE = 60  # characters of a record


def table_model_page(model: TrainedModel, name: str, data: Path | None, columns: Columns) -> str:
    """The page of a model of a bare table.

    Args:
        model: of a bare table.
        name: of its folder.
        data: table that it is to cluster; ``None``: only what was learned is shown.
        columns: of the table.
    """
    facts = model.record.get("entities")
    if facts is None:
        raise DataError("the model does not say how it was learned; fit it with supclust fit", name)
    sections = [
        ("learned", "What was learned", render("table_learned.html", **_learned(model))),
        (
            "candidates",
            "Which records are compared",
            render("table_candidates.html", **_rules(model)),
        ),
    ]
    curve = _held_out(model)
    charts = cut_charts(curve, model.linkage) if curve is not None else []
    calibration = calibration_chart(model.record)
    charts = [*charts, *([calibration] if calibration is not None else [])]
    if charts:
        sections.append(("cut", "Where to cut", render("table_cut.html", charts=charts)))
    cards: list[tuple[str, str, str]] = []
    if data is not None:
        shown, cards = _clustered(model, data, columns)
        sections += shown
    held_out = model.record.get("dev")
    if held_out is not None:
        detail = f"precision {held_out['precision']:.3f}, recall {held_out['recall']:.3f}"
        cards.append((f"{held_out['pairwise_f1']:.3f}", "pairwise F1 held out", detail))
    lost = f"{100 * facts['never_compared']:.1f} %"
    cards.append((lost, "of the labelled pairs", "of training were never compared"))
    lead = render("table_lead.html", file=data.name if data else None, facts=facts, cards=cards)
    title = f"{data.name}, clustered by the model in {name}" if data else f"The model in {name}"
    return page(title, lead, sections)


def _learned(model: TrainedModel) -> dict[str, Any]:
    """Linkage, cut, and features by importance or weight, the largest first."""
    facts: dict[str, Any] = model.record["entities"]
    missing = (model.records or {}).get("missing")
    shown = [
        ("pair model", facts["pair_model"]),
        ("linkage", f"{model.linkage}, alpha {number(model.alpha, 4)}"),
        ("cut", f"merges up to {number(model.threshold, 4)} (minus log odds) are made"),
        ("a pair that is not compared counts", number(float(missing), 4) if missing else "0"),
        ("labels", facts["reason"]),
    ]
    importances = model.record.get("importances")
    if importances is not None:
        sizes = list(importances.items())
        words = "Share of the gain of all splits of the trees."
    else:
        weights = model.weights.get("average_weight", np.zeros(len(model.feature_names)))
        pairs = zip(model.feature_names, weights.astype(float).tolist(), strict=True)
        sizes = sorted(pairs, key=lambda one: -abs(one[1]))
        words = "A positive weight pushes two records apart, a negative one draws them together."
    return {
        "facts": shown,
        "words": words,
        "sizes": sizes[:MOST_FEATURES],
        "largest": max((abs(size) for _, size in sizes), default=0.0) or 1.0,
        "left_out": max(0, len(sizes) - MOST_FEATURES),
    }


def _rules(model: TrainedModel) -> dict[str, Any]:
    described = model.records or {}
    facts: dict[str, Any] = model.record["entities"]
    return {
        "rules": described.get("candidates") or [],
        "all_pairs": described.get("all_pairs"),
        "pairs": facts["pairs"],
        "records": facts["records"],
        "lost": facts["never_compared"],
    }


def _held_out(model: TrainedModel) -> SplitTrees | None:
    """The threshold curve of training, as charts take it."""
    stored = model.record.get("threshold_curve")
    if stored is None:
        return None
    arrays = {name: np.array(stored[name], np.float64) for name in ("precision", "recall", "f1")}
    thresholds = np.array(stored["thresholds"], np.float64)
    curve = ThresholdCurve(thresholds, thresholds, **arrays)
    at = int(np.searchsorted(thresholds, model.threshold, side="right")) - 1
    f1 = float(curve.f1[max(at, 0)])
    linkage = LinkageTrees(model.alpha, model.threshold, None, curve, {}, f1_recomputed=f1)
    return SplitTrees({}, {}, {model.linkage: linkage}, part="entities held out")


def _clustered(
    model: TrainedModel, data: Path, columns: Columns
) -> tuple[list[tuple[str, str, Any]], list[tuple[str, str, str]]]:
    """Sections and headline of a table that the model clusters."""
    from supclust.data.records.columns import read_columns
    from supclust.data.tables.reader import open_table
    from supclust.resolve.apply import id_order, in_order, score_values
    from supclust.resolve.table_model import read_values

    table = open_table(data)
    values = read_values(table, model)
    described = model.records or {}
    label = str(columns.label or described.get("label"))
    id = str(described.get("id"))
    present = [name for name in (label, id) if name in table.names]
    texts = read_columns(table, dict.fromkeys(present, "text")) if present else {}
    order = id_order(texts[id]) if id in texts else None  # as `cluster`, so that ties are the same
    values, texts = in_order(values, order), in_order(texts, order)
    scored = score_values(values, model)
    records = _Shown(
        values,
        [one for one in described["columns"] if one in values],
        texts.get(id),
        texts.get(label),
    )
    clusters = scored.forest.labels_at(model.threshold)
    entities = int(clusters.max(initial=-1)) + 1
    doubtful = doubtful_merges(scored.forest, model.threshold)
    merges = render("table_merges.html", merges=[_merge(one, records) for one in doubtful])
    sections = [("doubtful", "The most doubtful merges", merges)]
    trees = _drawn(model, scored, records, [one[2][0] for one in doubtful])
    if trees.blocks:
        drawn = tree_section(trees, model.linkage, "tree0")
        sections.append(("tree", "Some components", drawn))
    n = len(clusters)
    cards = [(f"{entities:,}", "entities", f"of {n:,} records; {scored.pairs:,} pairs compared")]
    return sections, cards


class _Shown:
    """Records as lines of text, with their ids and labels."""

    def __init__(
        self,
        values: dict[str, Any],
        columns: list[str],
        ids: list[str | None] | None,
        labels: list[str | None] | None,
    ) -> None:
        self.values, self.columns, self.ids, self.labels = values, columns, ids, labels

    def text(self, row: int) -> str:
        parts = [self.values[name][row] for name in self.columns]
        words = [str(part) for part in parts if part is not None and part == part]
        shown = " · ".join(" ".join(word.split()) for word in words)
        name = (self.ids[row] if self.ids else None) or f"record {row + 1}"
        return f"{name}: {shown[:_VALUE]}{'…' if len(shown) > _VALUE else ''}"

    def points(self, name: str, rows: Ints) -> Points:
        labels = [self.labels[row] if self.labels else None for row in rows.tolist()]
        names = sorted({one for one in labels if one is not None})
        code = {one: k for k, one in enumerate(names)}
        codes = np.array([-1 if one is None else code[one] for one in labels], np.int64)
        return Points(name, [self.text(row) for row in rows.tolist()], codes, names)


def doubtful_merges(
    forest: Forest, threshold: float, most: int = _DOUBTFUL
) -> list[tuple[float, Ints, Ints]]:
    """Merges with the heights nearest to the cut: height, and the records of either side.

    Args:
        forest: of all records.
        threshold: height of the cut.
        most: merges, one of a component.
    """
    finite = np.flatnonzero(np.isfinite(forest.heights))
    order = finite[np.argsort(np.abs(forest.heights[finite] - threshold), kind="stable")]
    merges: list[tuple[float, Ints, Ints]] = []
    seen: set[int] = set()
    for k in order.tolist():
        component = int(forest.components[forest.pairs[k, 0]])
        if component in seen:
            continue
        seen.add(component)
        merges.append((float(forest.heights[k]), *sides(forest, k)))
        if len(merges) == most:
            break
    return merges


def _merge(merge: tuple[float, Ints, Ints], records: _Shown) -> dict[str, Any]:
    height, *both = merge
    return {
        "height": height,
        "sizes": [len(side) for side in both],
        "sides": [[records.text(row) for row in side[:_SIDE].tolist()] for side in both],
    }


def _drawn(model: TrainedModel, scored: Scored, records: _Shown, doubtful: list[int]) -> SplitTrees:
    """Trees of some components: the most doubtful, then the largest, of those that fit."""
    from supclust.resolve.forest_scores import tree_of

    forest = scored.forest
    sizes = np.bincount(forest.components)
    by_size = np.argsort(-sizes, kind="stable").tolist()
    order = [int(forest.components[row]) for row in doubtful[: _DRAWN // 2]] + by_size
    fitting = [k for k in dict.fromkeys(order) if 2 < sizes[k] <= _LARGEST][:_DRAWN]
    blocks, trees = {}, {}
    for k in fitting:
        rows = np.flatnonzero(forest.components == k)
        part = slice(forest.offsets[k], forest.offsets[k + 1])
        pairs = np.searchsorted(rows, forest.pairs[part]).astype(np.int32)
        ends = np.array([0, len(pairs)])
        alone = np.zeros(len(rows), np.int32)
        tree = tree_of(
            Forest(len(rows), alone, pairs, forest.heights[part], ends, forest.threshold)
        )
        apart = ~np.isfinite(tree[:, 2])  # never merged: drawn at what a missing pair counts
        tree[apart, 2] = (model.records or {}).get("missing", 0.0)
        name = f"component {k + 1}"
        blocks[name], trees[name] = records.points(name, rows), tree
    linkage = LinkageTrees(model.alpha, model.threshold, None, None, trees)
    return SplitTrees({}, blocks, {model.linkage: linkage}, part="these records")
