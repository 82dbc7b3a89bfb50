"""Forests of graphs: against dense trees, a replay, higra and a greedy oracle."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

import supclust
from oracles.graph import Edges, completed, replay
from supclust.hac import Forest, graph_linkage

ALPHAS = (-math.inf, -20.0, -3.0, -0.5, 0.0, 0.5, 3.0, 20.0, math.inf)
MISSING = (1.0, 1.5, math.inf, "ignored")
PART = 500  # graphs per test


def random_graph(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < min(1.0, rng.choice([1.5, 4.0, 12.0]) / n)
    return i[kept], j[kept]


def power_law(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    weight = 1.0 / np.arange(1, n + 1)
    i, j = rng.choice(n, (2, 3 * n), p=weight / weight.sum())
    kept = i != j
    code = np.unique(np.minimum(i, j)[kept] * n + np.maximum(i, j)[kept])
    return code // n, code % n


def disconnected(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    i, j = np.triu_indices(n, 1)
    part = rng.integers(0, max(1, n // 6), n)
    kept = (part[i] == part[j]) & (rng.random(len(i)) < 0.7)
    return i[kept], j[kept]


def star(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    hub = int(rng.integers(n))
    others = np.delete(np.arange(n), hub)
    return np.full(n - 1, hub), others


def path(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    order = rng.permutation(n)
    return order[:-1], order[1:]


GRAPHS: tuple[Callable[..., tuple[np.ndarray, np.ndarray]], ...] = (
    random_graph, power_law, disconnected, star, path,
)  # fmt: skip


def draw(rng: np.random.Generator) -> tuple[Edges, int]:
    """A graph of up to 300 nodes, mostly small; distinct, tied or duplicated dissimilarities."""
    n = int(rng.choice([rng.integers(2, 9), rng.integers(9, 40), rng.integers(40, 301)],
                       p=[0.45, 0.53, 0.02]))  # fmt: skip
    i, j = GRAPHS[rng.integers(len(GRAPHS))](n, rng)
    style = rng.integers(4)
    if style == 0:
        f = rng.integers(0, 5, len(i)) / 4
    elif style == 1:  # duplicated points: zeros within a group of three
        f = np.where(i // 3 == j // 3, 0.0, (i // 3 * 7 + j // 3 * 13) % 11 / 11)
    else:
        f = rng.random(len(i)) * (1.3 if style == 2 else 1.0)
    order = rng.permutation(len(i))
    flipped = rng.random(len(i)) < 0.5
    i, j = np.where(flipped, j, i)[order], np.where(flipped, i, j)[order]
    return (i, j, f[order]), n


def by_height(forest: Forest) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(forest.heights, kind="stable")
    return forest.pairs[order], forest.heights[order]


def joined(Z: np.ndarray) -> np.ndarray:
    """(n, n) height at which each pair of points is joined."""
    n = len(Z) + 1
    members = {i: [i] for i in range(n)}
    D = np.zeros((n, n))
    for k, (a, b, height, _) in enumerate(Z):
        one, two = members.pop(int(a)), members.pop(int(b))
        D[np.ix_(one, two)] = D[np.ix_(two, one)] = height
        members[n + k] = one + two
    return D


def top(missing: float | str) -> float:
    return math.nextafter(math.inf if missing == "ignored" else float(missing), -math.inf)


@pytest.mark.large
@pytest.mark.parametrize("part", range(20))
def test_graphs_have_the_trees_of_completed_matrices(part: int) -> None:
    """10,000 graphs: merges by replay, heights beside those of the dense tree."""
    rng = np.random.default_rng(part)
    for number in range(PART):
        edges, n = draw(rng)
        alpha = ALPHAS[rng.integers(len(ALPHAS))]
        missing = MISSING[rng.integers(len(MISSING))]
        threshold = [None, *np.arange(0.1, 1.0, 0.2)][rng.integers(6)]
        forest = graph_linkage(edges, n, alpha=alpha, missing=missing, threshold=threshold)
        limit = top(missing) if threshold is None else threshold
        D = completed(edges, n, missing)
        what = f"part {part}, graph {number}, n {n}, alpha {alpha}, {missing}, {threshold}"
        try:
            replay(D, *by_height(forest), alpha, limit)
        except AssertionError as error:
            raise AssertionError(what) from error
        f = edges[2]
        if missing != "ignored" and len(np.unique(f)) == len(f):  # no ties below the limit
            Z = supclust.linkage(D, "exp", alpha=alpha)
            dense = Z[Z[:, 2] <= limit, 2] if n > 1 else np.empty(0)
            # Rounding may leave a height that equals the number that missing pairs count below it.
            certain = dense[dense < limit - 1e-12] if threshold is None else dense
            found = np.sort(forest.heights)
            assert len(certain) <= len(found) <= len(dense) + (threshold is None) * n, what
            np.testing.assert_allclose(
                found[: len(certain)], certain, rtol=0, atol=1e-12, err_msg=what
            )


@pytest.mark.parametrize("alpha", [-math.inf, -2000.0, -30.0, 0.0, 30.0, 2000.0, math.inf])
def test_wide_ranges_are_computed_in_the_log_domain(alpha: float, rng: np.random.Generator) -> None:
    n = 40
    i, j = random_graph(n, rng)
    f = rng.random(len(i)) * 3000
    forest = graph_linkage((i, j, f), n, alpha=alpha, missing=3500.0)
    Z = supclust.linkage(completed((i, j, f), n, 3500.0), "exp", alpha=alpha)
    dense = Z[Z[:, 2] < 3500 - 1e-8, 2]
    np.testing.assert_allclose(np.sort(forest.heights)[: len(dense)], dense, rtol=1e-12)


@pytest.mark.parametrize("alpha", [-5.0, -1.0, 0.0, 1.0, 5.0])
@pytest.mark.parametrize("n", [10, 200])
def test_connected_graphs_have_higras_trees(alpha: float, n: int, rng: np.random.Generator) -> None:
    higra = pytest.importorskip("higra")
    order = rng.permutation(n)
    i, j = power_law(n, rng)
    code = np.unique(np.concatenate([i * n + j, np.minimum(order[:-1], order[1:]) * n
                                     + np.maximum(order[:-1], order[1:])]))  # fmt: skip
    i, j = code // n, code % n
    f = rng.random(len(i))
    graph = higra.UndirectedGraph(n)
    graph.add_edges(i, j)
    _, altitudes = higra.binary_partition_tree_exponential_linkage(graph, f, alpha)
    forest = graph_linkage((i, j, f), n, alpha=alpha, missing="ignored")
    assert forest.n_components == 1
    np.testing.assert_allclose(forest.to_scipy()[:, 2], np.sort(altitudes[n:]), rtol=0, atol=1e-12)


def test_infinite_edges_are_those_of_the_dense_matrix(rng: np.random.Generator) -> None:
    for k in range(100):
        n = int(rng.integers(3, 25))
        i, j = random_graph(n, rng)
        f = np.where(rng.random(len(i)) < 0.2, np.inf, rng.random(len(i)))
        alpha = ALPHAS[k % len(ALPHAS)]
        for missing in (1.5, math.inf, "ignored"):
            forest = graph_linkage((i, j, f), n, alpha=alpha, missing=missing)
            replay(completed((i, j, f), n, missing), *by_height(forest), alpha, top(missing))


def test_sparse_matrices_and_float32_are_read(rng: np.random.Generator) -> None:
    n = 30
    i, j = random_graph(n, rng)
    f = rng.random(len(i)).astype(np.float32)
    f[0] = 0.0
    once = graph_linkage((i, j, f), n, "average", missing=1.0)
    upper = sparse.coo_array((f, (i, j)), shape=(n, n))
    both = sparse.coo_array(
        (np.concatenate([f, f]), (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n)
    ).tocsr()  # a stored zero stays
    for matrix in (upper, both, sparse.csc_matrix(both)):
        again = graph_linkage(matrix, method="average", missing=1.0)
        np.testing.assert_array_equal(again.pairs, once.pairs)
        np.testing.assert_array_equal(again.heights, once.heights)


def test_a_forest_has_scipys_trees_and_cuts() -> None:
    edges = ([0, 1, 3, 5, 1], [1, 2, 4, 5, 2], [0.1, 0.5, 0.2, 0.0, 0.5])
    forest = graph_linkage(edges, 6, "average", missing="ignored", threshold=0.6)
    assert forest.components.tolist() == [0, 0, 0, 1, 1, 2]
    assert forest.n_components == 3
    assert forest.to_scipy(0).tolist() == [[0, 1, 0.1, 2], [2, 3, 0.5, 3]]
    assert forest.to_scipy(1).tolist() == [[0, 1, 0.2, 2]]
    assert forest.to_scipy(2).shape == (0, 4)
    assert forest.nodes(1).tolist() == [3, 4]
    assert forest.labels.tolist() == [0, 0, 0, 1, 1, 2]
    cuts = forest.labels_at([0.3, -1.0, 9.0])
    assert cuts.tolist() == [[0, 0, 1, 2, 2, 3], [0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 1, 2]]
    assert forest.labels_at(0.3).tolist() == cuts[0].tolist()
    assert repr(forest) == "Forest(6 nodes, 3 components, 3 merges up to 0.6)"
    apart = graph_linkage(([0, 1], [1, 2], [0.1, 0.5]), 3, "complete", missing=1.0)
    assert apart.to_scipy(0).tolist() == [[0, 1, 0.1, 2], [2, 3, math.inf, 3]]
    with pytest.raises(ValueError, match="between 0 and 2; received 3"):
        forest.to_scipy(3)
    with pytest.raises(ValueError, match="one number or a list"):
        forest.labels_at(math.nan)


@pytest.mark.parametrize(
    ("edges", "n", "options", "message"),
    [
        (([0], [1], [math.nan]), 2, {}, r"neither NaN nor -inf; received nan for nodes 0 and 1"),
        (([0], [1], [-math.inf]), 2, {}, "neither NaN nor -inf"),
        (([0], [2], [0.1]), 2, {}, r"between 0 and n - 1 = 1; received 2 in edge 0"),
        (([-1], [1], [0.1]), 2, {}, "received -1 in edge 0"),
        (([0.0], [1], [0.1]), 2, {}, "nodes must be integers; received float64"),
        (([0, 1], [1, 0], [0.1, 0.4]), 2, {}, r"received 0\.1 and 0\.4 for nodes 0 and 1"),
        (([0, 1], [1, 0], [0.1, math.inf]), 2, {}, r"received 0\.1 and inf for nodes 0 and 1"),
        (([0], [1], [0.1, 0.2]), 2, {}, "vectors of one length"),
        (([0], [1]), 2, {}, "three arrays"),
        (np.zeros((2, 2)), 2, {}, "For a dense matrix use supclust.linkage"),
        (([0], [1], [0.1]), None, {}, "the number of nodes, is needed"),
        (([0], [1], [0.1]), 0, {}, "from 1 to 2"),
        (([0], [1], [1e300]), 2, {}, "below 1e290"),
        (([0], [1], [0.1]), 2, {"missing": "zero"}, "a number, inf or 'ignored'"),
        (([0], [1], [0.1]), 2, {"missing": math.nan}, "a number above -inf"),
        (([0], [1], [0.1]), 2, {"threshold": math.nan}, "threshold must be a number"),
        (([0], [1], [0.1]), 2, {"missing": 0.5, "threshold": 0.5}, "threshold must lie below"),
        (sparse.eye_array(3, 2), None, {}, "must be square"),
        (sparse.eye_array(3), 2, {}, "number of rows of the matrix, 3; received 2"),
    ],
)
def test_bad_input_is_refused(edges: object, n: int | None, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        graph_linkage(edges, n, "average", **options)


def test_odd_but_legal_input() -> None:
    nothing = graph_linkage(([], [], []), 3, "average")
    assert nothing.labels.tolist() == [0, 1, 2]
    assert graph_linkage(([0], [0], [-1.0]), 1, "single").labels.tolist() == [0]
    negative = graph_linkage(([0, 1], [1, 2], [-3.0, 2.0]), 3, "average", missing=1.0)
    assert negative.heights.tolist() == [-3.0]
    assert graph_linkage(([0], [1], [2.0]), 2, "average", missing=1.0).heights.size == 0
    nearly = graph_linkage(([0, 1], [1, 0], [1.0, 1.0 + 1e-12]), 2, "average")
    assert nearly.heights[0] == pytest.approx(1.0)
    given = np.array([0.3, 0.1])
    graph_linkage((np.array([0, 1]), np.array([1, 2]), given), 3, "average")
    assert given.tolist() == [0.3, 0.1]


def test_trees_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    n = 3000
    i, j = rng.integers(0, n, (2, 4000))
    i, j = i[i != j], j[i != j]
    code, first = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_index=True)
    i, j, f = i[first], j[first], rng.integers(0, 9, len(code)) / 10
    forests = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SUPCLUST_THREADS", threads)
        forests.append(graph_linkage((i, j, f), n, alpha=-1.0, missing=1.0, threshold=0.55))
    np.testing.assert_array_equal(forests[0].pairs, forests[1].pairs)
    np.testing.assert_array_equal(forests[0].heights, forests[1].heights)
