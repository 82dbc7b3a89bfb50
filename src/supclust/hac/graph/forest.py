"""`Forest`: the trees of a graph, one per connected component, and their cuts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.hac.cpu.numbering import join_sorted
from supclust.hac.graph.arrange import flatten, join, number_components, number_sets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Forest:
    """Trees of the connected components of a graph, merged up to a threshold.

    Attributes:
        n (int): Number of nodes.
        components (ndarray): (n,) int32 component of every node, numbered by first node. Two nodes
            are in one component if edges at or below the threshold, or must-links, connect them.
        pairs (ndarray): (m, 2) int32, a node of either side of every merge, component by component.
        heights (ndarray): (m,) heights of the merges, non-decreasing in each component; -inf for
            must-links.
        offsets (ndarray): (c + 1,) where the merges of each component start.
        threshold (float): Merges above it were not made.
    """

    n: int
    components: NDArray[np.int32]
    pairs: NDArray[np.int32]
    heights: Floats
    offsets: Ints
    threshold: float

    def __repr__(self) -> str:
        return (
            f"Forest({self.n} nodes, {self.n_components} components, {len(self.heights)} merges "
            f"up to {self.threshold:g})"
        )

    @property
    def n_components(self) -> int:
        """Number of connected components."""
        return len(self.offsets) - 1

    @property
    def labels(self) -> Ints:
        """(n,) cluster of every node at the threshold, numbered by first node."""
        labels: Ints = self.labels_at(math.inf)
        return labels

    def labels_at(self, heights: ArrayLike) -> Ints:
        """Cluster of every node after the merges at or below a height.

        Args:
            heights: A number, or (k,) numbers in any order, whose cuts come from one pass.
                Heights above the threshold give the clusters at the threshold.

        Returns:
            (n,) labels, or (k, n) for k heights, numbered from 0 by first node. Must-links hold at
            every height.
        """
        cuts = np.asarray(heights, np.float64)
        if cuts.ndim > 1 or np.isnan(cuts).any():
            raise ValueError(
                f"heights must be one number or a list of numbers; received {heights!r}. "
                "Pass e.g. 0.5 or [0.3, 0.5]."
            )
        levels = cuts.reshape(-1)
        labels = np.empty((len(levels), self.n), np.int64)
        order = np.argsort(self.heights, kind="stable")
        stops = np.searchsorted(self.heights[order], levels, side="right")
        parent = np.arange(self.n, dtype=np.int32)
        done = 0
        for row in np.argsort(levels, kind="stable").tolist():
            join(parent, self.pairs[order[done : stops[row]]])
            done = int(stops[row])
            flatten(parent)
            labels[row] = number_sets(parent)[0]
        return labels[0] if cuts.ndim == 0 else labels

    def nodes(self, component: int) -> Ints:
        """Nodes of a component, ascending: the leaves 0, 1, ... of its tree."""
        self._check(component)
        return np.flatnonzero(self.components == component)

    def to_scipy(self, component: int | None = None) -> Floats:
        """Tree in SciPy's format: of all nodes, or of one component.

        Args:
            component: Number of the component, whose leaf k is ``nodes(component)[k]``; ``None``
                for the tree of all nodes.

        Returns:
            Z, (k - 1, 4) for k nodes. Clusters that are apart at the threshold are joined at +inf.
            Must-links are merged at 0, or at the lowest height if that is below 0.
        """
        if component is None:
            n, order = self.n, np.argsort(self.heights, kind="stable")
            merges, heights = self.pairs[order], self.heights[order]
        else:
            nodes = self.nodes(component)
            here = slice(self.offsets[component], self.offsets[component + 1])
            n, heights = len(nodes), self.heights[here].copy()
            merges = np.searchsorted(nodes, self.pairs[here]).astype(np.int32)
        must = np.isneginf(heights)
        heights[must] = min(0.0, float(heights[~must].min(initial=0.0)))
        parent = np.arange(n, dtype=np.int32)
        join(parent, merges)
        flatten(parent)
        roots = np.unique(parent)
        rest = np.column_stack([roots[:-1], roots[1:]])
        Z = np.empty((n - 1, 4))
        Z[:, 2] = np.concatenate([heights, np.full(len(rest), np.inf)])
        join_sorted(np.concatenate([merges, rest]).astype(np.int64), Z[:, :2], Z[:, 3])
        return Z

    def numbered(self) -> tuple[Ints, Ints]:
        """Children, (m, 2), and sizes, (m,), of all merges, numbered as by SciPy in each component.

        In a component of k nodes the leaves are 0 to k - 1 and its merge i makes node k + i.
        """
        children, sizes = np.empty((len(self.pairs), 2), np.int64), np.empty(len(self.pairs), int)
        number_components(self.pairs, self.offsets, self.components, children, sizes)
        return children, sizes

    def _check(self, component: int) -> None:
        if not 0 <= component < self.n_components:
            raise ValueError(
                f"component must lie between 0 and {self.n_components - 1}; received {component}. "
                "Forest.components holds the component of every node."
            )
