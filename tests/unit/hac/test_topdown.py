"""Top-down and random trees: valid everywhere, right where the answer is known."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from sklearn.cluster import SpectralClustering

import generators
from oracles.hac import check_structure
from supclust.hac import topdown
from supclust.hac.topdown import random_tree, recursive_sparsest_cut

CUTS = ["kmeans", "cluster_qr", "discretize", "fiedler"]


def same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.array_equal(a[:, None] == a, b[:, None] == b))


@pytest.mark.parametrize("family", generators.FAMILIES)
@pytest.mark.parametrize("cut", ["kmeans", "fiedler"])
def test_every_family_gives_a_valid_tree_without_a_warning(family: str, cut: str) -> None:
    for n in (1, 2, 3, 4, 15):
        D, _ = generators.FAMILIES[family](n, np.random.default_rng(n))
        before = D.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Z = recursive_sparsest_cut(D, cut=cut)
        check_structure(Z, n)
        np.testing.assert_array_equal(Z[:, 2], Z[:, 3])
        np.testing.assert_array_equal(D, before)


@pytest.mark.parametrize("cut", CUTS)
def test_two_groups_are_the_first_cut(cut: str, rng: np.random.Generator) -> None:
    labels = rng.permutation(np.repeat([0, 1], [9, 14]))
    points = 20.0 * labels[:, None] + rng.normal(size=(23, 3))
    Z = recursive_sparsest_cut(generators.euclidean(points), cut=cut)
    assert is_valid_linkage(Z)
    assert same_partition(fcluster(Z, 2, "maxclust"), labels)


def test_the_first_cut_is_scikit_learns(rng: np.random.Generator) -> None:
    """The paper's cut: spectral clustering of (largest - D), k-means, here with the same seed."""
    D = generators.euclidean(np.concatenate([rng.normal(size=(12, 2)), rng.normal(3, 1, (10, 2))]))
    model = SpectralClustering(2, affinity="precomputed", random_state=0)
    Z = recursive_sparsest_cut(D, random_state=0)
    top = leaves_below(Z, int(Z[-1, 0]))
    assert same_partition(np.isin(np.arange(22), top), model.fit_predict(D.max() - D))


def leaves_below(Z: np.ndarray, node: int) -> list[int]:
    n = len(Z) + 1
    if node < n:
        return [node]
    return [leaf for child in Z[node - n, :2] for leaf in leaves_below(Z, int(child))]


@pytest.mark.parametrize("cut", CUTS)
def test_three_points_join_the_closest_two(cut: str) -> None:
    D = np.array([[0.0, 5.0, 1.0], [5.0, 0.0, 4.0], [1.0, 4.0, 0.0]])
    assert recursive_sparsest_cut(D, cut=cut)[0, :2].tolist() == [0, 2]


def test_never_alike_components_are_cut_apart_first() -> None:
    labels = np.array([0, 1, 0, 1, 0, 0, 1, 1])
    steps = np.abs(np.subtract.outer(range(8), range(8)))
    D = np.where(labels[:, None] == labels, 1.0 + steps, np.inf)
    Z = recursive_sparsest_cut(D)
    assert same_partition(fcluster(Z, 4, "distance"), labels)


def test_a_point_at_the_largest_distance_from_all_is_cut_off() -> None:
    """Its similarity to every other point is 0: a node of degree zero."""
    D = generators.euclidean(np.random.default_rng(0).normal(size=(8, 2)))
    D[3, :] = D[:, 3] = D.max() + 1
    top = recursive_sparsest_cut(D)[-1]
    assert top[0] == 3


@pytest.mark.parametrize("D", [np.zeros((6, 6)), np.full((6, 6), np.inf), np.ones((6, 6))])
def test_constant_dissimilarity_is_split_evenly(D: np.ndarray) -> None:
    Z = recursive_sparsest_cut(D)
    check_structure(Z, 6)
    assert Z[:, 3].tolist() == [2, 2, 3, 3, 6]


@pytest.mark.parametrize("failure", [np.linalg.LinAlgError("singular"), RuntimeError("arpack")])
def test_where_the_spectral_clustering_fails_the_fiedler_vector_cuts(
    failure: Exception, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    labels = np.repeat([0, 1], [6, 8])
    D = generators.euclidean(30.0 * labels[:, None] + rng.normal(size=(14, 2)))

    def fail(self: SpectralClustering, X: np.ndarray) -> np.ndarray:
        raise failure

    monkeypatch.setattr(topdown.SpectralClustering, "fit_predict", fail)
    Z = recursive_sparsest_cut(D)
    check_structure(Z, 14)
    assert same_partition(fcluster(Z, 2, "maxclust"), labels)


def test_where_one_side_is_empty_the_fiedler_vector_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    D, _ = generators.random(12, np.random.default_rng(0))
    monkeypatch.setattr(
        topdown.SpectralClustering, "fit_predict", lambda self, X: np.zeros(len(X), dtype=int)
    )
    check_structure(recursive_sparsest_cut(D), 12)


def test_the_scale_and_offset_do_not_matter() -> None:
    D, _ = generators.random(20, np.random.default_rng(1))
    expected = recursive_sparsest_cut(D, cut="fiedler")
    for scale in (1e-9, 1e9):
        np.testing.assert_array_equal(recursive_sparsest_cut(scale * D, cut="fiedler"), expected)
    np.testing.assert_array_equal(recursive_sparsest_cut(D - 100.0, cut="fiedler"), expected)


def test_the_same_seed_gives_the_same_tree() -> None:
    D, _ = generators.random(25, np.random.default_rng(2))
    np.testing.assert_array_equal(
        recursive_sparsest_cut(D, random_state=3), recursive_sparsest_cut(D, random_state=3)
    )


@pytest.mark.parametrize(
    ("D", "arguments", "message"),
    [
        (np.zeros((2, 3)), {}, "square .* matrix"),
        (np.zeros((0, 0)), {}, "at least one point"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), {}, r"received (nan|-inf) at"),
        (np.array([[0.0, -np.inf], [-np.inf, 0.0]]), {}, r"received (nan|-inf) at"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), {}, "must be symmetric"),
        (np.array([[0.0, np.inf], [2.0, 0.0]]), {}, "must be symmetric"),
        (np.zeros((2, 2)), {"cut": "ncut"}, "cut must be one of"),
    ],
)
def test_sparsest_cut_refuses(D: np.ndarray, arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recursive_sparsest_cut(D, **arguments)


@pytest.mark.parametrize("n", [1, 2, 3, 50])
def test_random_tree_is_valid(n: int) -> None:
    Z = random_tree(n, np.random.default_rng(0))
    check_structure(Z, n)
    assert Z[:, 2].tolist() == list(range(1, n))


def test_random_tree_draws_every_pair_equally_often() -> None:
    rng = np.random.default_rng(0)
    draws = 3000
    firsts = np.array([random_tree(4, rng)[0, :2] for _ in range(draws)])
    codes = np.bincount((4 * firsts[:, 0] + firsts[:, 1]).astype(int), minlength=16)
    pairs = codes[codes > 0]
    assert len(pairs) == 6
    # 500 expected each; five standard deviations of a binomial are about 102.
    assert (np.abs(pairs - draws / 6) < 102).all()


def test_random_tree_seed_and_refusal() -> None:
    np.testing.assert_array_equal(random_tree(9, 4), random_tree(9, 4))
    with pytest.raises(ValueError, match="n must be at least 1"):
        random_tree(0)
