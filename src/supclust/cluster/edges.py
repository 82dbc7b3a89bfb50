"""Cluster a list of edges: connected components, then ExpLink inside each.

* A probability p is the dissimilarity 1 - p: bounded, and a threshold of 0.5 means "more likely
  alike than not".
* A pair that is given several times, in either order, counts once, with the mean, smallest or
  largest of its values, or is refused.
* A pair that is not given has the value ``missing``. It must lie above the threshold: else records
  that were never compared would be merged.

Every ExpLink value is a weighted mean over pairs, so a merge at or below the threshold needs a pair
at or below it. The connected components of the edges at or below the threshold therefore give
exactly the clusters of the whole graph, with much smaller matrices. Inside a component all its
edges are used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.cluster.flat import Cut, Ints, Labels, label_blocks
from supclust.cluster.kernels import fill_components
from supclust.data.layouts.edge_lists import Edges
from supclust.data.tables.formats import BATCH_ROWS
from supclust.data.tables.reader import integer_column
from supclust.hac._linkage import linkage
from supclust.hac.memory import require_memory
from supclust.hac.tree import cut_tree

MOST_LIKELY = 0.5  # default threshold of probabilities, as a dissimilarity


@dataclass(frozen=True)
class EdgeClusters:
    """Component and cluster of every node, (n,), numbered by first appearance."""

    component: Ints
    cluster: Ints


def cluster_edges(edges: Edges, alpha: float, threshold: float, missing: float) -> EdgeClusters:
    """Cluster the nodes of a graph; see this module.

    Args:
        edges: each pair once.
        alpha: of the linkage, -inf (single) to inf (complete).
        threshold: height to cut at.
        missing: dissimilarity of pairs that are not given, above the threshold; inf is legal.

    Raises:
        ValueError: a component is too large for the memory, or ``missing`` too small.

    Complexity: O(e log e + sum of squares of the components' sizes).
    """
    if not missing > threshold:
        raise ValueError(
            "pairs that are not given must be less alike than the threshold; received "
            f"--missing {missing:g} and --threshold {threshold:g}. Raise --missing, or lower "
            "--threshold."
        )
    n = len(edges.ids)
    component = _components(edges, threshold)
    order = np.argsort(component, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(component))])
    largest = int(np.diff(starts).max(initial=0))
    try:
        require_memory(3 * 8 * largest**2, f"the largest connected component, {largest:,} records,")
    except ValueError as error:
        raise ValueError(f"{error} Or lower --threshold, which makes components smaller.") from None
    position = np.empty(n, np.int64)
    position[order] = np.arange(n) - np.repeat(starts[:-1], np.diff(starts))
    labels = _inside(edges, component, position, starts, Cut(alpha, threshold), missing)
    counts = np.maximum.reduceat(labels, starts[:-1]) + 1
    offset = np.concatenate([[0], np.cumsum(counts)[:-1]])
    cluster = np.empty(n, np.int64)
    cluster[order] = labels + np.repeat(offset, np.diff(starts))
    return EdgeClusters(component, _by_appearance(cluster))


def _components(edges: Edges, threshold: float) -> Ints:
    """(n,) component of every node over the edges at or below the threshold."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(edges.ids)
    near = edges.value <= threshold
    ones = np.ones(int(near.sum()), np.int8)
    graph = coo_array((ones, (edges.first[near], edges.second[near])), shape=(n, n))
    return _by_appearance(connected_components(graph, directed=False)[1].astype(np.int64))


def _by_appearance(codes: Ints) -> Ints:
    """The same partition numbered from 0 in the order of first appearance."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _inside(
    edges: Edges, component: Ints, position: Ints, starts: Ints, cut: Cut, missing: float
) -> Labels:
    """(n,) clusters of the nodes by component, numbered from 0 in each."""
    owner = component[edges.first]
    within = np.flatnonzero(owner == component[edges.second])
    within = within[np.argsort(owner[within], kind="stable")]
    ends = np.concatenate([[0], np.cumsum(np.bincount(owner[within], minlength=len(starts) - 1))])
    i, j = position[edges.first[within]], position[edges.second[within]]
    value = edges.value[within]

    def fill(a: int, b: int, squares: NDArray[Any]) -> None:
        fill_components(i, j, value, ends, starts, missing, a, b, squares)

    labels, counts = label_blocks(fill, starts, cut, np.float64)
    for k in np.flatnonzero(counts < 0).tolist():
        here, n = slice(ends[k], ends[k + 1]), int(starts[k + 1] - starts[k])
        square = np.full((n, n), missing)
        square[i[here], j[here]] = square[j[here], i[here]] = value[here]
        Z = linkage(square, "exp", alpha=cut.alpha)
        labels[starts[k] : starts[k + 1]] = cut_tree(Z, height=cut.threshold)
    return labels


def default_missing(edges: Edges, probability: bool, threshold: float) -> float:
    """Value of pairs that are not given: probability 0, or the largest dissimilarity of the list.

    Where that does not exceed the threshold, "never alike": inf.
    """
    if probability:
        return 1.0 if threshold < 1.0 else math.inf
    finite = edges.value[np.isfinite(edges.value)]
    largest = float(finite.max()) if len(finite) else math.inf
    return largest if largest > threshold else math.inf


def edge_batches(edges: Edges, clusters: EdgeClusters) -> list[Any]:
    """The output: id, component and cluster of every node."""
    import pyarrow as pa

    columns = {
        "id": pa.array(edges.ids, pa.string()),
        "component": integer_column(clusters.component),
        "cluster": integer_column(clusters.cluster),
    }
    return list(pa.table(columns).to_batches(max_chunksize=BATCH_ROWS))
