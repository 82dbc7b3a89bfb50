"""Tree-consistent partitions by enumeration, and pair counts with strangers by definition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np

from oracles.metrics import leaves_of_merges

Clusters = list[frozenset[int]]


def partitions(Z: np.ndarray) -> list[Clusters]:
    """All partitions whose clusters are nodes of the tree."""
    n = len(Z) + 1
    children = np.asarray(Z)[:, :2].astype(int)
    leaves = [frozenset([i]) for i in range(n)] + leaves_of_merges(Z)

    def below(node: int) -> list[Clusters]:
        if node < n:
            return [[leaves[node]]]
        left, right = children[node - n]
        return [[leaves[node]], *(a + b for a, b in product(below(left), below(right)))]

    return below(2 * n - 2)


def expected_counts(Z: np.ndarray, p: Sequence[float], clusters: Clusters) -> tuple[float, float]:
    """Expected pairs that belong together, and all pairs, within the clusters."""
    n = len(Z) + 1
    nodes = [frozenset([i]) for i in range(n)] + leaves_of_merges(Z)
    children = np.asarray(Z)[:, :2].astype(int)
    true = pairs = 0.0
    for (left, right), share in zip(children, p, strict=True):
        if any(nodes[left] | nodes[right] <= cluster for cluster in clusters):
            joined = len(nodes[left]) * len(nodes[right])
            true += share * joined
            pairs += joined
    return true, pairs


def labelled_counts(labels: Sequence[int], clusters: Clusters) -> tuple[float, float]:
    """Pairs of one label, and predicted pairs, within the clusters; label -1: a stranger."""
    true = pairs = 0.0
    for cluster in clusters:
        for i, j in combinations(cluster, 2):
            strangers = int(labels[i] == -1) + int(labels[j] == -1)
            pairs += (1.0, 0.5, 0.0)[strangers]
            true += strangers == 0 and labels[i] == labels[j]
    return true, pairs


def true_pairs(labels: Sequence[int]) -> int:
    return sum(a == b != -1 for a, b in combinations(labels, 2))


def best_pooled_f1(counts: Sequence[Sequence[tuple[float, float]]], total: float) -> float:
    """The best 2 TP / (PP + P) over all choices of one partition for each tree.

    Args:
        counts: (TP, PP) of every partition of every tree.
        total: P.
    """

    def scores() -> Iterator[float]:
        for chosen in product(*counts):
            true, pairs = (sum(column) for column in zip(*chosen, strict=True))
            yield 2 * true / (pairs + total) if pairs + total else 1.0

    return max(scores())
