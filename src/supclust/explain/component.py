"""A connected component of a graph of scored pairs: its merges, and which pairs each joins."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.explain.waterfall import Waterfall, merge_waterfall
from supclust.hac.graph.arrange import flatten, join
from supclust.hac.graph.constraints import shortest_chain
from supclust.hac.graph.forest import Forest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Contributions = Callable[[Ints, Ints], Floats]


class Merge(NamedTuple):
    """A merge of two clusters: their nodes, ascending, and its height (-inf: a must-link)."""

    left: Ints
    right: Ints
    height: float


@dataclass(frozen=True)
class Component:
    """Records that scored pairs connect, and the tree of their clusters.

    Attributes:
        n: records, which are numbered from 0.
        first: (e,) ends of the given pairs, those closer than ``missing``.
        second: (e,) other ends.
        dissimilarity: (e,) of the given pairs.
        pairs: (m, 2) a node of either side of every merge, the lowest merge first.
        heights: (m,) of the merges, ascending; -inf for must-links.
        alpha: of the linkage.
        missing: what other pairs count.
        threshold: merges up to it are made.
        names: (d,) of the features.
        contributions: of pairs (first, second), (k, d + 1).
    """

    n: int
    first: Ints
    second: Ints
    dissimilarity: Floats
    pairs: Ints
    heights: Floats
    alpha: float
    missing: float
    threshold: float
    names: Sequence[str]
    contributions: Contributions

    def merge(self, k: int) -> Merge:
        """The k-th lowest merge."""
        roots = self._roots(k)
        left, right = (np.flatnonzero(roots == roots[node]) for node in self.pairs[k])
        return Merge(left, right, float(self.heights[k]))

    @property
    def merges(self) -> Iterator[Merge]:
        """All merges, the lowest first."""
        return (self.merge(k) for k in range(len(self.heights)))

    @cached_property
    def clusters(self) -> Ints:
        """(n,) smallest node of every node's cluster at the threshold."""
        return self._roots(int(np.searchsorted(self.heights, self.threshold, "right")))

    def cluster_of(self, node: int) -> Ints:
        """Nodes of a node's cluster at the threshold."""
        return np.flatnonzero(self.clusters == self.clusters[node])

    def meeting(self, a: int, b: int) -> Merge | None:
        """The merge at which two nodes come together; ``None``: they never do."""

        def together(merges: int) -> bool:
            roots = self._roots(merges)
            return bool(roots[a] == roots[b])

        if a == b or not together(len(self.heights)):
            return None
        after = bisect_left(range(len(self.heights) + 1), True, key=together)
        return self.merge(after - 1)

    def _roots(self, merges: int) -> Ints:
        """(n,) smallest node that every node is together with after the lowest merges."""
        parent = np.arange(self.n, dtype=np.int32)
        join(parent, self.pairs[:merges].astype(np.int32))
        flatten(parent)
        return parent.astype(np.int64)

    def chain(self, a: int, b: int) -> list[int]:
        """Nodes from a to b over given pairs whose farthest pair is as close as possible."""
        order = np.argsort(self.dissimilarity, kind="stable")
        ends = np.column_stack([self.first, self.second])[order].astype(np.int32)

        def together(pairs: int) -> bool:
            parent = np.arange(self.n, dtype=np.int32)
            join(parent, ends[:pairs])
            flatten(parent)
            return bool(parent[a] == parent[b])

        if not together(len(ends)):
            return []
        used = bisect_left(range(len(ends) + 1), True, key=together)
        return shortest_chain(ends[:used].astype(np.int64), a, b)

    def between(self, left: ArrayLike, right: ArrayLike) -> Ints:
        """Positions of the given pairs between two sets of nodes, the closest first."""
        side = np.zeros(self.n, np.int8)
        side[np.asarray(left)], side[np.asarray(right)] = 1, 2
        positions = np.flatnonzero(side[self.first] + side[self.second] == 3)
        return positions[np.argsort(self.dissimilarity[positions], kind="stable")]

    def waterfall(self, left: Ints, right: Ints) -> Waterfall:
        """Contributions to the linkage of two disjoint sets of nodes, merged or not."""
        given = self.between(left, right)
        return merge_waterfall(
            self.names,
            self.contributions(self.first[given], self.second[given]),
            self.dissimilarity[given],
            len(left) * len(right),
            self.alpha,
            self.missing,
        )


def sides(forest: Forest, k: int) -> tuple[Ints, Ints]:
    """Nodes of the two clusters that merge k of a forest joins, ascending."""
    component = int(np.searchsorted(forest.offsets, k, "right")) - 1
    nodes = forest.nodes(component)
    local = np.searchsorted(nodes, forest.pairs[forest.offsets[component] : k + 1])
    parent = np.arange(len(nodes), dtype=np.int32)
    join(parent, local[:-1].astype(np.int32))
    flatten(parent)
    left, right = (nodes[parent == parent[end]] for end in local[-1])
    return left, right
