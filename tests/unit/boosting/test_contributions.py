"""Contributions of features: those of LightGBM, those of the definition, and their sums."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import lightgbm
import numpy as np
import pytest
from tests.unit.boosting.test_booster import odd_rows, table

from supclust.boosting import Booster, train_booster


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"zero_as_missing": True},
        {"use_missing": False},
        {"num_leaves": 2, "num_iterations": 1},
        {"min_data_in_leaf": 10_000},  # one leaf
        {"bagging_fraction": 0.5, "bagging_freq": 1},
        {"num_leaves": 300, "min_data_in_leaf": 1, "num_iterations": 5},
    ],
)
def test_contributions_are_those_of_lightgbm(params: dict, dtype: type) -> None:
    X, y = table(d=7)
    weight = np.random.default_rng(1).random(len(y)) + 0.1
    booster = train_booster(X, y, weight, objective="binary", params=params)
    rows = odd_rows(X).astype(dtype)
    expected = lightgbm.Booster(model_str=booster.to_text()).predict(rows, pred_contrib=True)
    made = booster.contributions(rows)
    np.testing.assert_allclose(made, expected, atol=1e-10)
    np.testing.assert_allclose(made.sum(axis=1), booster.predict_raw(rows), atol=1e-10)


def test_contributions_by_their_definition() -> None:
    X, y = table(60, 4)
    params = {"num_leaves": 6, "min_data_in_leaf": 3, "num_iterations": 3}
    booster = train_booster(X, y, objective="binary", params=params)
    for row in X[:10]:
        np.testing.assert_allclose(booster.contributions(row[None])[0], shapley(booster, row))


def shapley(booster: Booster, row: np.ndarray) -> np.ndarray:
    """Average over all orders of what knowing a feature changes."""
    d = booster.n_features
    contributions = np.zeros(d + 1)
    contributions[-1] = known_score(booster, row, set())
    for i in range(d):
        others = [j for j in range(d) if j != i]
        for size in range(d):
            weight = factorial(size) * factorial(d - size - 1) / factorial(d)
            for known in combinations(others, size):
                gain = known_score(booster, row, {*known, i}) - known_score(booster, row, {*known})
                contributions[i] += weight * gain
    return contributions


def known_score(booster: Booster, row: np.ndarray, known: set[int]) -> float:
    """Score where unknown features follow the training rows at every split."""
    trees = booster.trees

    def rows(node: int) -> float:
        if node < 0:
            return float(trees.rows[~node])
        return rows(trees.left[node]) + rows(trees.right[node])

    def value(node: int) -> float:
        if node < 0:
            return float(trees.value[~node])
        left, right = int(trees.left[node]), int(trees.right[node])
        if int(trees.feature[node]) not in known:
            share = rows(left) / rows(node)
            return share * value(left) + (1 - share) * value(right)
        x = row[trees.feature[node]]
        if np.isnan(x) and trees.missing[node] == 2:
            return value(left if trees.missing_left[node] else right)
        return value(left if np.nan_to_num(x) <= trees.threshold[node] else right)

    return sum(value(int(root)) for root in trees.root)


def test_many_features_on_one_way() -> None:
    """Dozens of features on the way to the deepest leaf; there LightGBM loses digits."""
    rng = np.random.default_rng(0)
    X = rng.random((3000, 40))
    y = (X > 0.1).cumprod(axis=1).sum(axis=1)
    params = {"num_leaves": 60, "num_iterations": 2, "min_data_in_leaf": 1, "max_depth": -1}
    booster = train_booster(X, y, objective="regression", params=params)
    expected = lightgbm.Booster(model_str=booster.to_text()).predict(X[:50], pred_contrib=True)
    made = booster.contributions(X[:50])
    np.testing.assert_allclose(made, expected, atol=1e-6)
    np.testing.assert_allclose(made.sum(axis=1), booster.predict_raw(X[:50]), atol=1e-12)


def test_models_without_counts_are_refused() -> None:
    X, y = table()
    text = train_booster(X, y, objective="binary").to_text()
    without = "\n".join(line for line in text.split("\n") if not line.startswith("leaf_count="))
    booster = Booster.from_text(without)
    assert booster.predict_raw(X).shape == (len(X),)
    with pytest.raises(ValueError, match="number of training rows of every leaf"):
        booster.contributions(X)
