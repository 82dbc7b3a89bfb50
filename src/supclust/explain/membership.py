"""Where every record stands in its cluster: what its confidence is computed from."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from supclust.hac.cpu.numbering import root_of
from supclust.hac.graph.forest import Forest
from supclust.kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ScoredPairs(Protocol):
    """Ends and dissimilarities of pairs, each pair once."""

    @property
    def left(self) -> NDArray[np.int32]:
        """Records."""
        ...

    @property
    def right(self) -> NDArray[np.int32]:
        """Other records."""
        ...

    @property
    def dissimilarity(self) -> NDArray[np.float32]:
        """Dissimilarity of the two records."""
        ...


class Membership(NamedTuple):
    """Where every record stands, (n,) each. Heights of merges that are not made: ``missing``.

    Attributes:
        cluster: at the threshold.
        size: of its cluster.
        rest: its linkage to the rest of its cluster; ``missing`` if it is alone.
        probability: mean over the rest of the cluster of the probability that two records match,
            pairs that are not given at that of ``missing``; alone: that the nearest does not.
        nearest: dissimilarity of the nearest record, in its cluster or not.
        join: height of its first merge.
        top: height of the last merge of its cluster; alone: ``missing``.
        next: height at which its cluster would be merged with another.
    """

    cluster: Ints
    size: Ints
    rest: Floats
    probability: Floats
    nearest: Floats
    join: Floats
    top: Floats
    next: Floats


def membership(
    edges: ScoredPairs, forest: Forest, alpha: float, missing: float, threshold: float
) -> Membership:
    """Where every record of a forest stands at a threshold.

    Args:
        edges: the forest's pairs; those not closer than ``missing`` count as not given.
        forest: of all records.
        alpha: of the linkage.
        missing: what other pairs count.
        threshold: of the cut.
    """
    n = forest.n
    close = edges.dissimilarity < missing
    left, right = edges.left[close].astype(np.int64), edges.right[close].astype(np.int64)
    f = edges.dissimilarity[close].astype(np.float64)
    clusters = forest.labels_at(threshold)
    size = np.bincount(clusters, minlength=1)[clusters]
    inside = clusters[left] == clusters[right]
    ends = np.concatenate([left[inside], right[inside]])
    value = np.tile(f[inside], 2)
    weight = np.exp(alpha * (value - missing))  # of a pair that is not given: 1
    absent = size - 1 - np.bincount(ends, minlength=n)
    total = np.bincount(ends, weight, n) + absent
    rest = (np.bincount(ends, weight * value, n) + absent * missing) / np.where(size > 1, total, 1)
    matches = np.bincount(ends, sigmoid(-value), n) + absent * sigmoid(np.array(-missing))
    nearest = np.full(n, missing)
    for one in (left, right):
        np.minimum.at(nearest, one, f)
    alone = size == 1
    probability = np.where(alone, 1 - sigmoid(-nearest), matches / np.maximum(1, size - 1))
    order = np.argsort(forest.heights, kind="stable")
    join, top, following = (np.full(n, missing) for _ in range(3))
    merge_heights(
        forest.pairs[order], forest.heights[order], threshold, clusters, join, top, following
    )
    rest = np.where(alone, missing, rest)
    return Membership(clusters, size, rest, probability, nearest, join, top, following)


def sigmoid(log_odds: Floats) -> Floats:
    """Probabilities of log odds; the dissimilarity of a pair is minus the log odds of a match."""
    return np.asarray(1 / (1 + np.exp(np.clip(-log_odds, -50, 50))))


@kernel
def merge_heights(
    pairs: NDArray[np.int32],
    heights: Floats,
    threshold: float,
    clusters: Ints,
    join: Floats,
    top: Floats,
    following: Floats,
) -> None:
    """Write, of every record, its first merge, the last of its cluster, and that of the cluster.

    Args:
        pairs: (m, 2) a record of either side of every merge.
        heights: (m,) ascending.
        threshold: of the cut.
        clusters: (n,) at the threshold.
        join: (n,) output; where nothing is written, it stays.
        top: (n,) output.
        following: (n,) output.
    """
    n = clusters.size
    parent = np.arange(n)
    size = np.ones(n, np.int64)
    highest, after = np.full(n, np.nan), np.full(n, np.nan)  # by cluster
    for k in range(heights.size):
        u, v = root_of(parent, pairs[k, 0]), root_of(parent, pairs[k, 1])
        for end in (u, v):
            if size[end] == 1:
                join[end] = heights[k]
        if heights[k] <= threshold:
            highest[clusters[u]] = heights[k]
        else:
            for end in (u, v):
                if np.isnan(after[clusters[end]]):
                    after[clusters[end]] = heights[k]
        parent[v] = u
        size[u] += size[v]
    for i in range(n):
        if not np.isnan(highest[clusters[i]]):
            top[i] = highest[clusters[i]]
        if not np.isnan(after[clusters[i]]):
            following[i] = after[clusters[i]]
