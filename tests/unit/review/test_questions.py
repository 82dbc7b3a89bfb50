"""Questions: what they are worth, their sides, and that answered ones are not asked again."""

from __future__ import annotations

import numpy as np
import pytest

from supclust.explain.component import sides
from supclust.explain.waterfall import Waterfall
from supclust.hac import graph_linkage
from supclust.review.questions import STEEPNESS, disagreement, questions, worth


def random_forest(seed: int):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < 0.15
    f = rng.normal(1, 2, int(kept.sum()))
    must = rng.integers(0, n, (1, 2)) if seed % 3 == 0 else None
    return graph_linkage((i[kept], j[kept], f), n, "exp", alpha=-0.2, missing=4.0, must_link=must)


def replayed(forest):
    """Sides of every merge, by sets."""
    members = {k: frozenset([k]) for k in range(forest.n)}
    made = []
    for a, b in forest.pairs.tolist():
        left, right = members[a], members[b]
        made.append((left, right))
        for node in left | right:
            members[node] = left | right
    return made


def test_worth_and_sides_by_replaying() -> None:
    for seed in range(30):
        forest, threshold = random_forest(seed), 0.5
        value, expected = worth(forest, threshold), replayed(forest)
        height_of = {
            left | right: h for (left, right), h in zip(expected, forest.heights, strict=True)
        }
        for k, (left, right) in enumerate(expected):
            found = [frozenset(side.tolist()) for side in sides(forest, k)]
            assert found == [left, right]
            h = forest.heights[k]
            whole = all(len(one) == 1 or height_of[one] <= threshold for one in (left, right))
            if not np.isfinite(h) or not whole:
                assert value[k] == 0
            else:
                wrong = 1 / (1 + np.exp(min(STEEPNESS * abs(h - threshold), 700)))
                assert value[k] == pytest.approx(wrong * len(left) * len(right))


def test_the_most_valuable_first_and_none_twice() -> None:
    forest = random_forest(1)
    ids = [f"r{k}" for k in range(forest.n)]
    first = questions(forest, ids, 0.5, 5)
    assert [one.worth for one in first] == sorted((one.worth for one in first), reverse=True)
    assert len({one.key for one in first}) == len(first)
    rest = questions(forest, ids, 0.5, 5, {first[0].key})
    assert first[0].key not in {one.key for one in rest}
    assert rest[0] == first[1]
    assert all(one.merged == (one.height <= 0.5) for one in first)


def test_disagreement() -> None:
    names = ("a: x", "b: x")
    assert disagreement(Waterfall(names, np.array([1.0, -1.0]), 0, 0, 0)) == 1
    assert disagreement(Waterfall(names, np.array([1.0, 3.0]), 0, 0, 4)) == 0
    assert disagreement(Waterfall(names, np.zeros(2), 0, 0, 0)) == 0
