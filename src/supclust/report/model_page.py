"""The page of one trained model: what it has learned, and how it clusters a file of records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supclust.cut.counts import scores_of_cut
from supclust.cut.partition import WeightedTree, maximise_f1
from supclust.data.block import n_pairs
from supclust.experiment.checks import flat
from supclust.hac.family import nearest_linkage
from supclust.hac.tree import Floats, children_of, cut_tree
from supclust.metrics.pairwise import PairwiseScores
from supclust.metrics.threshold import ThresholdCurve, curve_from_merges
from supclust.model.best.choices import cut_line, dissimilarity_lines, guard_lines
from supclust.report.model_blocks import Columns, ModelBlock, read_model_blocks
from supclust.report.page import page, render, write_page
from supclust.report.restore import LinkageTrees, SplitTrees
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
    scores = None if curve is None else _scores(model, blocks, trees)
    linkage = LinkageTrees(
        *(model.alpha, model.threshold, None, curve, trees),
        f1_recomputed=f1,
        ceiling=_ceiling(blocks, trees) if curve is not None else None,
        f1_learned=scores.f1 if scores is not None and model.learned is not None else None,
    )
    points = {block.points.name: block.points for block in blocks}
    return SplitTrees({}, points, {model.linkage: linkage}, part="these records")


def _scores(
    model: TrainedModel, blocks: list[ModelBlock], trees: Mapping[str, Floats]
) -> PairwiseScores:
    """Pooled scores of the model's cut, of the records that have a label."""
    known = [block.points for block in blocks if block.points.labelled]
    pairs = [labelled_merges(trees[points.name], points.labels) for points in known]
    applied = [
        pair.heights <= model.threshold
        if model.learned is None
        else model.learned.applied(trees[points.name])
        for points, pair in zip(known, pairs, strict=True)
    ]
    return scores_of_cut(pairs, applied)


def _ceiling(blocks: list[ModelBlock], trees: Mapping[str, Floats]) -> float:
    """F1 of the best cut of the trees, of the records that have a label."""
    forest = []
    for points in (block.points for block in blocks if block.points.labelled):
        tree = trees[points.name]
        pairs = labelled_merges(tree, points.labels)
        weights = (pairs.same_label.astype(float), pairs.joined.astype(float))
        forest.append(WeightedTree(children_of(tree), *weights))
    return maximise_f1(forest)[1]


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
        built = trees.linkages[model.linkage]
        precision, recall, share = _scores(model, blocks, built.trees)
        detail = f"precision {100 * precision:.1f}, recall {100 * recall:.1f}"
        if built.ceiling is not None:
            detail += f"; the best cut of these trees would reach {100 * built.ceiling:.1f}"
        cards.append((f"{100 * share:.1f} %", "pairwise F1 on these records", detail))
    if lost := _lost_pairs(model, blocks):
        detail = "are in different blocks: they are never compared"
        cards.append((f"{100 * lost:.1f} %", "of the labelled pairs", detail))
    held_out = model.record.get("dev") or {}
    if isinstance(held_out.get("pairwise_f1"), float):
        f1 = f"{100 * held_out['pairwise_f1']:.1f} %"
        cards.append((f1, "pairwise F1 held out", "in training"))
    return cards


def _lost_pairs(model: TrainedModel, blocks: list[ModelBlock]) -> float:
    """Share of the labelled pairs of a table that are in different blocks."""
    if (model.records or {}).get("layout") != "records":
        return 0.0  # labels of pair features and of vectors are those of one block
    known = [
        Counter(block.points.clusters[k] for k in block.points.labels.tolist() if k >= 0)
        for block in blocks
    ]
    inside = sum(n_pairs(size) for block in known for size in block.values())
    total = sum(n_pairs(size) for size in sum(known, Counter()).values())
    return 1 - inside / total if total else 0.0


def _n_clusters(tree: Floats, model: TrainedModel) -> int:
    if model.learned is not None:
        return int(model.learned.labels(tree).max(initial=-1)) + 1 if len(tree) else 1
    return int(cut_tree(tree, height=model.threshold).max(initial=-1)) + 1


def _learned(model: TrainedModel) -> dict[str, Any]:
    """Linkage, cut, and features by weight, the largest first; the bias last."""
    record = model.record
    choices = [*dissimilarity_lines(record), *guard_lines(record)]
    spread = float(record.get("spread") or 1.0)
    nearest = nearest_linkage(model.alpha, spread)
    facts = [
        ("linkage", f"{model.linkage}, alpha {number(model.alpha, 4)}; nearest to {nearest}"),
        ("cut", cut_line(model.threshold, model.learned is not None, record.get("cut_choice"))),
        *((name, text) for line in choices for name, _, text in [line.partition(": ")]),
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
    names = (*model.feature_names, "log odds of boosted trees")  # the last: stacked models only
    order = np.argsort(-np.abs(weights), kind="stable")[:MOST_FEATURES]
    return {
        "facts": facts,
        "meaning": meaning,
        "weights": [(names[i], float(weights[i])) for i in order],
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
