"""Where labelled records stand in clusterings that have not seen their entities.

Entities are divided into folds. The pairs of a fold were scored by models that were trained without
it; the threshold it is cut at is chosen without it as well.
"""

from __future__ import annotations

import numpy as np

from supclust.explain.membership import Floats, Ints, Membership, ScoredPairs, membership
from supclust.hac.graph.forest import Forest
from supclust.resolve.graph_cut import EVEN, CutScores, GraphCut, ScoredForest


def held_out_membership(
    edges: ScoredPairs, forest: Forest, cut: GraphCut, labels: Ints, complete: bool, fold: Ints
) -> tuple[Membership, Floats]:
    """Where every record stands, and how right that is, each fold at the threshold of the others.

    Args:
        edges: scored by models that have not seen the entities of the pair.
        forest: of all records.
        cut: chosen on all labelled records; its linkage is kept, and even odds are.
        labels: (n,) entity, -1: not known.
        complete: whether records without a label are other entities.
        fold: (n,) of the labelled records, by entity; -1: none.

    Returns:
        The membership (cluster numbers are those of each fold's own clustering) and the `rightness`
        of every record, NaN for those without a fold.
    """
    standing = membership(edges, forest, *cut)
    right = np.full(len(labels), np.nan)
    for k in np.unique(fold[fold >= 0]):
        threshold = _threshold(forest, cut, np.where(fold == k, -1, labels), complete)
        at_others = membership(edges, forest, cut.alpha, cut.missing, threshold)
        mine = fold == k
        for whole, part in zip(standing, at_others, strict=True):
            whole[mine] = part[mine]
        right[mine] = rightness(at_others.cluster, labels, complete)[mine]
    return standing, right


def _threshold(forest: Forest, cut: GraphCut, labels: Ints, complete: bool) -> float:
    """Even odds, if the model is cut there, else the best threshold, as its cut was chosen."""
    if cut.threshold == EVEN or not (labels >= 0).any():
        return EVEN
    scores = CutScores.of_labels(labels, complete, np.zeros_like(labels))
    scored = ScoredForest.of(forest, cut.alpha, cut.missing, scores)
    return scored.cut(scored.scores()).threshold


def rightness(clusters: Ints, labels: Ints, complete: bool) -> Floats:
    """(n,) share of the other records of the cluster that are of a record's entity.

    Of a record that is alone: whether its entity has no other record. NaN where labels do not tell.

    Args:
        clusters: (n,) of the records.
        labels: (n,) entity, -1: not known.
        complete: whether records without a label are other entities; else they do not count.

    >>> rightness(np.array([0, 0, 0, 1, 2]), np.array([0, 0, -1, 0, 1]), True)
    array([0.5, 0.5, nan, 0. , 1. ])
    """
    known = labels >= 0
    counted = np.ones(len(labels)) if complete else known.astype(float)
    size = np.bincount(clusters, counted)[clusters[known]]
    cell = labels[known].astype(np.int64) * (int(clusters.max(initial=0)) + 1) + clusters[known]
    _, inverse, shared = np.unique(cell, return_inverse=True, return_counts=True)
    entity = np.bincount(labels[known])[labels[known]]
    alone = np.bincount(clusters)[clusters[known]] == 1
    truly_alone = np.where(complete, entity == 1, np.nan)
    with np.errstate(invalid="ignore"):
        share = (shared[inverse] - 1) / np.where(size > 1, size - 1, np.nan)
    right = np.full(len(labels), np.nan)
    right[known] = np.where(alone, truly_alone, share)
    return right
