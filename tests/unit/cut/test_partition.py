"""The best tree-consistent partition against an enumeration of all of them."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import cut as oracle
from supclust.cut import best_partition, best_partitions, ceiling, ceilings
from supclust.cut.counts import labelled_merge_pairs, scores_of_cut
from supclust.hac.tree import cut_tree
from trees import balanced_tree, chain_tree, random_tree


def clusters_of(labels: np.ndarray) -> list[frozenset[int]]:
    return [frozenset(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)]


def draw_tree(n: int, rng: np.random.Generator) -> np.ndarray:
    kind = rng.integers(3)
    if n == 1:
        return np.empty((0, 4))
    return [random_tree(n, rng), chain_tree(n), balanced_tree(n)][kind]


def draw_shares(n: int, rng: np.random.Generator) -> np.ndarray:
    """Random, of few values (ties), or all zero or one."""
    return [
        rng.random(n - 1),
        rng.integers(0, 3, n - 1) / 2,
        np.zeros(n - 1),
        np.ones(n - 1),
        rng.random(n - 1) ** 4,
    ][rng.integers(5)]


@pytest.mark.parametrize("seed", range(60))
def test_best_partition_is_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 13))
    Z, p = draw_tree(n, rng), draw_shares(n, rng)
    labels, f1 = best_partition(Z, p)
    total = oracle.expected_counts(Z, p, [frozenset(range(n))])[0]
    counts = [oracle.expected_counts(Z, p, clusters) for clusters in oracle.partitions(Z)]
    assert f1 == pytest.approx(oracle.best_pooled_f1([counts], total), abs=1e-12)
    chosen = clusters_of(labels)
    assert set(chosen) in [set(clusters) for clusters in oracle.partitions(Z)]
    true, pairs = oracle.expected_counts(Z, p, chosen)
    assert f1 == pytest.approx(2 * true / (pairs + total) if total else 1.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_pooled_partitions_are_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, 3)
    trees = [draw_tree(n, rng) for n in sizes]
    p = [draw_shares(n, rng) for n in sizes]
    counts = [
        [oracle.expected_counts(Z, shares, clusters) for clusters in oracle.partitions(Z)]
        for Z, shares in zip(trees, p, strict=True)
    ]
    total = sum(
        oracle.expected_counts(Z, shares, [frozenset(range(n))])[0]
        for Z, shares, n in zip(trees, p, sizes, strict=True)
    )
    labels, f1 = best_partitions(trees, p)
    assert [len(one) for one in labels] == sizes.tolist()
    assert f1 == pytest.approx(oracle.best_pooled_f1(counts, total), abs=1e-12)


@pytest.mark.parametrize("strangers", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_ceiling_is_the_best_of_all(seed: int, strangers: bool) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 13))
    Z = draw_tree(n, rng)
    labels = rng.integers(-1 if strangers else 0, 3, n)
    counts = [oracle.labelled_counts(labels, clusters) for clusters in oracle.partitions(Z)]
    best = oracle.best_pooled_f1([counts], oracle.true_pairs(labels))
    found = ceiling(Z, labels)
    if oracle.true_pairs(labels):
        assert found.f1 == pytest.approx(best, abs=1e-12)
    else:
        assert found.f1 == 1.0
    # No cut at one height is better, and the ceiling is attained by the labels it returns.
    for height in [-9, *Z[:, 2]]:
        true, pairs = oracle.labelled_counts(labels, clusters_of(cut_tree(Z, height=height)))
        total = oracle.true_pairs(labels)
        assert not total or 2 * true / (pairs + total) <= found.f1 + 1e-12
    true, pairs = oracle.labelled_counts(labels, clusters_of(found.labels))
    if oracle.true_pairs(labels):
        assert 2 * true / (pairs + oracle.true_pairs(labels)) == pytest.approx(found.f1, abs=1e-12)


def test_ceilings_pool_the_pairs() -> None:
    rng = np.random.default_rng(3)
    trees = [(random_tree(6, rng), rng.integers(-1, 2, 6)) for _ in range(2)]
    counts = [
        [oracle.labelled_counts(labels, clusters) for clusters in oracle.partitions(Z)]
        for Z, labels in trees
    ]
    total = sum(oracle.true_pairs(labels) for _, labels in trees)
    assert ceilings(trees).f1 == pytest.approx(oracle.best_pooled_f1(counts, total), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_counts_with_strangers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 15))
    Z, labels = random_tree(n, rng), rng.integers(-1, 3, n)
    pairs = labelled_merge_pairs(Z, labels)
    for height in [-9.0, *Z[:, 2]]:
        true, predicted = oracle.labelled_counts(labels, clusters_of(cut_tree(Z, height=height)))
        kept = pairs.heights <= height
        assert pairs.joined[kept].sum() == predicted
        assert pairs.same_label[kept].sum() == true
        scores = scores_of_cut([pairs], [kept])
        total = oracle.true_pairs(labels)
        assert scores.f1 == pytest.approx(
            2 * true / (predicted + total) if predicted + total else 1.0
        )


@pytest.mark.large
def test_a_large_tree_with_given_clusters() -> None:
    """Clusters of very different heights: no threshold is right, a partition is."""
    n, k = 3000, 30
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(k), n // k)
    points = labels * 1000.0 + rng.normal(size=n) * (1 + labels**2)
    from supclust import linkage

    Z = linkage(np.abs(points[:, None] - points[None]), "average")
    found = ceiling(Z, labels)
    p = labelled_merge_pairs(Z, labels)
    best = best_partition(Z, p.same_label / p.joined)
    assert best.f1 == pytest.approx(found.f1)
    np.testing.assert_array_equal(best.labels, found.labels)


@pytest.mark.parametrize("p", [[0.5], [0.5, 1.5], [np.nan, 0.5], [[0.5, 0.5]], [-0.1, 0]])
def test_bad_shares_are_refused(p: list) -> None:
    with pytest.raises(ValueError, match=r"p must be 2 numbers in \[0, 1\]"):
        best_partition([[0, 1, 1.0, 2], [2, 3, 2.0, 3]], p)
