"""`ExpLinkClustering` against scikit-learn's agglomerative clustering and SciPy."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster
from scipy.sparse import coo_array, csr_array, csr_matrix
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph
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


def test_connectivity_is_that_of_scikit_learn(rng: np.random.Generator) -> None:
    X = rng.normal(size=(80, 3))
    graph = kneighbors_graph(X, 8)
    # Its complete linkage is the maximum over connected pairs, as ours is.
    theirs = AgglomerativeClustering(5, linkage="complete", connectivity=graph).fit(X)
    ours = ExpLinkClustering(5, alpha="complete", connectivity=graph).fit(X)
    assert ours.distances_[-1] < math.inf
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    D = squareform(pdist(X))
    for connectivity in (graph.toarray(), csr_matrix(graph.T), lambda x: kneighbors_graph(x, 8)):
        again = ExpLinkClustering(5, alpha="complete", connectivity=connectivity).fit(X)
        np.testing.assert_array_equal(again.linkage_matrix_, ours.linkage_matrix_)
    dense = ExpLinkClustering(5, alpha="complete", metric="precomputed", connectivity=graph)
    np.testing.assert_array_equal(dense.fit_predict(D), ours.labels_)
    everything = ExpLinkClustering(
        5, alpha=-1.0, metric="cityblock", connectivity=np.ones((80, 80))
    )
    plain = ExpLinkClustering(5, alpha=-1.0, metric="cityblock").fit(X)
    np.testing.assert_allclose(everything.fit(X).distances_, plain.distances_, rtol=1e-12)


def test_sparse_dissimilarities_are_a_graph(rng: np.random.Generator) -> None:
    X = rng.normal(size=(60, 2))
    graph = radius_neighbors_graph(X, 0.9, mode="distance")
    sparse = ExpLinkClustering(None, alpha=-2.0, metric="precomputed", distance_threshold=0.5)
    D = squareform(pdist(X))
    D[D > 0.9] = math.inf
    np.testing.assert_array_equal(sparse.fit(graph).labels_, sparse.fit(D).labels_)
    sparse.set_params(missing=2.0, alpha=0.0)
    D[math.inf == D] = 2.0
    np.testing.assert_array_equal(sparse.fit(csr_array(graph)).labels_, sparse.fit(D).labels_)
    two = coo_array(([0.0, 1.0], ([0, 2], [1, 3])), shape=(4, 4))
    with pytest.raises(ValueError, match="n_clusters must be at least 2: other clusters are never"):
        ExpLinkClustering(1, metric="precomputed").fit(two)
    assert ExpLinkClustering(2, metric="precomputed").fit_predict(two).tolist() == [0, 0, 1, 1]


def test_constraints(rng: np.random.Generator) -> None:
    X = [[0.0], [1.0], [10.0], [11.0]]
    model = ExpLinkClustering(2)
    assert model.fit_predict(X, must_link=[(0, 2)]).tolist() == [0, 0, 0, 1]
    assert model.fit_predict(X, cannot_link=[(0, 1)]).tolist() == [0, 1, 1, 1]
    with pytest.raises(ValueError, match="contradict"):
        model.fit(X, must_link=[(0, 1)], cannot_link=[(0, 1)])
    with pytest.raises(ValueError, match="at least 2"):
        ExpLinkClustering(1).fit(X, cannot_link=[(0, 1)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"connectivity": np.eye(2)}, r"shape \(4, 4\), or a function"),
        ({"connectivity": np.ones((4, 4)), "metric": "seuclidean"}, "depends on all rows"),
    ],
)
def test_mistakes_in_graphs(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ExpLinkClustering(2, **arguments).fit([[0.0], [1.0], [2.0], [4.0]])
