"""Linkage and cut of a graph of scored pairs, chosen on labelled records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.hac import graph_linkage
from supclust.hac.graph.forest import Forest
from supclust.metrics.threshold import ThresholdCurve
from supclust.resolve.forest_scores import threshold_curve
from supclust.resolve.keys import Ints
from supclust.resolve.scoring import CLOSEST, Edges

ALPHAS = (0.0, -0.2, -0.5)
MISSING = (4.0, 2.0)
"""What a pair that is not compared counts, as minus log odds: chosen from these."""
EVEN = 0.0
"""Threshold where nothing can be learned: even odds."""


class GraphCut(NamedTuple):
    """How a graph is clustered.

    Attributes:
        alpha: of the linkage.
        missing: what a pair that is not given counts.
        threshold: height to cut at, below ``missing``.
    """

    alpha: float
    missing: float
    threshold: float


def cluster_graph(
    edges: Edges,
    n: int,
    alpha: float,
    missing: float,
    cannot_link: NDArray[np.int64] | None,
    must_link: NDArray[np.int64] | None = None,
) -> Forest:
    """Trees of a graph; pairs that are not closer than ``missing`` count as not given.

    A component has the same tree, to the last bit, in whatever graph it is.
    """
    close = edges.dissimilarity < missing
    return graph_linkage(
        (edges.left[close], edges.right[close], edges.dissimilarity[close]),
        n,
        "exp",
        alpha=alpha,
        missing=missing,
        must_link=must_link,
        cannot_link=cannot_link,
        span=(CLOSEST, missing),
    )


def choose_cut(
    edges: Edges, labels: Ints, complete: bool, cannot_link: NDArray[np.int64] | None = None
) -> tuple[GraphCut, ThresholdCurve, Forest]:
    """Linkage and threshold with the best F1 on the labelled records, strangers counted.

    Args:
        edges: scored by models that have not seen the entities of the pair.
        labels: (n,) entity, -1: not known.
        complete: whether records without a label are strangers.
        cannot_link: pairs that are kept apart.
    """
    best: tuple[GraphCut, ThresholdCurve, Forest] | None = None
    most = -1.0
    for missing in MISSING:
        for alpha in ALPHAS:
            forest = cluster_graph(edges, len(labels), alpha, missing, cannot_link)
            curve = threshold_curve(forest, labels, complete)
            k = int(curve.f1.argmax())
            if curve.f1[k] > most:
                most = float(curve.f1[k])
                threshold = min(float(curve.thresholds[k]), float(np.nextafter(missing, -np.inf)))
                best = GraphCut(alpha, missing, threshold), curve, forest
    if best is None:
        raise RuntimeError("internal error: no linkage was tried")
    return best


def pairs_apart(codes: Ints) -> NDArray[np.int64] | None:
    """(k, 2) pairs of records that share a code (not negative); ``None`` without any."""
    rows = np.flatnonzero(codes >= 0)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    bounds = np.flatnonzero(np.diff(codes[rows], prepend=-1, append=-1))
    parts = []
    for k in range(len(bounds) - 1):
        group = rows[bounds[k] : bounds[k + 1]]
        if len(group) > 1:
            a, b = np.triu_indices(len(group), 1)
            parts.append(np.column_stack([group[a], group[b]]))
    return np.concatenate(parts) if parts else None
