"""Laws of the trees of graphs that hold for every input."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from supclust.hac import cut_tree, graph_linkage

ALPHAS = st.sampled_from([-math.inf, -50.0, -1.0, 0.0, 1.0, 50.0, math.inf])
MISSING = st.sampled_from([3.0, math.inf, "ignored"])
Graph = tuple[np.ndarray, np.ndarray, np.ndarray, int]


@st.composite
def graphs(draw: st.DrawFn, distinct: bool = False) -> Graph:
    """Up to 12 nodes; dissimilarities from -20/7 to 20/7, often tied unless distinct."""
    n = draw(st.integers(2, 12))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=3 * n, unique=True))
    numbers = st.integers(-20_000, 20_000) if distinct else st.integers(-20, 20)
    values = draw(st.lists(numbers, min_size=len(chosen), max_size=len(chosen), unique=distinct))
    ends = np.array(chosen, np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1], np.array(values) / (7000 if distinct else 7), n


def same(a: np.ndarray, b: np.ndarray) -> bool:
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


@given(graph=graphs(), alpha=ALPHAS, missing=MISSING)
def test_heights_never_fall_and_stay_within_the_data(
    graph: Graph, alpha: float, missing: float | str
) -> None:
    i, j, f, n = graph
    forest = graph_linkage((i, j, f), n, alpha=alpha, missing=missing)
    for a, b in zip(forest.offsets[:-1], forest.offsets[1:], strict=True):
        assert (np.diff(forest.heights[a:b]) >= 0).all()
    if len(forest.heights):
        assert forest.heights.min() == f.min()
        assert forest.heights.max() <= max(f.max(), 3.0) + 1e-12


@given(graph=graphs(distinct=True), alpha=ALPHAS, missing=MISSING, seed=st.integers(0, 99))
def test_permuting_nodes_permutes_the_clusters(
    graph: Graph, alpha: float, missing: float | str, seed: int
) -> None:
    i, j, f, n = graph
    order = np.random.default_rng(seed).permutation(n)
    forest = graph_linkage((i, j, f), n, alpha=alpha, missing=missing)
    moved = graph_linkage((order[i], order[j], f), n, alpha=alpha, missing=missing)
    np.testing.assert_allclose(np.sort(moved.heights), np.sort(forest.heights), atol=1e-12)
    for height in (-1.0, 0.0, 1.0):
        assert same(moved.labels_at(height)[order], forest.labels_at(height))


@given(graph=graphs(), alpha=ALPHAS, missing=MISSING, seed=st.integers(0, 99))
def test_the_order_of_the_edges_changes_nothing(
    graph: Graph, alpha: float, missing: float | str, seed: int
) -> None:
    i, j, f, n = graph
    order = np.random.default_rng(seed).permutation(len(f))
    forest = graph_linkage((i, j, f), n, alpha=alpha, missing=missing)
    other = graph_linkage((j[order], i[order], f[order]), n, alpha=alpha, missing=missing)
    np.testing.assert_array_equal(other.pairs, forest.pairs)
    np.testing.assert_array_equal(other.heights, forest.heights)


@given(graph=graphs(), alpha=ALPHAS, missing=MISSING)
def test_every_component_has_the_tree_it_has_alone(
    graph: Graph, alpha: float, missing: float | str
) -> None:
    i, j, f, n = graph
    forest = graph_linkage((i, j, f), n, alpha=alpha, missing=missing, threshold=1.0)
    for component in range(forest.n_components):
        nodes = forest.nodes(component)
        here = np.isin(i, nodes) & np.isin(j, nodes)
        ends = np.searchsorted(nodes, i[here]), np.searchsorted(nodes, j[here])
        alone = graph_linkage(
            (*ends, f[here]), len(nodes), alpha=alpha, missing=missing, threshold=1.0
        )
        np.testing.assert_allclose(alone.to_scipy(0), forest.to_scipy(component), atol=1e-9)


@given(graph=graphs(), alpha=ALPHAS, missing=MISSING, low=st.floats(-3, 2.9))
def test_a_lower_threshold_is_a_lower_cut(
    graph: Graph, alpha: float, missing: float | str, low: float
) -> None:
    i, j, f, n = graph
    whole = graph_linkage((i, j, f), n, alpha=alpha, missing=missing, threshold=2.9)
    part = graph_linkage((i, j, f), n, alpha=alpha, missing=missing, threshold=low)
    np.testing.assert_array_equal(part.labels, whole.labels_at(low))
    for component in range(whole.n_components):
        nodes = whole.nodes(component)
        cut = cut_tree(whole.to_scipy(component), height=low)
        assert same(cut, whole.labels_at(low)[nodes])
