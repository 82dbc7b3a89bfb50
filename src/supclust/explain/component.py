"""A connected component of a graph of scored pairs: its merges, and which pairs each joins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.explain.waterfall import Waterfall, merge_waterfall

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
        pairs: (m, 2) a node of either side of every merge, in the order of the merges.
        heights: (m,) of the merges.
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

    @cached_property
    def merges(self) -> list[Merge]:
        """All merges, the lowest first."""
        members = {node: np.array([node]) for node in range(self.n)}
        owner = np.arange(self.n)
        made = []
        for (a, b), height in zip(self.pairs.tolist(), self.heights.tolist(), strict=True):
            u, v = int(owner[a]), int(owner[b])
            left, right = members.pop(u), members.pop(v)
            made.append(Merge(left, right, height))
            members[u] = np.sort(np.concatenate([left, right]))
            owner[right] = u
        return made

    def cluster_of(self, node: int) -> Ints:
        """Nodes of a node's cluster at the threshold."""
        cluster = np.array([node])
        for merge in self.merges:
            if merge.height <= self.threshold and (node in merge.left or node in merge.right):
                cluster = np.sort(np.concatenate([merge.left, merge.right]))
        return cluster

    def meeting(self, a: int, b: int) -> Merge | None:
        """The merge at which two nodes come together; ``None``: they never do."""
        for merge in self.merges:
            sides = (a in merge.left, b in merge.left, a in merge.right, b in merge.right)
            if (sides[0] and sides[3]) or (sides[1] and sides[2]):
                return merge
        return None

    def between(self, left: ArrayLike, right: ArrayLike) -> Ints:
        """Positions of the given pairs between two sets of nodes, the closest first."""
        side = np.zeros(self.n, np.int8)
        side[np.asarray(left)], side[np.asarray(right)] = 1, 2
        found = np.flatnonzero(side[self.first] + side[self.second] == 3)
        return found[np.argsort(self.dissimilarity[found], kind="stable")]

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
