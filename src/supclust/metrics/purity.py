"""Dendrogram purity: how pure the smallest subtree around two points of one cluster is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from numpy.typing import ArrayLike

from supclust.metrics.merges import MergePairs, merge_pairs


class MeanPurity(NamedTuple):
    """Dendrogram purity over several blocks."""

    mean: float
    """Mean over the blocks where purity is defined; NaN where there is none."""
    defined: int
    """Blocks that entered the mean."""
    undefined: int
    """Blocks left out: no two of their points share a label."""


def dendrogram_purity(Z: ArrayLike, labels: ArrayLike) -> float:
    """Mean, over pairs of points with one label, of that label's share of their smallest subtree.

    DP = (1 / |W|) sum over merges and labels k of l_k r_k (l_k + r_k) / |node|, W the same-label
    pairs: every such pair first meets at exactly one merge. Heights play no part.

    Args:
        Z: (n - 1, 4) tree in SciPy form.
        labels: (n,) label of every point, integers or any hashables.

    Returns:
        A number in (0, 1]; 1 when every label is a subtree; NaN when no two points share a label.

    Complexity: O(n log n) time, O(n) memory.

    >>> dendrogram_purity([[0, 1, 1.0, 2], [2, 3, 2.0, 3]], ["a", "b", "a"])
    0.6666666666666666
    """
    return purity_from_merges(merge_pairs(Z, labels))


def purity_from_merges(merges: MergePairs) -> float:
    """Finish ``dendrogram_purity`` from a ``merge_pairs`` result that is already at hand."""
    pairs = int(merges.same_label.sum())
    return float(merges.purity.sum()) / pairs if pairs else math.nan


def mean_purity(values: Iterable[float]) -> MeanPurity:
    """Average purities over blocks, leaving out and counting the undefined (NaN) ones.

    >>> mean_purity([1.0, float("nan"), 0.5])
    MeanPurity(mean=0.75, defined=2, undefined=1)
    """
    everything = [float(value) for value in values]
    defined = [value for value in everything if not math.isnan(value)]
    mean = math.fsum(defined) / len(defined) if defined else math.nan
    return MeanPurity(mean, len(defined), len(everything) - len(defined))
