"""What a model of a bare table says about itself: how to cluster, and how it was learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from supclust.data.records.table import Records
from supclust.metrics.threshold import ThresholdCurve
from supclust.resolve.blocking.candidates import largest_group
from supclust.resolve.blocking.choose import ChosenRule
from supclust.resolve.blocking.rules import KeyTable
from supclust.resolve.completeness import Completeness
from supclust.resolve.graph_cut import GraphCut
from supclust.resolve.pair_model import Boosted
from supclust.resolve.scoring import Compared
from supclust.resolve.table_model import LAYOUT, word_frequencies
from supclust.resolve.train import TrainedPairs
from supclust.resolve.training_pairs import PairCounts

_CURVE_POINTS = 200  # of the threshold curve that a model keeps


def description(
    records: Records,
    table: Compared,
    keys: KeyTable,
    rules: list[ChosenRule],
    small: bool,
    cut: GraphCut,
    given: bool,
    largest: int,
) -> dict[str, Any]:
    """What clustering needs to know about the table."""
    used = {one.column for one in table.comparisons.comparisons}
    usual = largest_group(records.choice.block is not None)
    return {
        "layout": LAYOUT,
        "label": records.choice.label,
        "block": records.choice.block,
        "id": records.choice.id,
        "distinct": records.choice.distinct,
        "columns": {name: kind for name, kind in records.kinds.items() if name in used},
        "comparisons": table.comparisons.to_json(),
        "candidates": [
            {"rule": str(one.rule), **{k: float(getattr(one, k)) for k in one._fields[1:]}}
            for one in rules
        ],
        "frequencies": word_frequencies(keys, [one.rule for one in rules]),
        "given": given,
        "all_pairs": small,
        **({"largest_group": largest} if largest > usual else {}),
        "missing": cut.missing,
    }


def facts(
    records: Records,
    counts: PairCounts,
    lost: float,
    strangers: Completeness,
    trained: TrainedPairs,
) -> dict[str, Any]:
    """How a model was learned.

    Args:
        records: learned from.
        counts: of the candidates.
        lost: share of the labelled pairs that are never compared.
        strangers: whether unlabelled records are of other entities.
        trained: pair models.
    """
    return {
        "records": records.n,
        "labelled": int((records.labels >= 0).sum()),
        "entities": len(records.label_names),
        "pairs": counts.total,
        **{f"{name}_pairs": value for name, value in counts._asdict().items()},
        "never_compared": lost,
        "complete": strangers.complete,
        "reason": strangers.reason,
        "pair_model": trained.family,
        "log_losses": dict(trained.losses),
    }


def importances(trained: TrainedPairs, table: Compared) -> dict[str, float] | None:
    """Share of the gain of every feature of boosted trees, the largest first."""
    if not isinstance(trained.model, Boosted):
        return None
    names, shares = table.comparisons.feature_names, trained.model.importances.tolist()
    return dict(sorted(zip(names, shares, strict=True), key=lambda one: -one[1]))


def thinned(curve: ThresholdCurve) -> dict[str, list[float]]:
    """Some points of a curve."""
    finite = np.flatnonzero(np.isfinite(curve.thresholds))
    kept = finite[np.linspace(0, len(finite) - 1, min(_CURVE_POINTS, len(finite))).astype(int)]
    return {
        name: getattr(curve, name)[kept].tolist()
        for name in ("thresholds", "precision", "recall", "f1")
    }
