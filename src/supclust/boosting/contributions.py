"""Shapley contributions of features to the score of boosted trees: exact path-dependent TreeSHAP.

A leaf of value v lies below k different features. For one of them, o says whether a row passes all
its splits on the path to the leaf, and z is the share of training rows that do. The contribution of
feature i, averaged over all orders in which features become known, is an integral (Owen, 1972),

    v (o_i - z_i)  integral over t from 0 to 1 of  prod_{j != i} (t o_j + (1 - t) z_j),

of a polynomial of degree k - 1, so ceil(k / 2) points of Gauss-Legendre quadrature are exact.
All factors are positive inside the interval: nothing is divided by zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.boosting.model_text import Trees
from supclust.boosting.score import goes_left
from supclust.kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class LeafPaths(NamedTuple):
    """The path to every leaf.

    Attributes:
        starts: (leaves + 1,) where the features of each leaf start.
        feature: different features on the path to each leaf.
        share: of the training rows that pass all splits of the feature on the path.
        step_starts: (leaves + 1,) where the splits of each leaf start.
        node: splits on the path to each leaf.
        left: whether the leaf is on the left of the split.
        place: position of the split's feature among those of the leaf.
    """

    starts: Ints
    feature: Ints
    share: Floats
    step_starts: Ints
    node: Ints
    left: NDArray[np.bool_]
    place: Ints


def leaf_paths(trees: Trees) -> LeafPaths:
    """The path to every leaf of all trees."""
    if not (trees.rows > 0).all():
        raise ValueError(
            "contributions need the number of training rows of every leaf (leaf_count); this "
            "LightGBM model has none. Save it again with lightgbm.Booster.model_to_string."
        )
    rows = _rows_below(trees)
    steps: list[list[tuple[int, bool]]] = [[] for _ in trees.value]
    for root in trees.root.tolist():
        waiting: list[tuple[int, list[tuple[int, bool]]]] = [(root, [])]
        while waiting:
            node, path = waiting.pop()
            if node < 0:
                steps[~node] = path
                continue
            waiting.append((int(trees.left[node]), [*path, (node, True)]))
            waiting.append((int(trees.right[node]), [*path, (node, False)]))
    starts, step_starts = [0], [0]
    features, shares, places = [], [], []
    for path in steps:
        share: dict[int, float] = {}
        for node, left in path:
            child = int((trees.left if left else trees.right)[node])
            below = trees.rows[~child] if child < 0 else rows[child]
            feature = int(trees.feature[node])
            share[feature] = share.get(feature, 1.0) * float(below / rows[node])
        position = {feature: k for k, feature in enumerate(share)}
        places += [position[int(trees.feature[node])] for node, _ in path]
        features += list(share)
        shares += list(share.values())
        starts.append(len(features))
        step_starts.append(len(places))
    return LeafPaths(
        np.array(starts),
        np.array(features, np.int64),
        np.array(shares, np.float64),
        np.array(step_starts),
        np.array([node for path in steps for node, _ in path], np.int64),
        np.array([left for path in steps for _, left in path], np.bool_),
        np.array(places, np.int64),
    )


def _rows_below(trees: Trees) -> Floats:
    """(nodes,) training rows of every inner node; children come after their parent."""
    rows = np.zeros(len(trees.feature))
    for node in range(len(rows) - 1, -1, -1):
        for child in (int(trees.left[node]), int(trees.right[node])):
            rows[node] += trees.rows[~child] if child < 0 else rows[child]
    return rows


def expected_score(trees: Trees, paths: LeafPaths) -> float:
    """Score without any feature known: leaves weighted by their training rows."""
    share = [paths.share[a:b].prod() for a, b in zip(paths.starts, paths.starts[1:], strict=False)]
    return float((trees.value * share).sum())


def quadrature(paths: LeafPaths) -> tuple[Floats, Floats]:
    """Points in [0, 1] and weights that are exact for the longest path."""
    longest = int(np.diff(paths.starts).max(initial=0))
    points, weights = np.polynomial.legendre.leggauss(max(1, (longest + 1) // 2))
    return (points + 1) / 2, weights / 2


@kernel
def add_contributions(
    rows: NDArray[np.floating],
    trees: Trees,
    paths: LeafPaths,
    points: Floats,
    weights: Floats,
    out: Floats,
) -> None:
    """Add the contributions of all leaves to ``out``, (n, d + 1), whose last column is left alone.

    Complexity: O(n x leaves x k^2) for k features on the path to a leaf.
    """
    longest = 0
    for leaf in range(trees.value.size):
        longest = max(longest, paths.starts[leaf + 1] - paths.starts[leaf])
    passes = np.empty(longest)
    left = np.empty(trees.feature.size, np.bool_)
    for row in range(rows.shape[0]):
        for node in range(trees.feature.size):
            left[node] = goes_left(rows[row], trees, node)
        for leaf in range(trees.value.size):
            start = paths.starts[leaf]
            k = paths.starts[leaf + 1] - start
            passes[:k] = 1.0
            for step in range(paths.step_starts[leaf], paths.step_starts[leaf + 1]):
                if left[paths.node[step]] != paths.left[step]:
                    passes[paths.place[step]] = 0.0
            for point in range(points.size):
                t = points[point]
                product = weights[point] * trees.value[leaf]
                for j in range(k):
                    product *= t * passes[j] + (1 - t) * paths.share[start + j]
                for j in range(k):
                    share = paths.share[start + j]
                    factor = t * passes[j] + (1 - t) * share
                    out[row, paths.feature[start + j]] += product / factor * (passes[j] - share)
