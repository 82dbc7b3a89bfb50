"""Must-links and cannot-links in graphs, against a brute-force greedy oracle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import squareform

import supclust
from oracles.graph import completed, greedy_partition
from oracles.hac import check_structure
from supclust.hac import graph_linkage

ALPHAS = (-math.inf, -20.0, -1.0, 0.0, 1.0, 20.0, math.inf)


def as_sets(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)}


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("missing", [1.0, math.inf, "ignored"])
def test_constraints_as_the_greedy_oracle(alpha: float, missing: float | str) -> None:
    rng = np.random.default_rng(7)
    used = 0
    for _ in range(25):
        n = int(rng.integers(3, 13))
        i, j = np.triu_indices(n, 1)
        kept = rng.random(len(i)) < 0.6
        edges = i[kept], j[kept], rng.random(int(kept.sum()))
        must = rng.integers(0, n, (int(rng.integers(0, 3)), 2))
        cannot = rng.integers(0, n, (int(rng.integers(0, 4)), 2))
        threshold = float(rng.uniform(0.2, 0.99))
        options = {"alpha": alpha, "missing": missing, "threshold": threshold}
        clusters, heights = greedy_partition(
            completed(edges, n, missing), alpha, threshold, must.tolist(), cannot.tolist()
        )
        if any({a, b} <= cluster for a, b in cannot.tolist() for cluster in clusters):
            with pytest.raises(ValueError, match="must not contradict"):
                graph_linkage(edges, n, must_link=must, cannot_link=cannot, **options)
            continue
        used += 1
        forest = graph_linkage(edges, n, must_link=must, cannot_link=cannot, **options)
        assert as_sets(forest.labels) == {frozenset(cluster) for cluster in clusters}
        made = forest.heights[np.isfinite(forest.heights)]
        np.testing.assert_allclose(np.sort(made), heights, rtol=0, atol=1e-12)
    assert used >= 10


def test_must_links_hold_at_every_height_and_open_the_tree() -> None:
    edges = ([0, 1, 2], [1, 2, 3], [0.4, 0.2, 0.3])
    forest = graph_linkage(edges, 5, "average", missing=1.0, must_link=[(0, 4), (4, 3)])
    assert forest.labels_at(-5.0).tolist() == [0, 1, 2, 0, 0]
    # {0, 3, 4} and {1, 2}: 0.4 and 0.3 are given, four pairs count 1.
    assert forest.to_scipy(0)[:, 2].tolist() == pytest.approx([0, 0, 0.2, 4.7 / 6])
    below = graph_linkage(([0], [1], [-2.0]), 3, "average", must_link=[(1, 2)], missing=0.0)
    assert below.to_scipy(0)[:, 2].tolist() == [-1.0, -1.0]


def test_an_infinite_edge_has_no_weight_below_zero_but_a_cannot_link_holds() -> None:
    edges = ([0, 1, 0], [1, 2, 2], [0.1, 0.2, math.inf])
    assert graph_linkage(edges, 3, alpha=-1.0).labels.tolist() == [0, 0, 0]
    apart = graph_linkage(edges, 3, alpha=-1.0, cannot_link=[(2, 0)])
    assert apart.labels.tolist() == [0, 0, 1]


def test_a_contradiction_shows_the_shortest_chain() -> None:
    must = [(0, 1), (1, 2), (2, 3), (3, 4), (1, 4)]
    with pytest.raises(ValueError, match=r"cannot-link 0 \| 4, but must-links 0 = 1 = 4\. Remove"):
        graph_linkage(([], [], []), 5, "average", must_link=must, cannot_link=[(0, 3), (0, 4)])
    with pytest.raises(ValueError, match=r"cannot-link 2 \| 2, but a node is always with itself"):
        graph_linkage(([], [], []), 5, "average", cannot_link=[(2, 2)])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 5)], r"nodes from 0 to 2; received \(0, 5\) in row 0"),
        ([(0.5, 1.0)], "pairs of node numbers"),
        ([0, 1], "pairs of node numbers"),
    ],
)
def test_bad_pairs_are_refused(pairs: list, message: str) -> None:
    for name in ("must_link", "cannot_link"):
        with pytest.raises(ValueError, match=f"{name} must be .*{message}"):
            graph_linkage(([0], [1], [0.1]), 3, "average", **{name: pairs})


@pytest.mark.parametrize("alpha", ALPHAS)
def test_dense_constraints_as_the_greedy_oracle(alpha: float, rng: np.random.Generator) -> None:
    for k in range(15):
        n = int(rng.integers(4, 11))
        condensed = rng.random(n * (n - 1) // 2)
        if k % 3 == 0:
            condensed[rng.integers(len(condensed))] = math.inf
        D = squareform(condensed)
        must, cannot = [(0, 1), (1, 3)], [(0, 2)]
        Z = supclust.linkage(D, "exp", alpha=alpha, must_link=must, cannot_link=cannot)
        again = supclust.linkage(condensed, "exp", alpha=alpha, must_link=must, cannot_link=cannot)
        np.testing.assert_array_equal(again, Z)
        check_structure(Z, n)
        assert Z[:2, 2].tolist() == [0.0, 0.0] and Z[-1, 2] == math.inf
        for threshold in (0.2, 0.6, 1.0):
            clusters, _ = greedy_partition(D, alpha, threshold, must, cannot)
            cut = supclust.hac.cut_tree(Z, height=threshold)
            assert as_sets(cut) == {frozenset(cluster) for cluster in clusters}


def test_dense_trees_without_constraints_are_the_same(rng: np.random.Generator) -> None:
    condensed = rng.random(190)
    for alpha in ALPHAS:
        Z = supclust.linkage(condensed, "exp", alpha=alpha)
        same = supclust.linkage(condensed, "exp", alpha=alpha, must_link=[], cannot_link=[])
        np.testing.assert_allclose(same, Z, rtol=0, atol=1e-12)
    assert supclust.linkage([[0.0]], "average", must_link=[]).shape == (0, 4)
    assert supclust.linkage([], "average", cannot_link=[]).shape == (0, 4)
    with pytest.raises(ValueError, match=r"cannot-link 0 \| 1, but must-links 0 = 1"):
        supclust.linkage(condensed, "average", must_link=[(0, 1)], cannot_link=[(0, 1)])
    with pytest.raises(ValueError, match="symmetric"):
        supclust.linkage([[0, 1], [2, 0]], "average", must_link=[])
