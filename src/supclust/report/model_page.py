"""The page of one trained model: what it has learned, and how it clusters a file of records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supclust.hac.family import nearest_linkage
from supclust.hac.tree import Floats, cut_tree
from supclust.metrics.threshold import ThresholdCurve, curve_from_merges
from supclust.report.model_blocks import Columns, ModelBlock, read_model_blocks
from supclust.report.page import page, render, write_page
from supclust.report.restore import LinkageTrees, SplitTrees
from supclust.report.results_page import flat
from supclust.report.scale import number
from supclust.report.scores import cut_charts
from supclust.report.training import alpha_chart, loss_chart
from supclust.report.tree_section import tree_section
from supclust.report.trees import labelled_merges

if TYPE_CHECKING:
    from supclust.model.trained import TrainedModel

MOST_FEATURES = 40
_CURVES = (
    *("train_loss", "dev_loss", "alpha_path", "dev_purity"),
    *("train_within", "train_across", "dev_within", "dev_across"),
)


def write_model_report(
    folder: Path, data: Path, path: Path, linkage: str | None, columns: Columns
) -> Path:
    """Write the page of a model and the records it clusters.

    Args:
        folder: of the model, or of one split of a job of ``train.py``.
        data: file of records, or folder.
        path: of the page.
        linkage: which linkage of a result of ``train.py``.
        columns: of the file.
    """
    from supclust.model import load

    model = load(folder, linkage=linkage)
    blocks, left_out = read_model_blocks(model, data, columns)
    content = model_page(model, folder.resolve().name, data.name, blocks, left_out)
    return write_page(path, content)


def model_page(
    model: TrainedModel, name: str, file: str, blocks: list[ModelBlock], left_out: int = 0
) -> str:
    """The page of a model and of blocks that it clusters."""
    trees = _trees(model, blocks)
    curve = trees.linkages[model.linkage].test
    sections = [("learned", "What was learned", render("model_learned.html", **_learned(model)))]
    if curve is not None:
        cut = render("model_cut.html", file=file, charts=cut_charts(trees, model.linkage))
        sections.append(("cut", "Where to cut", cut))
    sections.append(("tree", "The tree of a block", tree_section(trees, model.linkage, "tree0")))
    training = render("model_training.html", charts=_training_charts(model))
    sections.append(("training", "Training", training))
    origin = render("model_provenance.html", **_provenance(model, file))
    sections.append(("provenance", "Where the numbers come from", origin))
    lead = render(
        "model_lead.html",
        model=model,
        file=file,
        cards=_cards(model, blocks, trees, curve),
        left_out=left_out,
    )
    return page(f"{file}, clustered by the model in {name}", lead, sections)


def _trees(model: TrainedModel, blocks: list[ModelBlock]) -> SplitTrees:
    trees = {block.points.name: model.tree(block.features) for block in blocks}
    merges = [
        labelled_merges(trees[block.points.name], block.points.labels)
        for block in blocks
        if block.points.labelled
    ]
    curve = curve_from_merges(merges) if merges else None
    f1 = None if curve is None else float(curve.f1[_at(curve, model.threshold)])
    linkage = LinkageTrees(model.alpha, model.threshold, None, curve, trees, f1_recomputed=f1)
    points = {block.points.name: block.points for block in blocks}
    return SplitTrees({}, points, {model.linkage: linkage}, part="these records")


def _at(curve: ThresholdCurve, threshold: float) -> int:
    """Index of the cut that a threshold makes."""
    return int(np.searchsorted(curve.heights, threshold, side="right")) - 1


def _cards(
    model: TrainedModel, blocks: list[ModelBlock], trees: SplitTrees, curve: ThresholdCurve | None
) -> list[tuple[str, str, str]]:
    """(figure, name, detail) of the headline."""
    n = sum(len(block.points.ids) for block in blocks)
    clusters = sum(_n_clusters(t, model) for t in trees.linkages[model.linkage].trees.values())
    cards = [(f"{clusters:,}", "clusters", f"of {n:,} records in {len(blocks):,} blocks")]
    if curve is not None:
        i = _at(curve, model.threshold)
        detail = f"precision {100 * curve.precision[i]:.1f}, recall {100 * curve.recall[i]:.1f}"
        cards.append((f"{100 * curve.f1[i]:.1f} %", "pairwise F1 on these records", detail))
    held_out = model.record.get("dev") or {}
    if isinstance(held_out.get("pairwise_f1"), float):
        f1 = f"{100 * held_out['pairwise_f1']:.1f} %"
        cards.append((f1, "pairwise F1 held out", "in training"))
    return cards


def _n_clusters(tree: Floats, model: TrainedModel) -> int:
    return int(cut_tree(tree, height=model.threshold).max(initial=-1)) + 1


def _learned(model: TrainedModel) -> dict[str, Any]:
    """Linkage, cut, and features by weight, the largest first; the bias last."""
    spread = float(model.record.get("spread") or 1.0)
    nearest = nearest_linkage(model.alpha, spread)
    facts = [
        ("linkage", f"{model.linkage}, alpha {number(model.alpha, 4)}; nearest to {nearest}"),
        ("cut", f"merges up to height {number(model.threshold, 5)} are made"),
        ("features", f"{model.d} of {'points' if model.kind == 'vectors' else 'pairs'}"),
    ]
    state = model.weights
    if "average_weight" in state:
        weights = state["average_weight"].astype(float).ravel()
        meaning = "A positive weight pushes two records apart, a negative one draws them together."
    elif "weight" in state and state["weight"].ndim == 2:
        weights = np.linalg.norm(state["weight"].astype(float), axis=0)
        meaning = "How far one unit of a feature moves a record."
    else:
        return {"facts": facts, "weights": None}
    order = np.argsort(-np.abs(weights), kind="stable")[:MOST_FEATURES]
    return {
        "facts": facts,
        "meaning": meaning,
        "weights": [(model.feature_names[i], float(weights[i])) for i in order],
        "largest": float(np.abs(weights).max(initial=0.0)) or 1.0,
        "bias": float(state["average_bias"]) if "average_bias" in state else None,
        "left_out": len(weights) - len(order),
    }


def _training_charts(model: TrainedModel) -> list[Any]:
    record = {"split": 0, "epochs": 0, **model.record}
    if not record.get("train_loss"):
        return []
    charts = [loss_chart(model.objective, [record]), alpha_chart(model.objective, [record])]
    return [chart for chart in charts if chart]


def _provenance(model: TrainedModel, file: str) -> dict[str, list[tuple[str, str]]]:
    kept = {k: v for k, v in model.record.items() if k not in (*_CURVES, "records")}
    rows = [
        (key, number(value, 6) if isinstance(value, float) else str(value))
        for key, value in flat(kept).items()
    ]
    facts = [row for row in rows if not row[0].startswith("recipe.")]
    return {
        "facts": [("records", file), ("objective", model.objective), *facts],
        "settings": [row for row in rows if row[0].startswith("recipe.")],
    }
