"""Contributions add up to the height of every merge, for linear and boosted pair models."""

from __future__ import annotations

import numpy as np
import pytest

from supclust.explain.component import Component
from supclust.explain.waterfall import Waterfall, merge_waterfall, pair_weights
from supclust.hac import graph_linkage
from supclust.resolve.pair_model import Boosted, Logistic, PairModel, train_boosted

D = 6
NAMES = tuple(f"{column}: {name}" for column in ("name", "town: old") for name in "abc")


@pytest.fixture(scope="module")
def boosted() -> Boosted:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, D)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    same = np.nansum(X, axis=1) + rng.normal(size=len(X)) > 0
    return train_boosted(X, same, rng.random(len(X)) + 0.1)


def logistic() -> Logistic:
    rng = np.random.default_rng(1)
    return Logistic(rng.normal(size=D), 0.3)


def random_component(model: PairModel, seed: int) -> Component:
    """A tree of a random graph, with tied and repeated pairs, and some must-links."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    i, j = np.triu_indices(n, 1)
    given = rng.random(len(i)) < rng.choice([0.2, 0.6, 1.0])
    given[rng.integers(len(i))] = True
    i, j = i[given], j[given]
    X = rng.normal(size=(len(i), D)).astype(np.float32)
    if seed % 3 == 0:
        X = np.round(X)
    if model.nan:
        X[rng.random(X.shape) < 0.2] = np.nan
    f = model.dissimilarity(X).astype(np.float32).astype(np.float64)
    alpha, missing = float(rng.choice([0.0, -0.2, -0.5, 2.0])), float(rng.choice([2.0, 4.0]))
    close = f < missing
    i, j, X, f = i[close], j[close], X[close], f[close]
    must = rng.integers(0, n, (2, 2)) if seed % 4 == 0 else None
    forest = graph_linkage((i, j, f), n, "exp", alpha=alpha, missing=missing, must_link=must)
    order = np.argsort(forest.heights, kind="stable")
    row = {pair: k for k, pair in enumerate(zip(i.tolist(), j.tolist(), strict=True))}

    def contributions(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        rows = [row[pair] for pair in zip(a.tolist(), b.tolist(), strict=True)]
        return model.contributions(X[rows])

    return Component(
        n, i, j, f, forest.pairs[order], forest.heights[order], alpha, missing, 0.0, NAMES,
        contributions,
    )  # fmt: skip


@pytest.mark.parametrize("family", ["linear", "boosted"])
def test_waterfalls_add_up_on_every_merge_of_100_trees(family: str, boosted: Boosted) -> None:
    model: PairModel = boosted if family == "boosted" else logistic()
    merges = 0
    for seed in range(100):
        tree = random_component(model, seed)
        for merge in tree.merges:
            if merge.height == -np.inf:
                continue
            made = tree.waterfall(merge.left, merge.right)
            total = made.parts.sum() + made.always + made.not_given
            assert total == pytest.approx(merge.height, abs=1e-6)
            assert made.height == pytest.approx(merge.height, abs=1e-6)
            columns = sum(made.by_column.values()) + made.always + made.not_given
            assert columns == pytest.approx(merge.height, abs=1e-6)
            merges += 1
    assert merges > 500


def test_merges_and_clusters_are_those_of_the_forest(boosted: Boosted) -> None:
    for seed in range(30):
        tree = random_component(boosted, seed)
        parent = np.arange(tree.n)
        for (a, b), height in zip(tree.pairs, tree.heights, strict=True):
            if height <= tree.threshold:
                parent[parent == parent[b]] = parent[a]
        for node in range(tree.n):
            expected = np.flatnonzero(parent == parent[node])
            np.testing.assert_array_equal(tree.cluster_of(node), expected)


def test_a_part_of_one_pair_is_its_contribution() -> None:
    model = logistic()
    X = np.ones((1, D), np.float32)
    f = model.dissimilarity(X)
    made = merge_waterfall(NAMES, model.contributions(X), f, 1, -0.5, 4.0)
    np.testing.assert_allclose(made.parts, model.weight, atol=1e-12)
    assert made.not_given == 0.0
    assert made.always == pytest.approx(0.3, abs=1e-6)


def test_parts_of_a_column_are_grouped_by_its_whole_name() -> None:
    made = Waterfall(NAMES, np.array([1.0, 2, 3, -4, -5, -6]), 0.0, 0.0, -9.0)
    assert made.by_column == {"town: old": -15.0, "name": 6.0}


def test_weights_of_huge_values_stay_finite() -> None:
    weights = pair_weights(np.array([-1e5, 1e5]), 10, -3.0, 1e5)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[0] == pytest.approx(1.0)


def test_pairs_of_another_model_are_refused() -> None:
    model = logistic()
    X = np.ones((2, D), np.float32)
    with pytest.raises(ValueError, match="scored by another model"):
        merge_waterfall(NAMES, model.contributions(X), np.array([5.0, 6.0]), 2, 0.0, 4.0)
