"""Pairs that a person judged, as supervision: alone, or beside labels.

Records of matches are one entity. Records of a pair that does not match are different; about all
other pairs judged pairs say nothing, so that without labels they alone are trained on and scored.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.records.judged_pairs import JudgedPairs
from supclust.hac.graph.forest import Forest
from supclust.hac.tree import children_of
from supclust.kernels import kernel
from supclust.metrics.purity import MergePairs
from supclust.metrics.threshold import ThresholdCurve, curve_from_merges
from supclust.resolve.blocking.candidates import Candidates
from supclust.resolve.blocking.keys import Ints
from supclust.resolve.forest_scores import EntityPairs, tree_of
from supclust.resolve.graph_cut import CutScores
from supclust.resolve.pair_model import train_logistic
from supclust.resolve.scoring import Compared
from supclust.resolve.training_pairs import LabelledPairs

_SAMPLE = 20_000  # candidates on which the share of matches is estimated
_STEPS = 50  # of expectation maximisation
_LEAST = 1e-6  # share of matches


def with_matches(labels: Ints, judged: JudgedPairs) -> Ints:
    """Labels completed by matches: records that matches connect are one entity.

    Args:
        labels: (n,) entity, -1: not known.
        judged: pairs of rows.

    Raises:
        DataError: matches connect two labelled entities, or a pair that does not match.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n = len(labels)
    match = judged.match
    ones = np.ones(int(match.sum()), np.bool_)
    graph = coo_matrix((ones, (judged.left[match], judged.right[match])), (n, n))
    _, component = connected_components(graph, directed=False)
    _refuse_contradictions(labels, judged, component)
    touched = np.zeros(n, np.bool_)
    touched[judged.left[match]] = touched[judged.right[match]] = True
    known = np.flatnonzero(labels >= 0)
    of_component = np.full(n, -1, np.int64)
    of_component[component[known]] = labels[known]
    completed = np.where(touched & (labels < 0), of_component[component], labels)
    new = np.flatnonzero(touched & (completed < 0))
    if len(new):
        first = int(labels.max(initial=-1)) + 1
        completed[new] = first + np.unique(component[new], return_inverse=True)[1]
    return completed


def _refuse_contradictions(labels: Ints, judged: JudgedPairs, component: Ints) -> None:
    known = np.flatnonzero(labels >= 0)
    pairs = np.unique(np.column_stack([component[known], labels[known]]), axis=0)
    repeated = len(pairs) - len(np.unique(pairs[:, 0])) if len(pairs) else 0
    if repeated:
        raise DataError(
            f"{repeated:,} entities are connected to another by pairs that match. Correct the "
            "labels or the pairs"
        )
    apart = ~judged.match
    wrong = int((component[judged.left[apart]] == component[judged.right[apart]]).sum())
    a, b = labels[judged.left[apart]], labels[judged.right[apart]]
    wrong += int(((a >= 0) & (a == b)).sum())
    if wrong:
        raise DataError(
            f"{wrong:,} pairs do not match although labels or other pairs say that their records "
            "are of one entity. Correct the labels or the pairs"
        )


def judged_training_pairs(
    judged: JudgedPairs, table: Compared, candidates: Candidates, total: int, seed: int = 0
) -> LabelledPairs:
    """The judged pairs to train on, weighted to the share of matches among the candidates.

    People judge about as many matches as others, where among candidates matches are few. Their
    share is estimated by expectation maximisation (Saerens, Latinne and Decaestecker, 2002).

    Args:
        judged: pairs of rows.
        table: the records.
        candidates: of the table.
        total: number of candidates.
        seed: of the sample of candidates.
    """
    features = table.features(judged.left, judged.right, False)
    model = train_logistic(features, judged.match, np.ones(len(judged.left)))
    rng = np.random.default_rng(seed)
    values = []
    for left, right in candidates.chunks():
        some = rng.random(len(left)) < _SAMPLE / max(1, total)
        values.append(-model.dissimilarity(table.features(left[some], right[some], False)))
    share = float(judged.match.mean())
    prior = share_of_matches(np.concatenate([*values, np.empty(0)]), share)
    weight = np.where(judged.match, prior / share, (1 - prior) / (1 - share))
    return LabelledPairs(judged.left, judged.right, judged.match, weight)


def share_of_matches(log_odds: NDArray[np.float64], trained: float) -> float:
    """Share of matches among pairs whose log odds come from a model of another share.

    >>> round(share_of_matches(np.array([9.0, -9.0, -9.0, -9.0]), 0.5), 2)
    0.25
    """
    prior = trained
    for _ in range(_STEPS):
        shift = np.log(prior / (1 - prior)) - np.log(trained / (1 - trained))
        mean = float((1 / (1 + np.exp(np.clip(-log_odds - shift, -50, 50)))).mean())
        prior = min(max(mean, _LEAST), 1 - _LEAST) if len(log_odds) else trained
    return prior


def and_judged(pairs: LabelledPairs, judged: JudgedPairs) -> LabelledPairs:
    """Labelled pairs, and the judged ones that do not match (matches have become labels)."""
    apart = ~judged.match
    more = LabelledPairs(
        *(judged.left[apart], judged.right[apart], judged.match[apart]), np.ones(int(apart.sum()))
    )
    return LabelledPairs(*(np.concatenate(part) for part in zip(pairs, more, strict=True)))


def judged_curve(forest: Forest, judged: LabelledPairs) -> ThresholdCurve:
    """Precision, recall and F1 of judged pairs, weighted, at every threshold of a forest."""
    Z = tree_of(forest)
    meeting = _meeting(children_of(Z), judged.left, judged.right)
    weight = judged.weight
    joined = np.bincount(meeting, weight, minlength=len(Z))
    same = np.bincount(meeting[judged.same], weight[judged.same], minlength=len(Z))
    return curve_from_merges([MergePairs(Z[:, 2], joined, same, np.zeros(len(Z)))])


def judged_pairs_of(clusters: Ints, judged: LabelledPairs) -> EntityPairs:
    """Judged pairs of a clustering, weighted."""
    joined = clusters[judged.left] == clusters[judged.right]
    true, predicted, shared = (
        judged.weight * which for which in (judged.same, joined, judged.same & joined)
    )
    return EntityPairs(true, predicted, shared, *[np.empty(0)] * 3)


def judged_scores(judged: LabelledPairs, fold: Ints) -> CutScores:
    """How cuts are scored on judged pairs.

    Args:
        judged: pairs of rows.
        fold: (n,) of the records in matches, by entity; -1 for others.
    """
    of_pair = np.maximum(fold[judged.left], fold[judged.right])
    return CutScores(
        partial(judged_curve, judged=judged), partial(judged_pairs_of, judged=judged), of_pair
    )


@kernel
def _meeting(children: Ints, left: Ints, right: Ints) -> NDArray[np.int64]:
    """(p,) the merge that joins each pair of points: climb from the node that was made earlier."""
    n = children.shape[0] + 1
    parent = np.empty(2 * n - 1, np.int64)
    for k in range(n - 1):
        parent[children[k, 0]] = parent[children[k, 1]] = n + k
    meeting = np.empty(len(left), np.int64)
    for p in range(len(left)):
        a, b = left[p], right[p]
        while a != b:
            if a < b:
                a = parent[a]
            else:
                b = parent[b]
        meeting[p] = a - n
    return meeting
