"""Linkage and cut of a graph of scored pairs, chosen on labelled records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from supclust.resolve.forest_scores import EntityPairs, threshold_curve
from supclust.resolve.scoring import CLOSEST, Edges

ALPHAS = (0.0, -0.2, -0.5)
MISSING = (4.0, 2.0)
"""What a pair that is not compared counts, as minus log odds: chosen from these."""
_TOLERANCE = 0.002  # of the score, within which thresholds are as good as the best
_WORTH_A_LOOK = 0.1  # of F1 below the best, within which thresholds are scored by entity, too
_LOOKS = 30  # such thresholds
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
        fold: (k,) of every entity of ``pairs``, for cross-validation.
    """

    curve: Callable[[Forest], ThresholdCurve]
    pairs: Callable[[Ints], EntityPairs]
    fold: Ints

    @classmethod
    def of_labels(cls, labels: Ints, complete: bool, fold: Ints) -> CutScores:
        """On labelled records.

        Args:
            labels: (n,) entity, -1: not known.
            complete: whether records without a label are strangers; else they are left out.
            fold: (n,) of the records, by entity.
        """
        known = np.flatnonzero(labels >= 0)
        _, first = np.unique(labels[known], return_index=True)
        return cls(
            partial(threshold_curve, labels=labels, complete=complete),
            partial(EntityPairs.of, labels, complete=complete),
            fold[known[first]],
        )


class ScoredForest(NamedTuple):
    """The forest of a linkage, and its clusters at some thresholds.

    Attributes:
        alpha: of the linkage.
        missing: what a pair that is not given counts.
        forest: the trees.
        curve: scores at every threshold.
        thresholds: some of them, those with a high F1.
        pairs: of the clusters at each of these.
    """

    alpha: float
    missing: float
    forest: Forest
    curve: ThresholdCurve
    thresholds: NDArray[np.float64]
    pairs: list[EntityPairs]

    @classmethod
    def of(cls, forest: Forest, alpha: float, missing: float, scores: CutScores) -> ScoredForest:
        """Score some thresholds of a forest."""
        curve = scores.curve(forest)
        finite = np.isfinite(curve.thresholds)
        good = curve.thresholds[finite & (curve.f1 >= curve.f1[finite].max() - _WORTH_A_LOOK)]
        at = np.linspace(good[0], good[-1], _LOOKS)
        points = np.unique(np.searchsorted(curve.heights, at, side="right") - 1)
        some = curve.thresholds[points]
        pairs = [scores.pairs(clusters) for clusters in forest.labels_at(some)]
        return cls(alpha, missing, forest, curve, some, pairs)

    def scores(self, entities: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """Score of every threshold, on some of the entities."""
        pairs = self.pairs if entities is None else [one.where(entities) for one in self.pairs]
        return np.array([one.score for one in pairs])

    def cut(self, scores: NDArray[np.float64]) -> GraphCut:
        """The cut in the middle of the best thresholds; see `middle_threshold`."""
        return GraphCut(
            self.alpha, self.missing, middle_threshold(self.thresholds, scores, self.missing)
        )


class ChosenCut(NamedTuple):
    """A cut, the scores of all thresholds of its linkage, the forest, and the pairs of the cut.

    The pairs of a cut that was chosen by scores are held out: those of every entity at the cut that
    the entities of other folds have chosen.
    """

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
    depends on which they are. So it is cross-validated: it is taken if the cuts that two folds
    choose are better on the third than even odds, by a standard error over entities.

    Args:
        edges: scored by models that have not seen the entities of the pair.
        n: records.
        scores: of cuts.
        cannot_link: pairs that are kept apart.
    """
    tried = [
        ScoredForest.of(
            cluster_graph(edges, n, alpha, missing, cannot_link), alpha, missing, scores
        )
        for missing in MISSING
        for alpha in ALPHAS
    ]
    usual = tried[0]
    at_even = scores.pairs(usual.forest.labels_at(EVEN))
    folds = [scores.fold == k for k in np.unique(scores.fold)]
    if len(folds) > 1:
        chosen = (_best(tried, ~fold) for fold in folds)
        held_out = EntityPairs.joined(
            [
                scores.pairs(scored.forest.labels_at(cut.threshold)).where(fold)
                for fold, (scored, cut) in zip(folds, chosen, strict=True)
            ]
        )
        if held_out.clearly_better(EntityPairs.joined([at_even.where(fold) for fold in folds])):
            scored, cut = _best(tried)
            return ChosenCut(cut, scored.curve, scored.forest, held_out)
    return ChosenCut(DEFAULT, usual.curve, usual.forest, at_even)


def _best(
    tried: Sequence[ScoredForest], entities: NDArray[np.bool_] | None = None
) -> tuple[ScoredForest, GraphCut]:
    """The linkage and cut with the best score on some entities."""
    scores = [scored.scores(entities) for scored in tried]
    k = int(np.argmax([one.max() for one in scores]))
    return tried[k], tried[k].cut(scores[k])


def middle_threshold(
    thresholds: NDArray[np.float64], scores: NDArray[np.float64], missing: float
) -> float:
    """A threshold inside the range around the best one in which scores are as good, to a tolerance.

    Even odds (0) if that lies in the range, else its middle. Entities of new records are a little
    closer together or further apart than the labelled ones; a threshold at the end of the range
    would split or join some of them.
    """
    k = int(scores.argmax())
    worse = np.flatnonzero(scores < scores[k] - _TOLERANCE)
    first = int(worse[worse < k].max(initial=-1)) + 1
    last = int(worse[worse > k].min(initial=len(scores))) - 1
    most = float(np.nextafter(missing, -np.inf))
    low, high = (min(float(thresholds[end]), most) for end in (first, last))
    if low <= EVEN <= high:
        return EVEN
    return (low + high) / 2 if np.isfinite(low) else high
