"""Scores of trees and flat clusterings: functions, and torchmetrics classes that accumulate blocks.

Names are imported on first use, so that scoring NumPy arrays never imports torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supclust.metrics.bcubed import (
        BCubedScores,
        BCubedSums,
        bcubed_from_sums,
        bcubed_scores,
        bcubed_sums,
    )
    from supclust.metrics.merges import MergePairs, merge_pairs
    from supclust.metrics.pairwise import (
        PairCounts,
        PairwiseScores,
        pair_counts,
        pairwise_scores,
        scores_from_counts,
    )
    from supclust.metrics.purity import (
        MeanPurity,
        dendrogram_purity,
        mean_purity,
        purity_from_merges,
    )
    from supclust.metrics.rand import adjusted_rand
    from supclust.metrics.stateful import BCubed, DendrogramPurity, PairwiseF1
    from supclust.metrics.threshold import (
        BestThreshold,
        ThresholdCurve,
        best_of_curve,
        best_threshold,
        curve_from_merges,
        threshold_curve,
    )

__all__ = [
    "BCubed",
    "BCubedScores",
    "BCubedSums",
    "BestThreshold",
    "DendrogramPurity",
    "MeanPurity",
    "MergePairs",
    "PairCounts",
    "PairwiseF1",
    "PairwiseScores",
    "ThresholdCurve",
    "adjusted_rand",
    "bcubed_from_sums",
    "bcubed_scores",
    "bcubed_sums",
    "best_of_curve",
    "best_threshold",
    "curve_from_merges",
    "dendrogram_purity",
    "mean_purity",
    "merge_pairs",
    "pair_counts",
    "pairwise_scores",
    "purity_from_merges",
    "scores_from_counts",
    "threshold_curve",
]

_NAMES_BY_MODULE = {
    "bcubed": ("BCubedScores", "BCubedSums", "bcubed_from_sums", "bcubed_scores", "bcubed_sums"),
    "merges": ("MergePairs", "merge_pairs"),
    "pairwise": (
        "PairCounts",
        "PairwiseScores",
        "pair_counts",
        "pairwise_scores",
        "scores_from_counts",
    ),
    "purity": ("MeanPurity", "dendrogram_purity", "mean_purity", "purity_from_merges"),
    "rand": ("adjusted_rand",),
    "stateful": ("BCubed", "DendrogramPurity", "PairwiseF1"),
    "threshold": (
        "BestThreshold",
        "ThresholdCurve",
        "best_of_curve",
        "best_threshold",
        "curve_from_merges",
        "threshold_curve",
    ),
}
_HOME = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
