"""`SupervisedHAC` inside scikit-learn: its own checks, pipelines, searches."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import numpy as np
import pytest
import sklearn
import sklearn.exceptions
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from supclust import SupervisedHAC
from training_blocks import vector_block

EXPECTED_FAILURES = {
    "check_methods_subset_invariance": (
        "predict clusters the rows it is given together: a row alone is a cluster of its own"
    ),
    "check_methods_sample_order_invariance": (
        "clusters are numbered by first appearance, so another order gives other numbers to the "
        "same clusters"
    ),
}


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def records() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    blocks = [vector_block(f"b{k}", rng, (4, 3, 3)) for k in range(6)]
    X = np.concatenate([block.features for block in blocks])
    y = np.concatenate([block.labels for block in blocks])
    return X, y, np.repeat([block.name for block in blocks], 10)


def test_scikit_learns_own_checks() -> None:
    results = check_estimator(
        SupervisedHAC(max_epochs=1), expected_failed_checks=EXPECTED_FAILURES, on_skip=None
    )
    failed = {r["check_name"] for r in results if r["status"] == "xfail"}
    assert failed <= set(EXPECTED_FAILURES)
    assert sum(r["status"] == "passed" for r in results) > 35


def test_a_search_over_groups_clusters_each_block_on_its_own(routing: None) -> None:
    X, y, groups = records()
    grid = {"lr": [0.0, 0.02], "linkage": ["single", "exp"]}
    search = GridSearchCV(SupervisedHAC(max_epochs=4), grid, cv=GroupKFold(2))
    search.fit(X, y, groups=groups)
    folds = list(GroupKFold(2).split(X, y, groups))
    best = search.best_index_
    for k, (train, test) in enumerate(folds):
        model = SupervisedHAC(max_epochs=4, **search.cv_results_["params"][best])
        model.fit(X[train], y[train], groups[train])
        expected = model.score(X[test], y[test], groups[test])
        assert search.cv_results_[f"split{k}_test_score"][best] == expected
    assert search.predict(X[:10]).shape == (10,)


def test_pipeline(routing: None) -> None:
    X, y, groups = records()
    scaled = make_pipeline(StandardScaler(), SupervisedHAC(max_epochs=2))
    scores = cross_val_score(scaled, X, y, cv=GroupKFold(2), params={"groups": groups})
    assert scores.shape == (2,) and (scores > 0).all()
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
        scaled.fit(X, y, groups=groups).score(X, y, sample_weight=np.ones(len(y)))
    alone = SupervisedHAC(max_epochs=2).fit(StandardScaler().fit_transform(X), y, groups)
    expected = alone.predict(StandardScaler().fit_transform(X), groups)
    assert np.array_equal(scaled.predict(X, groups=groups), expected)


def test_pipeline_without_routing() -> None:
    X, y, groups = records()
    scaled = make_pipeline(StandardScaler(), SupervisedHAC(max_epochs=2))
    scaled.fit(X, y, supervisedhac__groups=groups)
    assert scaled.predict(X, groups=groups).shape == y.shape


def test_a_fitted_estimator_travels_between_processes() -> None:
    X, y, groups = records()
    model = SupervisedHAC(max_epochs=2).fit(X, y, groups)
    twin = pickle.loads(pickle.dumps(model))
    assert np.array_equal(twin.predict(X, groups), model.predict(X, groups))
