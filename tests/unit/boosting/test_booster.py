"""Boosted trees read from LightGBM's text: the same scores as LightGBM, damaged files refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import lightgbm
import numpy as np
import pytest

from supclust.boosting import Booster, train_booster


def table(n: int = 400, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features with missing values, zeros and duplicates, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random(X.shape) < 0.15] = np.nan
    X[rng.random(X.shape) < 0.15] = 0.0
    X[:, -1] = rng.integers(0, 3, n)
    y = np.nansum(X, axis=1) + np.isnan(X[:, 0]) + rng.normal(size=n) > 0.5
    return X, y.astype(float)


def odd_rows(X: np.ndarray) -> np.ndarray:
    """The rows, and every value that a comparison treats specially, in every column."""
    tiny = np.float64(np.float32(1e-35))
    special = [np.nan, 0.0, -0.0, np.inf, -np.inf, 1e30, -1e30, tiny, -tiny, 2 * tiny, tiny / 2]
    rows = np.repeat(X[:1], len(special) * X.shape[1], axis=0)
    for j in range(X.shape[1]):
        rows[j * len(special) : (j + 1) * len(special), j] = special
    return np.vstack([X, rows, np.full((1, X.shape[1]), np.nan), np.zeros((1, X.shape[1]))])


def reference(booster: Booster, X: np.ndarray) -> np.ndarray:
    return lightgbm.Booster(model_str=booster.to_text()).predict(X, raw_score=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"zero_as_missing": True},
        {"use_missing": False},
        {"num_leaves": 2, "num_iterations": 1},
        {"min_data_in_leaf": 10_000},  # one leaf
        {"boosting": "dart", "num_iterations": 20},
        {"monotone_constraints": [1, 0, 0, -1]},
        {"num_leaves": 300, "min_data_in_leaf": 1, "num_iterations": 5},
    ],
)
@pytest.mark.parametrize("objective", ["binary", "cross_entropy", "regression"])
def test_scores_are_those_of_lightgbm(objective: str, params: dict, dtype: type) -> None:
    X, y = table()
    weight = np.random.default_rng(1).random(len(y)) + 0.1
    booster = train_booster(X, y, weight, objective=objective, params=params)
    rows = odd_rows(X).astype(dtype)
    np.testing.assert_array_equal(booster.predict_raw(rows), reference(booster, rows))
    again = Booster.from_text(booster.to_text())
    np.testing.assert_array_equal(again.predict_raw(rows), booster.predict_raw(rows))
    assert again.objective.split()[0] == objective


def test_missing_only_at_prediction() -> None:
    X, y = table()
    X = np.nan_to_num(X)  # trained without missing values: NaN then counts as zero
    booster = train_booster(X, y, objective="binary")
    rows = odd_rows(X)
    np.testing.assert_array_equal(booster.predict_raw(rows), reference(booster, rows))


@pytest.mark.large
def test_many_rows_in_parts() -> None:
    X, y = table(3000)
    booster = train_booster(X, y, objective="binary")
    np.testing.assert_array_equal(booster.predict_raw(X), reference(booster, X))
    np.testing.assert_array_equal(booster.predict_raw(np.asfortranarray(X)), booster.predict_raw(X))


def test_training_is_deterministic() -> None:
    X, y = table()
    params = {"feature_fraction": 0.5, "bagging_fraction": 0.5, "bagging_freq": 1}

    def trees(seed: int, num_threads: int) -> str:
        booster = train_booster(
            X, y, objective="binary", params=params, seed=seed, num_threads=num_threads
        )
        return booster.to_text().partition("end of trees")[0]

    assert trees(0, 1) == trees(0, 2)
    assert trees(0, 1) != trees(1, 1)


def test_first_rounds_are_those_of_a_shorter_training() -> None:
    X, y = table()
    params = {"feature_fraction": 0.5, "num_iterations": 30}
    whole = train_booster(X, y, objective="binary", params=params)
    short = train_booster(X, y, objective="binary", params={**params, "num_iterations": 7})
    rows = odd_rows(X)
    np.testing.assert_array_equal(whole.first(7).predict_raw(rows), short.predict_raw(rows))
    for enough in (30, 31):
        np.testing.assert_array_equal(
            whole.first(enough).predict_raw(rows), whole.predict_raw(rows)
        )
    with pytest.raises(ValueError, match="rounds must be at least 1; received 0"):
        whole.first(0)


def test_no_rows_and_wrong_shapes() -> None:
    X, y = table()
    booster = train_booster(X, y, objective="binary")
    assert booster.predict_raw(np.empty((0, 4))).shape == (0,)
    assert booster.predict_raw([[0, 1, 2, 3]]).shape == (1,)
    for bad in (X[:, :3], X[0], X[None]):
        with pytest.raises(ValueError, match=r"X must be \(n, 4\); received shape"):
            booster.predict_raw(bad)


def line(text: str, name: str) -> str:
    """The first line of the text that sets a field."""
    return next(row for row in text.split("\n") if row.startswith(f"{name}="))


def changed(name: str, change: Callable[[list[str]], list[str]]) -> Callable[[str], str]:
    """An edit of the values of the first line that sets a field."""

    def edit(text: str) -> str:
        old = line(text, name)
        return text.replace(old, f"{name}=" + " ".join(change(old.split("=")[1].split())), 1)

    return edit


def added(row: str) -> Callable[[str], str]:
    return lambda text: text.replace("is_linear=0", f"is_linear=0\n{row}", 1)


DAMAGE = {
    "empty": lambda _: "",
    "not a model": lambda _: "[]",
    "cut off": lambda text: text[: text.index("end of trees") - 40],
    "a tree is missing": lambda text: text[: text.index("Tree=1")] + text[text.index("Tree=2") :],
    "shorter array": changed("threshold", lambda v: v[1:]),
    "longer array": changed("leaf_value", lambda v: [*v, "1"]),
    "no array": lambda text: text.replace(line(text, "left_child") + "\n", "", 1),
    "NaN in leaves": changed("leaf_value", lambda v: ["nan", *v[1:]]),
    "infinite leaf": changed("leaf_value", lambda v: ["inf", *v[1:]]),
    "NaN threshold": changed("threshold", lambda v: ["nan", *v[1:]]),
    "word": changed("threshold", lambda v: ["one", *v[1:]]),
    "fraction": changed("split_feature", lambda v: ["0.5", *v[1:]]),
    "huge integer": changed("split_feature", lambda v: ["9" * 40, *v[1:]]),
    "unknown feature": changed("split_feature", lambda v: ["4", *v[1:]]),
    "negative feature": changed("split_feature", lambda v: ["-1", *v[1:]]),
    "child out of range": changed("left_child", lambda v: ["77", *v[1:]]),
    "leaf out of range": changed("left_child", lambda v: ["-77", *v[1:]]),
    "cycle": changed("left_child", lambda v: [*v[:2], "0", *v[3:]]),
    "own child": changed("right_child", lambda v: ["0", *v[1:]]),
    "decision type": changed("decision_type", lambda v: ["12", *v[1:]]),
    "number of leaves": changed("num_leaves", lambda v: ["1"]),
    "no leaves": changed("num_leaves", lambda v: ["0"]),
    "number of features": changed("max_feature_idx", lambda v: ["5"]),
    "names": changed("feature_names", lambda v: v[1:]),
    "twice": lambda text: text.replace("num_cat=0", "num_cat=0\nnum_cat=0", 1),
}
UNSUPPORTED = {
    "categorical": changed("num_cat", lambda v: ["1"]),
    "categorical split": changed("decision_type", lambda v: ["1", *v[1:]]),
    "linear": lambda text: text.replace("is_linear=0", "is_linear=1", 1),
    "classes": changed("num_class", lambda v: ["3"]),
    "trees per iteration": changed("num_tree_per_iteration", lambda v: ["3"]),
    "averaged": lambda text: text.replace("objective=", "average_output\nobjective=", 1),
    "version": changed("version", lambda v: ["v9"]),
    "field of a tree": added("leaf_const=1 2"),
}


@pytest.fixture(scope="module")
def text() -> str:
    X, y = table()
    params = {"num_iterations": 3, "num_leaves": 5}
    return train_booster(X, y, objective="binary", params=params).to_text()


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_text_is_refused(text: str, name: str) -> None:
    damaged = DAMAGE[name](text)
    assert damaged != text
    with pytest.raises(ValueError, match="not an intact LightGBM model"):
        Booster.from_text(damaged)


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_is_not_supported_is_refused(text: str, name: str) -> None:
    edited = UNSUPPORTED[name](text)
    assert edited != text
    with pytest.raises(ValueError, match="not supported"):
        Booster.from_text(edited)


@pytest.mark.parametrize(
    "params",
    [
        {"objective": "multiclass", "num_class": 3},
        {"objective": "regression", "linear_tree": True},
        {"objective": "regression", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5},
        {"objective": "binary", "categorical": True},
    ],
)
def test_real_models_of_other_kinds_are_refused(params: dict) -> None:
    params = dict(params)
    X, y = table()
    y = (X[:, 3] if params["objective"] == "multiclass" else y) + 0.0
    columns = [3] if params.pop("categorical", False) else "auto"
    data = lightgbm.Dataset(X, y, params={"verbosity": -1, **params}, categorical_feature=columns)
    other = lightgbm.train({"verbosity": -1, "num_iterations": 5, **params}, data)
    with pytest.raises(ValueError, match="not supported"):
        Booster.from_text(other.model_to_string())


def test_random_bytes_never_crash(text: str) -> None:
    """Any edit either raises a ValueError or leaves a model whose scores can be computed."""
    rng = np.random.default_rng(0)
    X = odd_rows(table(20)[0])
    for _ in range(300):
        at = int(rng.integers(text.index("end of trees")))
        edited = text[:at] + chr(int(rng.integers(32, 127))) + text[at + 1 :]
        try:
            booster = Booster.from_text(edited)
        except ValueError:
            continue
        if booster.n_features == X.shape[1]:
            assert np.isfinite(booster.predict_raw(X)).all()


def test_applied_without_lightgbm_and_torch(text: str) -> None:
    code = """
import sys
sys.modules["lightgbm"] = sys.modules["torch"] = None
from supclust.boosting import Booster, train_booster
booster = Booster.from_text(sys.stdin.read())
assert booster.predict_raw([[0.0, 1.0, 2.0, 3.0]]).shape == (1,)
assert booster.contributions([[0.0, 1.0, 2.0, 3.0]]).shape == (1, 5)
try:
    train_booster([[0.0]], [0.0], objective="binary")
except ImportError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True
    )
    assert done.stdout.count("needs lightgbm, which is not installed. Install it with: pip") == 1
