"""`ExpLinkClustering` against scikit-learn's agglomerative clustering and SciPy."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from oracles.hac import greedy_tree
from supclust import ExpLinkClustering, linkage


@pytest.mark.parametrize("name", ["single", "average", "complete"])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_named_linkages_are_those_of_scikit_learn(
    rng: np.random.Generator, name: str, metric: str
) -> None:
    X = rng.normal(size=(40, 3))
    theirs = AgglomerativeClustering(5, linkage=name, metric=metric, compute_distances=True).fit(X)
    ours = ExpLinkClustering(5, alpha=name, metric=metric).fit(X)
    assert adjusted_rand_score(theirs.labels_, ours.labels_) == 1.0
    np.testing.assert_allclose(np.sort(theirs.distances_), ours.distances_)
    assert ours.n_clusters_ == 5 and ours.n_leaves_ == theirs.n_leaves_ == 40
    height = float(np.median(ours.distances_)) + 1e-9
    cut = {"n_clusters": None, "distance_threshold": height}
    theirs = AgglomerativeClustering(linkage=name, metric=metric, **cut).fit(X)
    ours = ExpLinkClustering(alpha=name, metric=metric, **cut).fit(X)
    assert adjusted_rand_score(theirs.labels_, ours.labels_) == 1.0
    assert ours.n_clusters_ == theirs.n_clusters_


@pytest.mark.parametrize("alpha", [-1.5, 0.7, -math.inf])
def test_alpha_is_that_of_the_definition(rng: np.random.Generator, alpha: float) -> None:
    X = rng.normal(size=(12, 2))
    D = squareform(pdist(X))
    expected = greedy_tree(D, alpha)
    found = ExpLinkClustering(3, alpha=alpha, metric="precomputed").fit(D)
    np.testing.assert_allclose(found.linkage_matrix_, expected)
    assert np.array_equal(found.children_, expected[:, :2])
    assert found.children_.dtype == np.int64
    assert np.array_equal(found.linkage_matrix_, linkage(D, "exp", alpha=alpha))
    labels = fcluster(expected, 3, "maxclust")
    assert adjusted_rand_score(labels, found.labels_) == 1.0
    same = ExpLinkClustering(3, alpha=alpha, metric=lambda a, b: np.linalg.norm(a - b)).fit(X)
    assert np.array_equal(same.labels_, found.labels_)


def test_never_alike_and_negative_dissimilarities() -> None:
    D = np.array([[0, -2, np.inf], [-2, 0, np.inf], [np.inf, np.inf, 0]])
    found = ExpLinkClustering(None, metric="precomputed", distance_threshold=1e9).fit(D)
    assert found.labels_.tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match="NaN"):
        ExpLinkClustering(metric="precomputed").fit(np.full((3, 3), np.nan))


def test_one_point_can_be_cut_at_a_height() -> None:
    found = ExpLinkClustering(None, distance_threshold=1.0).fit([[3.0]])
    assert found.labels_.tolist() == [0] and found.children_.shape == (0, 2)


def test_it_is_a_scikit_learn_estimator(rng: np.random.Generator) -> None:
    X = rng.normal(size=(9, 2))
    model = clone(ExpLinkClustering(3, alpha="single")).set_params(alpha=-2.0)
    labels = make_pipeline(StandardScaler(), model).fit_predict(X)
    assert set(labels) == {0, 1, 2}
    check_estimator(ExpLinkClustering(), on_skip=None)
    check_estimator(ExpLinkClustering(alpha="single"), on_skip=None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": None}, "exactly one of n_clusters and distance_threshold"),
        ({"distance_threshold": 1.0}, "exactly one of n_clusters and distance_threshold"),
        ({"alpha": "ward"}, "must be one of single, average"),
        ({"alpha": math.nan}, "alpha must be a number"),
        ({"n_clusters": 7}, "between 1 and the number of points, 3"),
        ({"metric": "precomputed"}, r"square matrix.*received shape \(3, 2\)"),
        ({"metric": "nonsense"}, "Unknown Distance Metric"),
    ],
)
def test_mistakes(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ExpLinkClustering(**arguments).fit([[0.0, 1.0], [2.0, 3.0], [4.0, 4.0]])


def test_it_needs_no_torch() -> None:
    code = "import sys; from supclust import ExpLinkClustering; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
