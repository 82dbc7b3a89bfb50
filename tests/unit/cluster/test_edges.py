"""Edge lists: reading, clusters beside those of a full matrix, labelled records, and mistakes."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import supclust
from supclust.cluster.edges import (
    cluster_columns,
    cluster_edges,
    default_missing,
    learn_linkage,
    tree_columns,
)
from supclust.data.layouts.edge_lists import Edges, read_edges, read_ids, read_labels
from supclust.data.layouts.link_pairs import read_link_pairs
from supclust.data.tables.reader import open_table
from supclust.hac.tree import check_tree, cut_tree


def table(folder: Path, text: str, name: str = "edges.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def made(n: int, first: np.ndarray, second: np.ndarray, value: np.ndarray) -> Edges:
    ends = (np.asarray(ends, np.int32) for ends in (first, second))
    return Edges(pa.array(list(map(str, range(n)))), *ends, np.asarray(value, float), 0, 0)


def same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


@pytest.mark.parametrize("alpha", [-math.inf, -3.0, 0.0, 2.0, math.inf])
@pytest.mark.parametrize("missing", [1.0, math.inf])
def test_components_change_nothing(alpha: float, missing: float, rng: np.random.Generator) -> None:
    n = 60
    first, second = np.triu_indices(n, 1)
    given = rng.random(len(first)) < 0.08
    first, second = first[given], second[given]
    value = rng.random(len(first))
    forest = cluster_edges(made(n, first, second, value), alpha, 0.4, missing)
    square = np.full((n, n), missing)
    square[first, second] = square[second, first] = value
    whole = cut_tree(supclust.linkage(square, "exp", alpha=alpha), height=0.4)
    assert same_partition(forest.labels, whole)
    assert forest.labels.max() > forest.components.max() or alpha == -math.inf
    assert forest.labels[0] == 0  # numbered by first appearance


def test_reading_ids_in_order_with_repeated_pairs_and_loops(tmp_path: Path) -> None:
    text = "id_a,id_b,probability\nz,y,0.9\ny,z,0.7\nx,x,1\ny,x,0.2\n"
    path = table(tmp_path, text)
    edges = read_edges(open_table(path), "probability", probability=True)
    assert edges.ids.to_pylist() == ["z", "y", "x"]
    assert (edges.repeated, edges.loops) == (1, 1)
    assert dict(zip(zip(edges.first, edges.second, strict=True), edges.value, strict=True)) == {
        (0, 1): pytest.approx(0.2), (1, 2): pytest.approx(0.8)
    }  # fmt: skip
    for rule, value in (("min", 0.1), ("max", 0.3)):
        found = read_edges(open_table(path), "probability", probability=True, repeated=rule)  # type: ignore[arg-type]
        assert found.value[0] == pytest.approx(value)
    with pytest.raises(ValueError, match=r"pair 'z', 'y' is given with the values 0\.1 and 0\.3"):
        read_edges(open_table(path), "probability", probability=True, repeated="error")


def test_integers_stay_integers_and_other_types_are_compared_as_text(tmp_path: Path) -> None:
    columns = {"id_a": [3, 1], "id_b": [1, 2], "d": [0.1, 0.2]}
    pq.write_table(pa.table(columns), tmp_path / "integers.parquet")
    edges = read_edges(open_table(tmp_path / "integers.parquet"), "d", probability=False)
    assert edges.ids.to_pylist() == [3, 1, 2]
    for other in (["1", "2"], [1.0, 2.0]):
        pq.write_table(pa.table({**columns, "id_b": other}), tmp_path / "mixed.parquet")
        edges = read_edges(open_table(tmp_path / "mixed.parquet"), "d", probability=False)
        assert edges.ids.to_pylist() == ["3", "1", "2"]
    nodes = open_table(table(tmp_path, "id\n2\n9\n1\n3\n", "nodes.csv"))
    edges = read_edges(
        open_table(tmp_path / "integers.parquet"), "d", probability=False, nodes=(nodes, "id")
    )
    assert edges.ids.to_pylist() == ["2", "9", "1", "3"]
    assert (edges.first.tolist(), edges.second.tolist()) == ([0, 2], [2, 3])


@pytest.mark.parametrize(
    ("rows", "probability", "message"),
    [
        ("a,b,1.5\n", True, "between 0 and 1; received 1.5 in edge 1"),
        ("a,b,\n", True, "received nothing in edge 1"),
        ("a,b,0.1\na,,0.1\n", True, r"edges.csv:3: column 'id_b' is empty in row 2; every edge"),
        ("a,b,-inf\n", False, "numbers or inf; received -inf"),
        ("", False, "no edges"),
    ],
)
def test_bad_edges_are_refused(tmp_path: Path, rows: str, probability: bool, message: str) -> None:
    path = table(tmp_path, "id_a,id_b,v\n" + rows)
    with pytest.raises(ValueError, match=message):
        read_edges(open_table(path), "v", probability=probability)


def test_bad_nodes_are_refused(tmp_path: Path) -> None:
    path = open_table(table(tmp_path, "id_a,id_b,v\na,b,0.5\nb,c,0.5\n"))
    nodes = open_table(table(tmp_path, "id\na\nb\n", "nodes.csv"))
    with pytest.raises(ValueError, match=r"edge 2 names 'c', which column 'id' of .*nodes.csv"):
        read_edges(path, "v", probability=False, nodes=(nodes, "id"))
    twice = open_table(table(tmp_path, "id\na\nb\nb\n", "twice.csv"))
    with pytest.raises(ValueError, match=r"twice.csv:4: ids must be distinct; 'b' in column 'id'"):
        read_ids(twice, "id")
    with pytest.raises(ValueError, match="no records"):
        read_ids(open_table(table(tmp_path, "id\n", "none.csv")), "id")


def test_default_of_missing_pairs() -> None:
    edges = made(2, np.array([0]), np.array([1]), np.array([0.3]))
    assert default_missing(edges, False, 0.1) == pytest.approx(0.3)
    assert default_missing(edges, False, 0.3) == math.inf
    assert default_missing(edges, True, 0.5) == 1.0
    assert default_missing(edges, True, None) == 1.0


def test_a_component_of_fifty_thousand_records_is_clustered() -> None:
    n = 50_000  # a matrix of 20 GB
    chain = made(n, np.arange(n - 1), np.arange(1, n), np.full(n - 1, 0.25))
    forest = cluster_edges(chain, -math.inf, 0.5, 1.0)
    assert forest.n_components == 1 and forest.labels.max() == 0


def test_trees_are_scipys_component_by_component(rng: np.random.Generator) -> None:
    code = np.unique(rng.choice(40 * 39 // 2, 50))
    i, j = (ends[code] for ends in np.triu_indices(40, 1))
    edges = made(40, i, j, rng.random(len(code)))
    forest = cluster_edges(edges, 0.0, None, "ignored")
    rows = tree_columns(forest).to_pydict()
    Z = np.column_stack([rows[name] for name in ("left", "right", "height", "size")])
    for component in range(forest.n_components):
        here = np.array(rows["component"]) == component
        np.testing.assert_array_equal(check_tree(Z[here]), forest.to_scipy(component))
    nothing = cluster_edges(edges, 0.0, -1.0, "ignored")
    assert tree_columns(nothing).num_rows == 0
    out = cluster_columns(edges, forest, [0.2, 9.0], ["x", "y"])
    assert out.column_names == ["id", "component", "x", "y"]
    np.testing.assert_array_equal(out["y"].to_numpy(), forest.labels)


def scored_by_hand(labels: np.ndarray, clusters: np.ndarray) -> float:
    """F1 with strangers: labelled-other pairs count one half."""
    predicted = shared = true = 0.0
    for a, b in combinations(range(len(labels)), 2):
        known = int(labels[a] >= 0) + int(labels[b] >= 0)
        same = known == 2 and labels[a] == labels[b]
        together = clusters[a] == clusters[b]
        true += same
        shared += same and together
        predicted += together * known / 2
    return 2 * shared / (predicted + true)


def test_labelled_records_choose_alpha_and_a_cut_with_strangers_counted(
    rng: np.random.Generator,
) -> None:
    n = 60
    truth = rng.integers(0, 15, n)
    first, second = np.triu_indices(n, 1)
    near = truth[first] == truth[second]
    given = near | (rng.random(len(first)) < 0.1)
    value = np.where(near, rng.beta(2, 2, len(first)), rng.beta(3, 2, len(first)))[given]
    edges = made(n, first[given], second[given], value)
    labels = np.where(truth < 6, truth, -1)
    learned = learn_linkage(edges, labels, 1.0)
    cut = cluster_edges(edges, learned.alpha, learned.best.threshold, 1.0).labels
    assert 0.5 < learned.best.f1 < 1
    assert learned.best.f1 == pytest.approx(scored_by_hand(labels, cut))
    for alpha in (-math.inf, 0.0, math.inf):  # no cut of these is better
        forest = cluster_edges(edges, alpha, None, 1.0)
        others = [scored_by_hand(labels, forest.labels_at(h)) for h in forest.heights]
        assert learned.best.f1 >= max(others) - 1e-12


def test_labels_are_read_by_id_and_mistakes_refused(tmp_path: Path) -> None:
    edges = made(4, np.array([0]), np.array([1]), np.array([0.1]))
    some = open_table(table(tmp_path, "id,who\n2,b\n0,a\n1,a\n3,\n", "who.csv"))
    assert read_labels(some, "id", "who", edges).tolist() == [1, 1, 0, -1]
    for rows, message in (
        ("9,a\n", "record '9' has a label but is not in the graph"),
        ("1,a\n1,a\n", "record '1' is labelled twice"),
        ("1,a\n2,b\n", "2 labelled records, all of different clusters"),
        ("1,\n", "0 labelled records"),
    ):
        bad = open_table(table(tmp_path, "id,who\n" + rows, "bad.csv"))
        with pytest.raises(ValueError, match=message):
            read_labels(bad, "id", "who", edges)


def test_constraints_are_read_by_id(tmp_path: Path) -> None:
    path = table(tmp_path, "id_a,id_b,constraint\n7,8,must\n8,9,cannot\n", "pairs.csv")
    must, cannot = read_link_pairs(path).numbered([9, 8, 7])
    assert (must.tolist(), cannot.tolist()) == ([[2, 1]], [[1, 0]])
    with pytest.raises(ValueError, match="no record has the id '9'"):
        read_link_pairs(path).numbered(["8", "7"])
    bad = table(tmp_path, "id_a,id_b,constraint\n7,8,maybe\n", "bad.csv")
    with pytest.raises(ValueError, match=r"bad.csv:2: .*must or cannot; received 'maybe'"):
        read_link_pairs(bad)
