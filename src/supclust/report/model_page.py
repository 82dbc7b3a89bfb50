"""The page of one trained model: what it has learned, and what it makes of a file of records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supclust.hac.family import nearest_linkage
from supclust.hac.tree import Floats, cut_tree
from supclust.metrics.threshold import ThresholdCurve, curve_from_merges
from supclust.report.axes import number, signed
from supclust.report.escape import text
from supclust.report.html import page, write_page
from supclust.report.model_blocks import Columns, ModelBlock, read_model_blocks
from supclust.report.provenance import facts, flat
from supclust.report.restored import LinkageCase, TreeCase
from supclust.report.sections import cut_charts
from supclust.report.training_section import alpha_chart, training_chart
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
    from supclust.model.trained import load

    model = load(folder, linkage=linkage)
    blocks, left_out = read_model_blocks(model, data, columns)
    content = model_page(model, folder.resolve().name, data.name, blocks, left_out)
    return write_page(path, content)


def model_page(
    model: TrainedModel, name: str, file: str, blocks: list[ModelBlock], left_out: int = 0
) -> str:
    """The page of a model and of blocks that it clusters."""
    trees = {block.points.name: model.tree(block.features) for block in blocks}
    case = _case(model, blocks, trees)
    known = case.linkages[model.linkage].test is not None
    sections = [("learned", "What was learned", _learned(model))]
    if known:
        words = (
            f"F1 at every possible cut of {file}; | the cut chosen when the model was trained. "
            "Where these are records that it was trained on, the scores flatter it."
        )
        cut = f'<p class="note">{text(words)}</p>{cut_charts(case, model.linkage)}'
        sections.append(("cut", "Where to cut", cut))
    sections.append(("tree", "The tree of a block", tree_section(case, model.linkage, "tree0")))
    sections.append(("training", "Training", _training(model)))
    sections.append(("provenance", "Where the numbers come from", _provenance(model, file)))
    lead = _lead(model, file, blocks, trees, case, left_out)
    return page(f"{file}, clustered by the model in {name}", lead, sections)


def _case(model: TrainedModel, blocks: list[ModelBlock], trees: dict[str, Floats]) -> TreeCase:
    merges = [
        labelled_merges(trees[block.points.name], block.points.labels)
        for block in blocks
        if block.points.labelled
    ]
    curve = curve_from_merges(merges) if merges else None
    f1 = None if curve is None else float(curve.f1[_at(curve, model.threshold)])
    linkage = LinkageCase(model.alpha, model.threshold, None, curve, trees, f1_again=f1)
    points = {block.points.name: block.points for block in blocks}
    return TreeCase({}, points, {model.linkage: linkage}, part="these records")


def _at(curve: ThresholdCurve, threshold: float) -> int:
    """Which cut of a curve a threshold makes."""
    return int(np.searchsorted(curve.heights, threshold, side="right")) - 1


def _lead(
    model: TrainedModel,
    file: str,
    blocks: list[ModelBlock],
    trees: dict[str, Floats],
    case: TreeCase,
    left_out: int,
) -> str:
    n = sum(len(block.points.ids) for block in blocks)
    clusters = sum(
        int(cut_tree(tree, height=model.threshold).max(initial=-1)) + 1 for tree in trees.values()
    )
    cards = [(f"{clusters:,}", "clusters", f"of {n:,} records in {len(blocks):,} blocks")]
    curve = case.linkages[model.linkage].test
    if curve is not None:
        i = _at(curve, model.threshold)
        detail = f"precision {100 * curve.precision[i]:.1f}, recall {100 * curve.recall[i]:.1f}"
        cards.append((f"{100 * curve.f1[i]:.1f} %", "pairwise F1 on these records", detail))
    held = model.record.get("dev") or {}
    if isinstance(held.get("pairwise_f1"), float):
        cards.append((f"{100 * held['pairwise_f1']:.1f} %", "pairwise F1 held out", "in training"))
    shown = "".join(
        f'<p class="card"><b>{text(value)}</b> {text(name)}<br><small>{text(detail)}</small></p>'
        for value, name, detail in cards
    )
    source = model.record.get("source")
    warning = (
        '<div class="warning" role="note"><strong>⚠ STAND-IN DATA. The model was trained on '
        "generated data, not on a real set.</strong></div>"
        if source == "stand-in"
        else ""
    )
    gone = f"{left_out} blocks are left out: they are too many or too large." if left_out else ""
    return (
        f'{warning}<div class="headline"><p>trained with <strong>{text(model.objective)}</strong>, '
        f"clustered by {text(model.linkage)} linkage<br>records: <strong>{text(file)}</strong></p>"
        f"{shown}</div>" + (f'<p class="missing">{gone}</p>' if gone else "")
    )


def _learned(model: TrainedModel) -> str:
    spread = float(model.record.get("spread") or 1.0)
    nearest = nearest_linkage(model.alpha, spread)
    rows = [
        ("linkage", f"{model.linkage}, alpha {number(model.alpha, 4)}; nearest to {nearest}"),
        ("cut", f"merges up to height {number(model.threshold, 5)} are made"),
        ("features", f"{model.d} of {'points' if model.kind == 'vectors' else 'pairs'}"),
    ]
    return facts(rows) + _weights(model)


def _weights(model: TrainedModel) -> str:
    """Features by weight, the heaviest first, as a table with bars; what is always added, last."""
    from supclust.model.spec import weights_of

    state = {name: tensor.numpy() for name, tensor in weights_of(model.dissimilarity).items()}
    if "average_weight" in state:
        weights = state["average_weight"].astype(float).ravel()
        meaning = "A positive weight pushes two records apart, a negative one draws them together."
    elif "weight" in state and state["weight"].ndim == 2:
        weights = np.linalg.norm(state["weight"].astype(float), axis=0)
        meaning = "How far one unit of a feature moves a record."
    else:
        return '<p class="note">The dissimilarity is a network: it has no weight per feature.</p>'
    order = np.argsort(-np.abs(weights), kind="stable")[:MOST_FEATURES]
    top = float(np.abs(weights).max(initial=0.0)) or 1.0
    rows = "".join(
        f'<tr><th scope="row">{text(model.feature_names[i])}</th>'
        f'<td class="number">{signed(weights[i])}</td>'
        f'<td class="bar"><i class="{"minus" if weights[i] < 0 else "plus"}" '
        f'style="width:{100 * abs(weights[i]) / top:.1f}%"></i></td></tr>'
        for i in order
    )
    if "average_bias" in state:
        rows += (
            '<tr><th scope="row">(always)</th>'
            f'<td class="number">{signed(float(state["average_bias"]))}</td>'
            '<td class="note">added to every pair</td></tr>'
        )
    more = len(weights) - len(order)
    note = f" {more} lighter ones are left out." if more else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Weights"><table>'
        f"<caption>{meaning}{note}</caption><thead><tr>"
        '<th scope="col">feature</th><th scope="col">weight</th><th scope="col">size</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _training(model: TrainedModel) -> str:
    record = {"split": 0, "epochs": 0, **model.record}
    if not record.get("train_loss"):
        return '<p class="missing">The model did not record its training.</p>'
    charts = training_chart(model.objective, [record]) + alpha_chart(model.objective, [record])
    legend = (
        '<ul class="legend" aria-label="Lines"><li><span class="sample train"></span>train</li>'
        '<li><span class="sample dev"></span>dev (dashed)</li></ul>'
    )
    return f'{legend}<div class="charts">{charts}</div>'


def _provenance(model: TrainedModel, file: str) -> str:
    kept: dict[str, Any] = {k: v for k, v in model.record.items() if k not in (*_CURVES, "records")}
    values = {
        key: number(value, 6) if isinstance(value, float) else str(value)
        for key, value in flat(kept).items()
    }
    rows = [("records", file), ("objective", model.objective)]
    rows += [(key, value) for key, value in values.items() if not key.startswith("recipe.")]
    settings = [(key, value) for key, value in values.items() if key.startswith("recipe.")]
    return f"{facts(rows)}<details><summary>Settings</summary>{facts(settings)}</details>"
