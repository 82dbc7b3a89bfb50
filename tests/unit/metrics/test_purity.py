from __future__ import annotations

import math
import time

import higra
import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

import generators
from oracles import metrics as oracle
from supclust.metrics import MeanPurity, dendrogram_purity, mean_purity, merge_pairs
from trees import balanced_tree, chain_tree, random_tree

FINITE = sorted(set(generators.FAMILIES) - generators.INFINITE)


def higra_purity(Z: np.ndarray, labels: np.ndarray) -> float:
    n = len(Z) + 1
    parents = np.empty(2 * n - 1, dtype=np.int64)
    parents[-1] = 2 * n - 2
    for k, (left, right) in enumerate(Z[:, :2].astype(int)):
        parents[[left, right]] = n + k
    return float(higra.dendrogram_purity(higra.Tree(parents), labels))


def labelings(n: int, rng: np.random.Generator) -> list[np.ndarray]:
    return [
        np.zeros(n, dtype=int),
        np.arange(n) // 2,
        np.arange(n) % 3,
        rng.integers(0, 4, n),
        rng.integers(0, n, n),
    ]


@pytest.mark.parametrize("n", [2, 3, 5, 16, 41])
def test_purity_matches_pair_enumeration_and_higra(n: int, rng: np.random.Generator) -> None:
    for Z in (random_tree(n, rng), chain_tree(n), balanced_tree(n)):
        for labels in labelings(n, rng):
            expected = oracle.dendrogram_purity(Z, labels)
            actual = dendrogram_purity(Z, labels)
            assert actual == pytest.approx(expected, rel=1e-12, nan_ok=True)
            if not math.isnan(expected):
                assert actual == pytest.approx(higra_purity(Z, labels), rel=1e-12)


@pytest.mark.parametrize("family", FINITE)
def test_purity_of_real_trees(family: str, rng: np.random.Generator) -> None:
    D, labels = generators.FAMILIES[family](30, rng)
    Z = linkage(squareform(D), "average")
    expected = oracle.dendrogram_purity(Z, labels)
    assert dendrogram_purity(Z, labels) == pytest.approx(expected, rel=1e-12)


def test_purity_of_a_larger_tree_matches_higra(rng: np.random.Generator) -> None:
    Z = linkage(rng.normal(size=(700, 3)), "single")
    labels = rng.integers(0, 40, 700)
    assert dendrogram_purity(Z, labels) == pytest.approx(higra_purity(Z, labels), rel=1e-12)


def test_purity_by_hand() -> None:
    Z = [[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 2.0, 4]]
    assert dendrogram_purity(Z, [0, 0, 1, 1]) == 1.0
    assert dendrogram_purity(Z, ["a", "b", "a", "b"]) == 0.5
    assert dendrogram_purity(Z, ["a", "a", "a", "b"]) == pytest.approx((1 + 0.75 + 0.75) / 3)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_purity_without_a_same_label_pair_is_undefined(n: int) -> None:
    assert math.isnan(dendrogram_purity(balanced_tree(n), np.arange(n)))


def test_heights_play_no_part(rng: np.random.Generator) -> None:
    Z, labels = random_tree(20, rng), rng.integers(0, 4, 20)
    expected = dendrogram_purity(Z, labels)
    Z[:, 2] = np.inf
    assert dendrogram_purity(Z, labels) == expected


def test_merge_pairs_by_hand() -> None:
    merges = merge_pairs([[0, 1, 1.0, 2], [2, 3, 0.5, 3]], ["a", "b", "a"])
    np.testing.assert_array_equal(merges.heights, [1.0, 1.0])
    np.testing.assert_array_equal(merges.joined, [1, 2])
    np.testing.assert_array_equal(merges.same_label, [0, 1])
    np.testing.assert_allclose(merges.purity, [0, 2 / 3])


def test_inputs_are_not_mutated(rng: np.random.Generator) -> None:
    Z, labels = random_tree(20, rng), rng.integers(0, 4, 20)
    Z_before, labels_before = Z.copy(), labels.copy()
    Z.setflags(write=False)
    labels.setflags(write=False)
    dendrogram_purity(Z, labels)
    np.testing.assert_array_equal(Z, Z_before)
    np.testing.assert_array_equal(labels, labels_before)


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match="one entry per point, 2; received 3"):
        dendrogram_purity(chain_tree(2), [0, 1, 1])
    with pytest.raises(ValueError, match=r"shape \(n-1, 4\)"):
        dendrogram_purity(np.ones((3, 3)), [0, 1, 1])


@pytest.mark.parametrize("distinct", [1, 100, 200_000])
def test_a_long_chain_takes_no_quadratic_time(distinct: int) -> None:
    """200,000 points: quadratic work would take minutes, this takes tens of milliseconds."""
    n = 200_000
    k = np.arange(n - 1)
    Z = np.stack([k + 1, n + k - 1, k, k + 2], axis=1).astype(float)
    Z[0, :2] = 0, 1
    labels = np.arange(n) % distinct
    dendrogram_purity(Z[:1], [0, 0])  # compile
    start = time.perf_counter()
    purity = dendrogram_purity(Z, labels)
    assert time.perf_counter() - start < 5
    assert math.isnan(purity) if distinct == n else 0 < purity <= 1


def test_mean_purity_leaves_out_and_counts_undefined_blocks() -> None:
    assert mean_purity([1.0, math.nan, 0.5, math.nan]) == MeanPurity(0.75, 2, 2)
    assert mean_purity(np.array([0.25])) == MeanPurity(0.25, 1, 0)
    nothing = mean_purity([math.nan])
    assert math.isnan(nothing.mean)
    assert nothing[1:] == (0, 1)
