"""The CPU kernel against the replay oracle, SciPy, fastcluster and higra, on every path."""

from __future__ import annotations

import math

import fastcluster
import higra
import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist, squareform

import generators
from oracles.hac import greedy_tree, replay
from supclust.hac._linkage import linkage, linkages
from supclust.hac.cpu import dispatch as chain
from supclust.hac.cpu.merge_rules import choose_representation
from supclust.hac.family import EXTREME, LINEAR, LOG, MEAN
from supclust.hac.validation import check_square

ALPHAS = [-math.inf, -50.0, -1.0, -1e-3, 0.0, 1e-3, 1.0, 50.0, math.inf]
TOLERANCE = {np.float64: 1e-9, np.float32: 2e-5}
CLASSICAL = {"single": -math.inf, "average": 0.0, "complete": math.inf}


def tree_of(D: np.ndarray, alpha: float) -> np.ndarray:
    return linkage(D, "exp", alpha=alpha)


@pytest.fixture(params=["in cache", "shrinking"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Force each way through the kernel on matrices small enough for the oracle."""
    if request.param != "in cache":
        monkeypatch.setattr(chain, "SMALL", 1)
    return str(request.param)


@pytest.mark.parametrize("family", generators.FAMILIES)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.usefixtures("path")
def test_every_merge_is_the_lowest_of_its_time(family: str, dtype: type) -> None:
    for n in (2, 3, 8, 33):
        D, _ = generators.FAMILIES[family](n, np.random.default_rng(n))
        D = D.astype(dtype)
        before = D.copy()
        for alpha in ALPHAS:
            replay(D.astype(np.float64), tree_of(D, alpha), alpha, rtol=TOLERANCE[dtype])
        np.testing.assert_array_equal(D, before)


@pytest.mark.parametrize("method", CLASSICAL)
@pytest.mark.usefixtures("path")
def test_classical_linkages_are_scipys_and_fastclusters(
    method: str, rng: np.random.Generator
) -> None:
    condensed = pdist(rng.normal(size=(150, 5)))
    Z = linkage(squareform(condensed), method)
    np.testing.assert_allclose(Z, scipy_linkage(condensed, method), rtol=1e-9)
    np.testing.assert_allclose(Z, fastcluster.linkage(condensed, method), rtol=1e-9)


@pytest.mark.parametrize("alpha", [-3.0, -0.4, 0.7, 4.0])
@pytest.mark.usefixtures("path")
def test_exponential_linkage_is_higras(alpha: float, rng: np.random.Generator) -> None:
    n = 40
    condensed = pdist(rng.normal(size=(n, 3)))
    graph = higra.UndirectedGraph(n)
    graph.add_edges(*np.triu_indices(n, 1))
    _, altitudes = higra.binary_partition_tree_exponential_linkage(graph, condensed, alpha)
    Z = linkage(condensed, "exp", alpha=alpha)
    np.testing.assert_allclose(Z[:, 2], np.sort(altitudes[n:]), rtol=1e-8)


@pytest.mark.usefixtures("path")
def test_without_ties_the_tree_is_the_greedy_one(rng: np.random.Generator) -> None:
    D = squareform(pdist(rng.normal(size=(18, 3))))
    for alpha in ALPHAS:
        np.testing.assert_allclose(tree_of(D, alpha), greedy_tree(D, alpha), rtol=1e-9)


@pytest.mark.large
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("alpha", [-1.0, 1.0, 0.0, math.inf])
def test_large_matrices_agree_with_small_ones_path(
    alpha: float, dtype: type, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real size for batches and smaller matrices, against the in-cache chain."""
    centres = 5 * rng.normal(size=(30, 4))
    D = squareform(pdist(centres[rng.integers(30, size=700)] + rng.normal(size=(700, 4)))).astype(
        dtype
    )
    expected = tree_of(D, alpha)
    monkeypatch.setattr(chain, "SMALL", 50)
    np.testing.assert_allclose(
        tree_of(D, alpha)[:, 2], expected[:, 2], rtol=20 * np.finfo(dtype).eps * 30
    )


def test_the_representation_follows_the_range_of_alpha_times_dissimilarity() -> None:
    single, double = np.empty(0, np.float32), np.empty(0)
    assert choose_representation(math.inf, 0.0, 1.0, 10, double) == EXTREME
    assert choose_representation(0.0, 0.0, 1.0, 10, double) == MEAN
    assert choose_representation(-1.0, 0.0, 50.0, 10, single) == LINEAR
    assert choose_representation(-1.0, 0.0, 500.0, 10, single) == LOG
    assert choose_representation(-1.0, 0.0, 500.0, 10, double) == LINEAR
    assert choose_representation(5.0, 0.0, 3000.0, 200, double) == LOG


@pytest.mark.parametrize("alpha", [-5.0, 5.0])
def test_faces_scale_values_stay_finite_in_float32(alpha: float, rng: np.random.Generator) -> None:
    D = (squareform(pdist(rng.normal(size=(60, 4)))) * 1000).astype(np.float32)
    Z = tree_of(D, alpha)
    assert np.isfinite(Z).all()
    replay(D.astype(np.float64), Z, alpha, rtol=2e-5)


@pytest.mark.large
def test_even_an_unchecked_matrix_cannot_hang_the_chain(rng: np.random.Generator) -> None:
    cyclic = np.fromfunction(lambda i, j: ((j - i) % 40) / 40, (40, 40))
    for D in (cyclic, rng.random((40, 40)), np.full((40, 40), math.nan)):
        assert len(chain.build_tree(D, 0.0, 0.0, 1.0)[0]) == 39
    for round_ in range(300):
        n = int(rng.integers(2, 120))
        D = rng.random((n, n)).astype([np.float32, np.float64][round_ % 2])
        D[rng.random((n, n)) < rng.random()] = math.nan
        for alpha in (0.0, math.inf, 2.0, -1e9, -math.inf):
            assert len(chain.build_tree(D, alpha, 0.0, 1.0)[0]) == n - 1


@pytest.mark.parametrize(
    "n",
    [2, 3, 7, 8, 9, 16, 17, 100, *(pytest.param(n, marks=pytest.mark.large) for n in (800, 1300))],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_trees_are_checked_while_they_are_copied(
    n: int, dtype: type, rng: np.random.Generator
) -> None:
    D = squareform(pdist(rng.normal(size=(n, 3)))).astype(dtype)
    for alpha in (0.0, -1.5, math.inf, -math.inf):
        checked = check_square(D, alpha)
        expected = chain.build_tree(D, alpha, checked.low, checked.high)
        Z = np.full((n - 1, 4), math.nan)
        assert chain.build_small(D, n, alpha, Z)
        for ours, theirs in zip((Z[:, :2], Z[:, 2], Z[:, 3]), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    for odd in (math.nan, math.inf, -math.inf, 1e31, 5.0):  # at any place, on either side
        i, j = rng.permutation(n)[:2]
        wrong = D.copy()
        wrong[i, j] = odd
        assert not chain.build_small(wrong, n, -1.0, Z)
        wrong[j, i] = odd
        assert chain.build_small(wrong, n, -1.0, Z) == (odd == 5.0)


@pytest.mark.parametrize("repair", ["infinity", "asymmetry"])
def test_a_matrix_is_repaired_in_a_copy(repair: str, rng: np.random.Generator) -> None:
    D = squareform(pdist(rng.normal(size=(40, 2))))
    D[3, 7] = math.inf if repair == "infinity" else D[3, 7] * (1 + 1e-12)
    D[7, 3] = math.inf if repair == "infinity" else D[7, 3]
    before = D.copy()
    checked = check_square(D, 0.0).values
    assert checked is not D and np.array_equal(D, before)
    assert np.isfinite(checked).all() and (checked == checked.T).all()


def test_checked_matrix_is_the_input_where_nothing_is_wrong(rng: np.random.Generator) -> None:
    D = squareform(pdist(rng.normal(size=(9, 2))))
    assert check_square(D, 0.0).values is D


@pytest.mark.large
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("diagonal", [np.nan, np.inf, -np.inf, 1e30, -1e30])
@pytest.mark.usefixtures("path")
def test_the_diagonal_may_be_anything(diagonal: float, dtype: type) -> None:
    for family in generators.FAMILIES:
        D, _ = generators.FAMILIES[family](60, np.random.default_rng(1))
        D = D.astype(dtype)
        odd = D.copy()
        np.fill_diagonal(odd, diagonal)
        for alpha in ALPHAS:
            np.testing.assert_array_equal(tree_of(odd, alpha), tree_of(D, alpha))


@pytest.mark.large
def test_a_diagonal_whose_weight_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Far from 0, exp(alpha (0 - centre)) leaves the range of float32, where no pair does."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(chain, "SMALL", 1)
    for shift in (88.2, 265.7, 443.1):
        D = np.float32(shift) + rng.random((120, 120), np.float32)
        D = np.triu(D, 1)
        D += D.T
        for alpha in (-1.0, 1.0):
            replay(D.astype(np.float64), tree_of(D, alpha), alpha, rtol=TOLERANCE[np.float32])


@pytest.mark.parametrize("alpha", [1e39, -1e39, 1e300, -1e300])
@pytest.mark.usefixtures("path")
def test_alpha_beyond_float32(alpha: float, rng: np.random.Generator) -> None:
    D = squareform(pdist(rng.normal(size=(40, 3)))).astype(np.float32)
    limit = tree_of(D, math.copysign(math.inf, alpha))
    np.testing.assert_allclose(tree_of(D, alpha), limit, rtol=1e-6)
    np.testing.assert_allclose(linkages([D, D], alpha=alpha)[1], limit, rtol=1e-6)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.usefixtures("path")
def test_a_large_number_of_little_weight_counts(dtype: type) -> None:
    """The last merge is of a small number and a large one, whichever comes first."""
    small, large = 1e-9, 20.0
    share = math.exp(small - large)
    expected = (small + share * large) / (1 + share)
    for a, b in ((small, large), (large, small)):
        D = np.array([[0, 1e-10, a], [1e-10, 0, b], [a, b, 0]], dtype)
        assert tree_of(D, -1.0)[-1, 2] == pytest.approx(expected, rel=1e-5)
