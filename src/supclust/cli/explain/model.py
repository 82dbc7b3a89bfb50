"""What a model has learned, in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from supclust.cli.wording import counted, linkage_line, scores_line
from supclust.model.best.choices import cut_line

if TYPE_CHECKING:
    from supclust.model import TrainedModel


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
