"""``supclust explain``: what a model has learned, or why records are together or apart."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supclust.cli.wording import counted, linkage_line, scores_line
from supclust.model.best.choices import cut_line

if TYPE_CHECKING:
    from supclust.model import TrainedModel

EXAMPLES = (
    "supclust explain model",
    "supclust explain model --json",
    "supclust explain entities/ --records a17 b23",
    "supclust explain entities/ --cluster 42",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "model",
        type=Path,
        help="folder of a model, one split of train.py, or an entity store",
    )
    parser.add_argument("--linkage", help="which linkage of a result of train.py (default: exp)")
    parser.add_argument(
        "--records",
        nargs=2,
        metavar=("A", "B"),
        help="entity store: why these two records are together, or what keeps them apart",
    )
    parser.add_argument(
        "--cluster", type=int, metavar="C", help="entity store: what holds this cluster together"
    )
    parser.add_argument("--json", action="store_true", help="for programs")


def run(options: argparse.Namespace) -> int:
    """Print what was learned, or why records are where they are."""
    facts, lines = _explained(options)
    print(json.dumps(_plain(facts), indent=2) if options.json else "\n".join(lines))
    return 0


def _explained(options: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Facts, and the same as text."""
    if options.records is None and options.cluster is None:
        from supclust.model import load

        stored = (options.model / "store.json").is_file()
        facts = explained(
            load(options.model / "model" if stored else options.model, linkage=options.linkage)
        )
        return facts, model_lines(facts)
    if options.records is not None and options.cluster is not None:
        raise ValueError("give --records or --cluster; received both. Drop one.")
    from supclust.explain.wording import cluster_lines, records_lines
    from supclust.review.stored import explain_records, explain_stored_cluster
    from supclust.store import EntityStore

    store = EntityStore.open(options.model)
    if options.records is not None:
        facts = explain_records(store, *options.records)
        return facts, records_lines(facts)
    facts = explain_stored_cluster(store, options.cluster)
    return facts, cluster_lines(facts)


def _plain(value: Any) -> Any:
    """Plain JSON values: infinities become text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def explained(model: TrainedModel) -> dict[str, Any]:
    """What a model has learned, as plain values."""
    from supclust.hac.family import nearest_linkage

    record = model.record
    spread = record.get("spread")
    return {
        "objective": model.objective,
        "dissimilarity": model.spec["name"],
        "kind": model.kind,
        "linkage": model.linkage,
        "alpha": model.alpha,
        "nearest_linkage": nearest_linkage(model.alpha, spread or 1.0),
        "spread": spread,
        "threshold": model.threshold,
        "learned_cut": model.learned is not None,
        "cut_choice": record.get("cut_choice"),
        "bias": (
            float(model.weights["average_bias"])
            if model.spec["name"] in ("linear", "stacked")
            else None
        ),
        "features": _features(model),
        "dev": record.get("dev"),
        "sizes": record.get("sizes"),
        "epochs": record.get("epochs"),
        "records": record.get("records"),
        "entities": record.get("entities"),
    }


def _features(model: TrainedModel) -> list[dict[str, Any]]:
    """Weight of every feature, the heaviest first; nothing for a network."""
    import numpy as np

    names = list(model.feature_names)
    if model.spec["name"] in ("linear", "stacked"):
        weights = model.weights["average_weight"].tolist()
        names += ["(boosted trees)"] if model.spec["name"] == "stacked" else []
    elif model.spec["name"] == "mahalanobis":
        weights = np.linalg.norm(np.asarray(model.weights["weight"], float), axis=0).tolist()
    elif record := model.record.get("importances"):
        return [{"name": name, "weight": share} for name, share in record.items()]
    else:
        return []
    pairs = sorted(zip(names, weights, strict=True), key=lambda one: -abs(one[1]))
    return [{"name": name, "weight": weight} for name, weight in pairs]


def model_lines(facts: Mapping[str, Any]) -> list[str]:
    """What a model has learned, as lines of text."""
    epochs = f", {counted(facts['epochs'], 'epoch')}" if facts["epochs"] else ""
    lines = [
        f"objective      {facts['objective']}{epochs}",
        f"linkage        {linkage_line(facts['linkage'], facts['alpha'], facts['spread'])}",
        f"cut            {cut_line(facts['threshold'], facts['learned_cut'], facts['cut_choice'])}",
        f"scores         {scores_line(facts['dev'], facts['sizes'])}",
        f"dissimilarity  {_DISSIMILARITIES.get(facts['dissimilarity'], facts['dissimilarity'])}",
    ]
    if facts["entities"]:
        lines += _candidate_lines(facts)
    if not facts["features"]:
        return lines
    linear = facts["dissimilarity"] in ("linear", "stacked")
    width = max(len(feature["name"]) for feature in facts["features"])
    lines.append("")
    for feature in facts["features"]:
        weight = round(feature["weight"], 4) + 0.0  # as shown; + 0.0: no minus before zero
        effect = f"  {_effect(weight)}" if linear else ""
        lines.append(f"  {feature['name']:<{width}}  {weight:>+10.4f}{effect}")
    if linear:
        lines.append(f"  {'(always)':<{width}}  {facts['bias']:>+10.4f}")
    return lines


def _candidate_lines(facts: Mapping[str, Any]) -> list[str]:
    """Candidate rules of a model of a bare table, and what they lose."""
    counts, records = facts["entities"], facts["records"]
    rows = [
        f"  {one['rule']}  ({one['pairs']:,.0f} pairs, recall {one['recall']:.1%}, after closure "
        f"{one['closure']:.1%})"
        for one in records["candidates"]
    ]
    return [
        f"labels         {counts['reason']}",
        f"candidates     {counts['pairs']:,} pairs in training; of the labelled pairs "
        f"{counts['never_compared']:.1%} are never compared",
        *rows,
    ]


def _effect(weight: float) -> str:
    return "pushes apart" if weight > 0 else "draws together" if weight < 0 else "no effect"


_DISSIMILARITIES = {
    "linear": "sum of weight times feature; more of a feature ...",
    "mahalanobis": "distance after a learned linear map; one unit of a feature counts",
    "boosted": "minus the log odds of one entity, by boosted trees; share of their gain",
    "encoder": "distance after a learned network",
    "stacked": "sum of weight times feature, log odds of boosted trees among them; more of one ...",
}
