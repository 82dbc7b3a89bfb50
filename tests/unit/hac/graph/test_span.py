"""With a fixed span a component has one tree, to the last bit, in whatever graph it is."""

import numpy as np
import pytest

from supclust.hac import graph_linkage


def random_graph(rng, n, edges):
    """Edges with many ties."""
    i, j = rng.integers(0, n, (2, edges))
    low, high = np.minimum(i, j), np.maximum(i, j)
    pairs = np.unique(np.stack([low, high])[:, low < high], axis=1)
    value = np.round(rng.normal(0, 3, pairs.shape[1]), 1).astype(np.float32)
    return pairs[0], pairs[1], np.minimum(value, 3.9)


@pytest.mark.parametrize("alpha", [0.0, -0.2, -0.5])
@pytest.mark.parametrize("seed", range(10))
def test_a_component_in_a_larger_graph(seed, alpha):
    rng = np.random.default_rng(seed)
    rule = {"alpha": alpha, "missing": 4.0, "span": (-200.0, 4.0)}
    i, j, value = random_graph(rng, 40, 120)
    more = random_graph(rng, 300, 900)
    alone = graph_linkage((i, j, value), 40, "exp", **rule)
    place = np.sort(rng.choice(340, 40, replace=False))  # the same order among others
    others = np.setdiff1d(np.arange(340), place)
    a = np.concatenate([place[i], others[more[0]]])
    b = np.concatenate([place[j], others[more[1]]])
    whole = graph_linkage((a, b, np.concatenate([value, more[2]])), 340, "exp", **rule)
    wanted = np.sort(alone.heights)
    inside = np.isin(whole.pairs[:, 0], place)
    assert np.array_equal(np.sort(whole.heights[inside]), wanted)
    for height in (-3.0, 0.0, 2.0):
        mine, theirs = alone.labels_at(height), whole.labels_at(height)[place]
        assert len(set(zip(mine.tolist(), theirs.tolist(), strict=True))) == mine.max() + 1


@pytest.mark.parametrize("alpha", [0.0, -0.2, -0.5])
@pytest.mark.parametrize("seed", range(10))
def test_pairs_up_to_the_cut_decide_the_clusters(seed, alpha):
    rng = np.random.default_rng(100 + seed)
    i, j, value = random_graph(rng, 150, 600)
    whole = graph_linkage(
        (i, j, value), 150, "exp", alpha=alpha, missing=4.0, span=(-200.0, 4.0)
    ).labels_at(0.0)
    near = graph_linkage((i, j, value), 150, "single", missing=4.0, threshold=0.0).labels
    for component in np.unique(near):
        rows = np.flatnonzero(near == component)
        place = np.full(150, -1)
        place[rows] = np.arange(len(rows))
        own = (near[i] == component) & (near[j] == component)
        edges = (place[i[own]], place[j[own]], value[own])
        labels = graph_linkage(
            *(edges, len(rows), "exp"),
            **{"alpha": alpha, "missing": 4.0, "threshold": 0.0, "span": (-200.0, 4.0)},
        ).labels
        pairs = set(zip(labels.tolist(), whole[rows].tolist(), strict=True))
        assert len(pairs) == labels.max() + 1 == len(set(whole[rows].tolist()))
