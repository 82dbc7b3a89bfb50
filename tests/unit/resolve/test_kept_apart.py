"""Cannot-links of records that share a value: inside components only."""

from itertools import combinations

import numpy as np
import pytest

from supclust.data.errors import DataError
from supclust.resolve import kept_apart
from supclust.resolve.kept_apart import components, pairs_apart
from supclust.resolve.scoring import Edges


def graph(n, seed):
    rng = np.random.default_rng(seed)
    left, right = np.sort(rng.integers(0, n, (2, n)), axis=0)
    kept = left < right
    f = rng.normal(size=int(kept.sum())).astype(np.float32)
    return Edges(left[kept].astype(np.int32), right[kept].astype(np.int32), f)


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_those_of_brute_force(seed):
    n = 60
    edges = graph(n, seed)
    codes = np.random.default_rng(seed).integers(-1, 5, n)
    component = components(n, edges, limit=0.5)
    parent = list(range(n))  # components by repeated relabelling
    for _ in range(n):
        for a, b, f in zip(*edges, strict=True):
            if f <= 0.5:
                parent[a] = parent[b] = min(parent[a], parent[b])
    assert component.tolist() == parent
    expected = {
        (i, j)
        for i, j in combinations(range(n), 2)
        if codes[i] == codes[j] >= 0 and parent[i] == parent[j]
    }
    made = pairs_apart(codes, component)
    assert {tuple(pair) for pair in made.tolist()} == expected
    assert len(made) == len(expected)


def test_must_links_connect():
    component = components(4, Edges.none(), np.array([[0, 3]]))
    assert component.tolist() == [0, 1, 2, 0]
    assert pairs_apart(np.zeros(4, np.int64), component).tolist() == [[0, 3]]
    assert pairs_apart(np.full(4, -1), component) is None


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(kept_apart, "_MOST", 10)
    codes = np.zeros(6, np.int64)
    assert pairs_apart(codes, np.arange(6, dtype=np.int32)) is None
    with pytest.raises(DataError, match=r"at most 10 pairs .* received 15: 6 records of one value"):
        pairs_apart(codes, np.zeros(6, np.int32))
