"""Linkage and cut of a graph of scored pairs, chosen on labelled records."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supclust.hac import graph_linkage
from supclust.hac.graph.forest import Forest
from supclust.metrics.threshold import ThresholdCurve
from supclust.resolve.blocking.keys import Ints
from supclust.resolve.scoring import CLOSEST, Edges

ALPHAS = (0.0, -0.2, -0.5)
MISSING = (4.0, 2.0)
"""What a pair that is not compared counts, as minus log odds: chosen from these."""
_TOLERANCE = 0.002  # of F1, within which thresholds are as good as the best
_WORTH_A_LOOK = 0.1  # of F1 below the best, within which thresholds are scored by entity, too
_LOOKS = 30  # thresholds that are
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
    threshold: float | None = None,
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
        threshold=None if threshold is None or threshold >= missing else threshold,
        must_link=must_link,
        cannot_link=cannot_link,
        span=(CLOSEST, missing),
    )


CurveOf: TypeAlias = Callable[[Forest], ThresholdCurve]
"""Scores of a forest at every threshold."""
EntityScore: TypeAlias = Callable[[Ints], float]
"""Score of clusters to which every entity contributes alike, whatever its size."""


class ChosenCut(NamedTuple):
    """A linkage with a threshold, and what it was chosen by.

    Attributes:
        cut: linkage and threshold.
        curve: scores of all thresholds of the linkage.
        forest: trees of the linkage.
        f1: best F1 of the linkage.
        score: that the cut was chosen by.
    """

    cut: GraphCut
    curve: ThresholdCurve
    forest: Forest
    f1: float
    score: float


def choose_cut(
    edges: Edges,
    n: int,
    curve_of: CurveOf,
    cannot_link: NDArray[np.int64] | None = None,
    entity_score: EntityScore | None = None,
) -> ChosenCut:
    """Linkage and threshold with the best F1, or the best mean of F1 and a score of entities.

    A few large entities hold most of the pairs, and decide alone where F1 is best. The mean gives
    the others a say: of thresholds with much the same F1 it takes that which is best for them.

    Args:
        edges: scored by models that have not seen the entities of the pair.
        n: records.
        curve_of: scores of a forest at every threshold.
        cannot_link: pairs that are kept apart.
        entity_score: of clusters; ``None``: F1 alone.
    """
    best: ChosenCut | None = None
    for missing in MISSING:
        for alpha in ALPHAS:
            forest = cluster_graph(edges, n, alpha, missing, cannot_link)
            curve = curve_of(forest)
            scored = curve if entity_score is None else with_entities(curve, forest, entity_score)
            score = float(scored.f1.max())
            if best is None or score > best.score:
                cut = GraphCut(alpha, missing, middle_threshold(scored, missing))
                best = ChosenCut(cut, curve, forest, float(curve.f1.max()), score)
    if best is None:
        raise RuntimeError("internal error: no linkage was tried")
    return best


def with_entities(
    curve: ThresholdCurve, forest: Forest, entity_score: EntityScore
) -> ThresholdCurve:
    """Some points of a curve, those with a high F1, with the mean of F1 and a score of entities.

    Args:
        curve: of the forest.
        forest: the trees.
        entity_score: of clusters.
    """
    finite = np.isfinite(curve.thresholds)
    good = curve.thresholds[finite & (curve.f1 >= curve.f1[finite].max() - _WORTH_A_LOOK)]
    at = np.linspace(good[0], good[-1], _LOOKS)
    points = np.unique(np.searchsorted(curve.heights, at, side="right") - 1)
    some = ThresholdCurve(*(part[points] for part in curve))
    scores = [entity_score(clusters) for clusters in forest.labels_at(some.thresholds)]
    return some._replace(f1=(some.f1 + np.array(scores)) / 2)


def middle_threshold(curve: ThresholdCurve, missing: float) -> float:
    """A threshold inside the range around the best one in which F1 is as good, to a tolerance.

    Even odds (0) if that lies in the range, else its middle. Entities of new records are a little
    closer together or further apart than the labelled ones; a threshold at the end of the range
    would split or join some of them.
    """
    k = int(curve.f1.argmax())
    worse = np.flatnonzero(curve.f1 < curve.f1[k] - _TOLERANCE)
    first = int(worse[worse < k].max(initial=-1)) + 1
    last = int(worse[worse > k].min(initial=len(curve.f1))) - 1
    most = float(np.nextafter(missing, -np.inf))
    low, high = (min(float(curve.thresholds[end]), most) for end in (first, last))
    if low <= EVEN <= high:
        return EVEN
    return (low + high) / 2 if np.isfinite(low) else high


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
