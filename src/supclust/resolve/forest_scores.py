"""Where to cut a forest: scores of every threshold with strangers and lost pairs counted.

A labelled record's whole predicted cluster counts: pairs of a labelled and a foreign record are
half a predicted pair each (`supclust.cut.counts`). Labelled pairs that are never candidates count
as pairs that were not found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.cut.counts import labelled_merge_pairs
from supclust.hac.cpu.numbering import join_sorted
from supclust.hac.graph.arrange import flatten, join
from supclust.hac.graph.forest import Forest
from supclust.metrics.threshold import ThresholdCurve, curve_from_merges

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class LabelledScores(NamedTuple):
    """Scores of a clustering on the labelled records, strangers counted."""

    precision: float
    recall: float
    pairwise_f1: float
    bcubed_precision: float
    bcubed_recall: float
    bcubed_f1: float


def tree_of(forest: Forest) -> Floats:
    """All trees of a forest as one in SciPy's format; the trees are joined at +inf."""
    order = np.argsort(forest.heights, kind="stable")
    merges = forest.pairs[order]
    parent = np.arange(forest.n, dtype=np.int32)
    join(parent, merges)
    flatten(parent)
    roots = np.unique(parent)
    rest = np.column_stack([roots[:-1], roots[1:]])
    Z = np.empty((forest.n - 1, 4))
    heights = forest.heights[order]
    lowest = heights[np.isfinite(heights)].min(initial=0.0)  # of must-links: -inf
    Z[:, 2] = np.concatenate([np.maximum(heights, lowest), np.full(len(rest), np.inf)])
    join_sorted(np.concatenate([merges, rest]).astype(np.int64), Z[:, :2], Z[:, 3])
    return Z


def threshold_curve(forest: Forest, labels: Ints, complete: bool) -> ThresholdCurve:
    """Precision, recall and F1 on labelled records at every threshold of a forest.

    Args:
        forest: of all records.
        labels: (n,) entity, -1: not known.
        complete: whether records without a label are strangers; else they are left out.
    """
    Z = tree_of(forest)
    if complete or (labels >= 0).all():
        return curve_from_merges([labelled_merge_pairs(Z, labels)])
    # No pair of an unlabelled record is scored: predicted pairs are those of two labelled ones.
    pairs = labelled_merge_pairs(Z, labels)
    among = labelled_merge_pairs(Z, np.where(labels < 0, -1, 0))
    return curve_from_merges([pairs._replace(joined=among.same_label)])


def labelled_scores(labels: Ints, clusters: Ints, complete: bool) -> LabelledScores:
    """Pairwise and B-cubed scores of clusters on labelled records.

    Args:
        labels: (n,) entity, -1: not known.
        clusters: (n,) predicted.
        complete: whether records without a label are strangers; else they are left out.

    >>> labelled_scores(np.array([0, 0, 1, -1]), np.array([0, 0, 0, 0]), True).precision
    0.22...
    """
    if not complete:
        clusters, labels = clusters[labels >= 0], labels[labels >= 0]
    known = labels >= 0
    sizes = np.bincount(clusters)  # with strangers
    labelled = np.bincount(clusters[known], minlength=len(sizes))
    entity = np.bincount(labels[known])
    cells, shared = np.unique(
        labels[known].astype(np.int64) * len(sizes) + clusters[known], return_counts=True
    )
    of_cluster, of_entity = sizes[cells % len(sizes)], entity[cells // len(sizes)]
    true = float((entity * (entity - 1.0) / 2).sum())
    found = float((shared * (shared - 1.0) / 2).sum())
    predicted = float((labelled * (labelled - 1.0) / 2 + labelled * (sizes - labelled) / 2).sum())
    points = max(1, int(known.sum()))
    return LabelledScores(
        *_with_f1(found / max(predicted, 1e-300), found / max(true, 1e-300)),
        *_with_f1(
            float((shared**2 / of_cluster).sum()) / points,
            float((shared**2 / of_entity).sum()) / points,
        ),
    )


def mean_entity_f1(clusters: Ints, labels: Ints, complete: bool) -> float:
    """Mean, over the entities, of the B-cubed F1 of an entity's records.

    Args:
        clusters: (n,) predicted.
        labels: (n,) entity, -1: not known.
        complete: whether records without a label are strangers; else they are left out.

    >>> mean_entity_f1(np.array([0, 0, 0, 1]), np.array([0, 0, -1, 1]), True)
    0.9
    """
    if not complete:
        clusters, labels = clusters[labels >= 0], labels[labels >= 0]
    known = labels >= 0
    sizes, entity = np.bincount(clusters), np.bincount(labels[known])
    cells, shared = np.unique(
        labels[known].astype(np.int64) * len(sizes) + clusters[known], return_counts=True
    )
    of_entity = cells // len(sizes)
    precision, recall = (
        np.bincount(of_entity, shared**2 / size, len(entity))[entity > 0]
        for size in (sizes[cells % len(sizes)], entity[of_entity])
    )
    f1 = 2 * precision * recall / (precision + recall) / entity[entity > 0]
    return float(f1.mean())


def _with_f1(precision: float, recall: float) -> tuple[float, float, float]:
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-300)
