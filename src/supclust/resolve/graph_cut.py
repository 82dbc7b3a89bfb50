"""Linkage and cut of a graph of scored pairs, chosen on labelled records."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.cluster.components import merge_chunks
from supclust.cluster.engine import LOCAL, Engine
from supclust.hac.graph._graph_linkage import link, unique_edges
from supclust.hac.graph.forest import Forest
from supclust.hac.graph.merge_graph import merge_graph
from supclust.metrics.threshold import ThresholdCurve
from supclust.resolve.blocking.keys import Ints
from supclust.resolve.forest_scores import EntityPairs
from supclust.resolve.scoring import CLOSEST, Edges

ALPHAS = (0.0, -0.2, -0.5)
MISSING = (4.0, 2.0)
"""What a pair that is not compared counts, as minus log odds: chosen from these."""
_TOLERANCE = 0.002  # of F1, within which thresholds are as good as the best
_WORTH_A_LOOK = 0.1  # of F1 below the best, within which thresholds are scored by entity, too
_LOOKS = 30  # thresholds that are
EVEN = 0.0
"""Threshold of even odds."""


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


DEFAULT = GraphCut(ALPHAS[0], MISSING[0], EVEN)
"""Unless another cut is clearly better."""


def cluster_graph(
    edges: Edges,
    n: int,
    alpha: float,
    missing: float,
    cannot_link: NDArray[np.int64] | None,
    must_link: NDArray[np.int64] | None = None,
    threshold: float | None = None,
    engine: Engine = LOCAL,
) -> Forest:
    """Trees of a graph; pairs that are not closer than ``missing`` count as not given.

    A component has the same tree, to the last bit, in whatever graph it is. Components are merged
    by all cores of this machine, or in chunks by another engine.
    """
    close = edges.where(edges.dissimilarity < missing)
    value = close.dissimilarity.astype(np.float64)
    return link(
        *unique_edges(close.left, close.right, value, n),
        *(n, alpha, missing),
        threshold=None if threshold is None or threshold >= missing else threshold,
        must_link=must_link,
        cannot_link=cannot_link,
        span=(CLOSEST, missing),
        merge=merge_graph if engine is LOCAL else partial(merge_chunks, engine),
    )


class CutScores(NamedTuple):
    """How cuts are scored on labelled records.

    Attributes:
        curve: scores of a forest at every threshold.
        pairs: of clusters, by entity.
    """

    curve: Callable[[Forest], ThresholdCurve]
    pairs: Callable[[Ints], EntityPairs]


class ChosenCut(NamedTuple):
    """A cut, the scores of all thresholds of its linkage, the forest, and the pairs of the cut."""

    cut: GraphCut
    curve: ThresholdCurve
    forest: Forest
    pairs: EntityPairs


def choose_cut(
    edges: Edges,
    n: int,
    scores: CutScores,
    cannot_link: NDArray[np.int64] | None = None,
) -> ChosenCut:
    """Average linkage cut at even odds, or the linkage and threshold with the best score.

    A few large entities hold most of the pairs, and decide alone where F1 is best. The score
    (`EntityPairs.score`) gives the others a say. Where few entities are labelled the best cut still
    depends on which they are: it is taken if it is better than even odds by a standard error.

    Args:
        edges: scored by models that have not seen the entities of the pair.
        n: records.
        scores: of cuts.
        cannot_link: pairs that are kept apart.
    """

    def scored(cut: GraphCut, curve: ThresholdCurve, forest: Forest) -> ChosenCut:
        return ChosenCut(cut, curve, forest, scores.pairs(forest.labels_at(cut.threshold)))

    tried = []
    for missing in MISSING:
        for alpha in ALPHAS:
            forest = cluster_graph(edges, n, alpha, missing, cannot_link)
            curve = scores.curve(forest)
            by_score = with_entities(curve, forest, scores)
            cut = GraphCut(alpha, missing, middle_threshold(by_score, missing))
            tried.append((float(by_score.f1.max()), cut, curve, forest))
    best = scored(*max(tried, key=lambda one: one[0])[1:])
    _, _, curve, forest = tried[0]
    usual = scored(DEFAULT, curve, forest)
    return best if best.pairs.clearly_better(usual.pairs) else usual


def with_entities(curve: ThresholdCurve, forest: Forest, scores: CutScores) -> ThresholdCurve:
    """Some points of a curve, those with a high F1, with the score of their clusters as F1.

    Args:
        curve: of the forest.
        forest: the trees.
        scores: of cuts.
    """
    finite = np.isfinite(curve.thresholds)
    good = curve.thresholds[finite & (curve.f1 >= curve.f1[finite].max() - _WORTH_A_LOOK)]
    at = np.linspace(good[0], good[-1], _LOOKS)
    points = np.unique(np.searchsorted(curve.heights, at, side="right") - 1)
    some = ThresholdCurve(*(part[points] for part in curve))
    clusters = forest.labels_at(some.thresholds)
    return some._replace(f1=np.array([scores.pairs(one).score for one in clusters]))


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
