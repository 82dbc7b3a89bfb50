"""Edges: against a full matrix over the whole graph, repeated pairs, and mistakes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import supclust
from supclust.cluster.edges import cluster_edges, default_missing
from supclust.data.layouts.edge_lists import Edges, read_edges
from supclust.data.tables.reader import open_table
from supclust.hac.tree import cut_tree


def table(folder: Path, text: str) -> Path:
    path = folder / "edges.csv"
    path.write_text(text)
    return path


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
    edges = Edges(tuple(map(str, range(n))), first, second, value, 0, 0)
    found = cluster_edges(edges, alpha, 0.4, missing)
    square = np.full((n, n), missing)
    square[first, second] = square[second, first] = value
    whole = cut_tree(supclust.linkage(square, "exp", alpha=alpha), height=0.4)
    assert same_partition(found.cluster, whole)
    assert found.cluster.max() > found.component.max() or alpha == -math.inf
    assert found.cluster[0] == 0  # numbered by first appearance


def test_reading_ids_in_order_with_repeated_pairs_and_loops(tmp_path: Path) -> None:
    text = "id_a,id_b,probability\nz,y,0.9\ny,z,0.7\nx,x,1\ny,x,0.2\n"
    path = table(tmp_path, text)
    edges = read_edges(open_table(path), "probability", probability=True)
    assert edges.ids == ("z", "y", "x")
    assert (edges.repeated, edges.loops) == (1, 1)
    assert dict(zip(zip(edges.first, edges.second, strict=True), edges.value, strict=True)) == {
        (0, 1): pytest.approx(0.2), (1, 2): pytest.approx(0.8)
    }  # fmt: skip
    for rule, value in (("min", 0.1), ("max", 0.3)):
        found = read_edges(open_table(path), "probability", probability=True, repeated=rule)  # type: ignore[arg-type]
        assert found.value[0] == pytest.approx(value)
    with pytest.raises(ValueError, match=r"pair 'z', 'y' is given with the values 0\.1 and 0\.3"):
        read_edges(open_table(path), "probability", probability=True, repeated="error")


@pytest.mark.parametrize(
    ("rows", "probability", "message"),
    [
        ("a,b,1.5\n", True, "between 0 and 1; received 1.5 in edge 1"),
        ("a,b,\n", True, "received nothing in edge 1"),
        ("a,b,0.1\na,,0.1\n", True, "'id_b' is empty in edge 2"),
        ("a,b,-inf\n", False, "numbers or inf; received -inf"),
        ("", False, "no edges"),
    ],
)
def test_bad_edges_are_refused(tmp_path: Path, rows: str, probability: bool, message: str) -> None:
    path = table(tmp_path, "id_a,id_b,v\n" + rows)
    with pytest.raises(ValueError, match=message):
        read_edges(open_table(path), "v", probability=probability)


def test_missing_pairs_must_lie_above_the_threshold() -> None:
    edges = Edges(("a", "b"), np.array([0]), np.array([1]), np.array([0.3]), 0, 0)
    with pytest.raises(ValueError, match=r"--missing 0\.2 and --threshold 0\.4"):
        cluster_edges(edges, 0.0, 0.4, 0.2)
    assert default_missing(edges, False, 0.1) == pytest.approx(0.3)
    assert default_missing(edges, False, 0.3) == math.inf
    assert default_missing(edges, True, 0.5) == 1.0


def test_a_component_beyond_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from supclust.hac import memory

    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 20)
    n = 2000
    edges = Edges(
        tuple(map(str, range(n))), np.arange(n - 1), np.arange(1, n), np.zeros(n - 1), 0, 0
    )
    with pytest.raises(ValueError, match=r"2,000 records, needs .* lower --threshold"):
        cluster_edges(edges, 0.0, 0.5, 1.0)
