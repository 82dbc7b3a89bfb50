"""Cluster a list of edges by the exact trees of its graph.

* A probability p is the dissimilarity 1 - p: bounded, and a threshold of 0.5 means "more likely
  alike than not".
* A pair that is given several times, in either order, counts once, with the mean, smallest or
  largest of its values, or is refused.
* A pair that is not given has the value ``missing``. It must lie above the threshold: else records
  that were never compared would be merged. A given dissimilarity may exceed it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.cluster.components import merge_chunks
from supclust.cluster.engine import LOCAL, Engine
from supclust.cut.counts import labelled_merge_pairs
from supclust.data.layouts.edge_lists import Edges
from supclust.data.tables.reader import integer_column
from supclust.hac.graph._graph_linkage import Missing, link
from supclust.hac.graph.forest import Forest
from supclust.hac.graph.merge_graph import merge_graph
from supclust.metrics.threshold import BestThreshold, curve_from_merges

Ints = NDArray[np.int64]
MOST_LIKELY = 0.5  # default threshold of probabilities
ALPHAS = (0.0, -1.0, 1.0, -2.0, 2.0, -4.0, 4.0, -8.0, 8.0, -16.0, 16.0, -math.inf, math.inf)
"""Candidates of `learn_linkage`, in units of 1 / (standard deviation of the dissimilarities)."""


class LearnedLinkage(NamedTuple):
    """The alpha and the cut with the best pairwise F1 on labelled records."""

    alpha: float
    best: BestThreshold


def cluster_edges(
    edges: Edges,
    alpha: float,
    threshold: float | None,
    missing: Missing,
    must_link: Ints | None = None,
    cannot_link: Ints | None = None,
    engine: Engine = LOCAL,
) -> Forest:
    """Trees of the graph up to a threshold; arguments as `supclust.hac.graph_linkage`.

    Components are merged by all cores of this machine, or in chunks by another engine.
    """
    merge = merge_graph if engine is LOCAL else partial(merge_chunks, engine)
    return link(
        edges.first, edges.second, edges.value, len(edges.ids), alpha, missing, threshold,
        must_link, cannot_link, merge=merge,
    )  # fmt: skip


def default_missing(edges: Edges, probability: bool, threshold: float | None) -> float:
    """Value of pairs that are not given: probability 0, or the largest dissimilarity of the list.

    Where that does not exceed the threshold, "never alike": inf.
    """
    lowest = -math.inf if threshold is None else threshold
    if probability:
        return 1.0 if lowest < 1.0 else math.inf
    finite = edges.value[np.isfinite(edges.value)]
    largest = float(finite.max()) if len(finite) else math.inf
    return largest if largest > lowest else math.inf


def learn_linkage(edges: Edges, labels: Ints, missing: Missing, **more: Any) -> LearnedLinkage:
    """Choose alpha and the cut by labelled records among all others.

    Everything is clustered, labelled or not. Predicted pairs are the pairs of labelled records in a
    cluster and half of the pairs of a labelled record with another one: a cut that is chosen among
    labelled records alone would be too generous, since it never meets strangers.

    Args:
        edges: of all records.
        labels: (n,) cluster of every node, -1 where it is not known.
        missing: of pairs that are not given.
        more: ``must_link``, ``cannot_link`` and ``engine`` of `cluster_edges`.

    Returns:
        The best of `ALPHAS`, the earliest of equal ones, with its cut and the scores there.
    """
    finite = edges.value[np.isfinite(edges.value)]
    scale = float(finite.std()) if len(finite) else 0.0
    results: list[LearnedLinkage] = []
    for step in ALPHAS:
        alpha = step / scale if scale > 0 else step
        forest = cluster_edges(edges, alpha, None, missing, **more)
        curve = curve_from_merges([labelled_merge_pairs(forest.to_scipy(), labels)])
        is_merge = np.isfinite(curve.heights) | np.isneginf(curve.heights)
        best = int(np.argmax(np.where(is_merge, curve.f1, -1.0)))
        cut = min(float(curve.thresholds[best]), forest.threshold)
        scores = (float(values[best]) for values in (curve.f1, curve.precision, curve.recall))
        results.append(LearnedLinkage(alpha, BestThreshold(cut, *scores)))
    return max(results, key=lambda result: result.best.f1)


def cluster_columns(
    edges: Edges, forest: Forest, cuts: Sequence[float], names: Sequence[str]
) -> Any:
    """The output, a pyarrow table: id and component of every node, and its cluster at every cut."""
    import pyarrow as pa

    labels = forest.labels_at(list(cuts))
    columns = {
        "id": edges.ids,
        "component": integer_column(forest.components.astype(np.int64)),
        **{name: integer_column(row) for name, row in zip(names, labels, strict=True)},
    }
    return pa.table(columns)


def tree_columns(forest: Forest) -> Any:
    """Merges of every component as in SciPy: component, left, right, height, size.

    The leaves 0, 1, ... of a component are its nodes in the order of the output.
    """
    import pyarrow as pa

    children, sizes = forest.numbered()
    component = np.repeat(np.arange(forest.n_components), np.diff(forest.offsets))
    columns = {
        "component": integer_column(component),
        "left": integer_column(children[:, 0]),
        "right": integer_column(children[:, 1]),
        "height": pa.array(forest.heights),
        "size": integer_column(sizes),
    }
    return pa.table(columns)
