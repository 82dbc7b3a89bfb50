"""Scores of trees and flat clusterings: functions, and torchmetrics classes that accumulate blocks.

Names are imported on first use, so that scoring NumPy arrays never imports torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supclust._lazy import attach

if TYPE_CHECKING:
    from supclust.metrics.bcubed import BCubedScores as BCubedScores
    from supclust.metrics.bcubed import BCubedSums as BCubedSums
    from supclust.metrics.bcubed import bcubed_from_sums as bcubed_from_sums
    from supclust.metrics.bcubed import bcubed_scores as bcubed_scores
    from supclust.metrics.bcubed import bcubed_sums as bcubed_sums
    from supclust.metrics.pairwise import PairCounts as PairCounts
    from supclust.metrics.pairwise import PairwiseScores as PairwiseScores
    from supclust.metrics.pairwise import adjusted_rand as adjusted_rand
    from supclust.metrics.pairwise import pair_counts as pair_counts
    from supclust.metrics.pairwise import pairwise_scores as pairwise_scores
    from supclust.metrics.pairwise import pooled_scores as pooled_scores
    from supclust.metrics.pairwise import scores_from_counts as scores_from_counts
    from supclust.metrics.purity import MeanPurity as MeanPurity
    from supclust.metrics.purity import MergePairs as MergePairs
    from supclust.metrics.purity import dendrogram_purity as dendrogram_purity
    from supclust.metrics.purity import mean_purity as mean_purity
    from supclust.metrics.purity import merge_pairs as merge_pairs
    from supclust.metrics.purity import purity_from_merges as purity_from_merges
    from supclust.metrics.stateful import BCubed as BCubed
    from supclust.metrics.stateful import DendrogramPurity as DendrogramPurity
    from supclust.metrics.stateful import PairwiseF1 as PairwiseF1
    from supclust.metrics.threshold import BestThreshold as BestThreshold
    from supclust.metrics.threshold import ThresholdCurve as ThresholdCurve
    from supclust.metrics.threshold import best_of_curve as best_of_curve
    from supclust.metrics.threshold import best_threshold as best_threshold
    from supclust.metrics.threshold import curve_from_merges as curve_from_merges
    from supclust.metrics.threshold import threshold_curve as threshold_curve

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "bcubed": (
            "BCubedScores",
            "BCubedSums",
            "bcubed_from_sums",
            "bcubed_scores",
            "bcubed_sums",
        ),
        "pairwise": (
            "PairCounts",
            "PairwiseScores",
            "adjusted_rand",
            "pair_counts",
            "pairwise_scores",
            "pooled_scores",
            "scores_from_counts",
        ),
        "purity": (
            "MeanPurity",
            "MergePairs",
            "dendrogram_purity",
            "mean_purity",
            "merge_pairs",
            "purity_from_merges",
        ),
        "stateful": ("BCubed", "DendrogramPurity", "PairwiseF1"),
        "threshold": (
            "BestThreshold",
            "ThresholdCurve",
            "best_of_curve",
            "best_threshold",
            "curve_from_merges",
            "threshold_curve",
        ),
    },
)
