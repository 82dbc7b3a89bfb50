"""Components: where records meet, and the best chain between them, against brute force."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from supclust.explain.component import Component
from supclust.explain.records import explain_cluster, explain_meeting
from supclust.hac import graph_linkage


def random_component(seed: int) -> Component:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 20))
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < 0.3
    f = rng.normal(0, 2, int(kept.sum()))
    f = np.minimum(np.round(f, 1) if seed % 2 else f, 3.9)
    i, j = i[kept], j[kept]
    must = rng.integers(0, n, (1, 2)) if seed % 3 == 0 else None
    forest = graph_linkage((i, j, f), n, "exp", alpha=-0.2, missing=4.0, must_link=must)
    order = np.argsort(forest.heights, kind="stable")

    def contributions(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        rows = [np.flatnonzero((i == u) & (j == v))[0] for u, v in zip(a, b, strict=True)]
        return np.column_stack([f[rows] - 1.0, np.ones(len(rows))])

    return Component(
        n, i, j, f, forest.pairs[order], forest.heights[order], -0.2, 4.0, 0.5, ("a: x",),
        contributions,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(25))
def test_meeting_is_the_first_merge_that_joins(seed: int) -> None:
    tree = random_component(seed)
    merges = list(tree.merges)
    for a in range(tree.n):
        for b in range(tree.n):
            if a == b:
                assert tree.meeting(a, b) is None
                continue
            expected = next(
                (one for one in merges if ({a, b} & {*one.left}) and ({a, b} & {*one.right})),
                None,
            )
            found = tree.meeting(a, b)
            assert (found is None) == (expected is None)
            if found is not None and expected is not None:
                assert found.height == expected.height
                assert {*found.left} == {*expected.left}


@pytest.mark.parametrize("seed", range(25))
def test_chains_have_the_closest_farthest_pair(seed: int) -> None:
    tree = random_component(seed)
    farthest = np.full((tree.n, tree.n), np.inf)
    np.fill_diagonal(farthest, -np.inf)
    for a, b, f in zip(tree.first, tree.second, tree.dissimilarity, strict=True):
        farthest[a, b] = farthest[b, a] = f
    direct = farthest.copy()
    for k in range(tree.n):  # Floyd and Warshall, of the farthest pair
        farthest = np.minimum(farthest, np.maximum(farthest[:, [k]], farthest[[k], :]))
    for a in range(tree.n):
        for b in range(a + 1, tree.n):
            chain = tree.chain(a, b)
            if not np.isfinite(farthest[a, b]):
                assert chain == []
                continue
            assert (chain[0], chain[-1]) == (a, b)
            assert max(direct[u, v] for u, v in pairwise(chain)) == farthest[a, b]


@pytest.mark.parametrize("seed", range(10))
def test_facts_are_consistent(seed: int) -> None:
    tree = random_component(seed)
    ids = [f"r{k}" for k in range(tree.n)]
    for a in range(tree.n):
        cluster = explain_cluster(tree, ids, a)
        assert f"r{a}" in cluster["members"]
        for b in range(tree.n):
            if a != b:
                facts = explain_meeting(tree, ids, a, b)
                assert facts["together"] == (f"r{b}" in cluster["members"])
                assert f"r{a}" in facts["sides"][0]
                assert f"r{b}" in facts["sides"][1]
                total = sum(facts["waterfall"]["features"].values())
                total += facts["waterfall"]["always"] + facts["waterfall"]["not_given"]
                assert total == pytest.approx(facts["height"])
                assert bool(facts["chain"]) <= (facts["direct"] is None)
