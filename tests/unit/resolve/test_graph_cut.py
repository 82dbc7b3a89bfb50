"""The cut of a graph: even odds, unless entities of every size ask for another."""

from functools import partial

import numpy as np
import pytest

from supclust.metrics.threshold import ThresholdCurve
from supclust.resolve.forest_scores import EntityPairs, threshold_curve
from supclust.resolve.graph_cut import DEFAULT, CutScores, choose_cut, cluster_graph, with_entities
from supclust.resolve.scoring import Edges


def naive_mean(clusters, labels, complete):
    """Mean over entities of 2 P R / (P + R), P and R means over their records."""
    known = np.flatnonzero(labels >= 0)
    counted = np.arange(len(labels)) if complete else known
    scores = []
    for entity in np.unique(labels[known]):
        mine = np.flatnonzero(labels == entity)
        precision = recall = 0.0
        for record in mine:
            together = [j for j in counted if clusters[j] == clusters[record]]
            right = sum(labels[j] == entity for j in together)
            precision += right / len(together) / len(mine)
            recall += right / len(mine) / len(mine)
        scores.append(2 * precision * recall / (precision + recall))
    return np.mean(scores)


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_mean_of_entities_is_the_naive_one(seed, complete):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    labels, clusters = rng.integers(-1, 5, n), rng.integers(0, rng.integers(1, 9), n)
    labels[0] = 3  # some numbers may have no records
    pairs = EntityPairs.of(labels, clusters, complete)
    assert pairs.bcubed.mean() == pytest.approx(naive_mean(clusters, labels, complete))


def one_large_many_small():
    """A large entity of two halves at 1.0; small ones, each with a stranger at -1.0."""
    left, right, value, labels = [], [], [], [0] * 40
    for a in range(40):
        for b in range(a + 1, 40):
            left.append(a)
            right.append(b)
            value.append(-3.0 if (a < 36) == (b < 36) else 1.0)
    for k in range(30):
        n = len(labels)
        labels += [k + 1, k + 1, -1]
        left += [n, n, n + 1]
        right += [n + 1, n + 2, n + 2]
        value += [-3.0, -1.0, -1.0]
    edges = Edges(np.array(left, np.int32), np.array(right, np.int32), np.array(value, np.float32))
    return edges, np.array(labels)


def scores_of(labels, entities=True):
    """Scores of cuts; without entities: F1 alone."""

    def pairs(clusters):
        made = EntityPairs.of(labels, clusters, True)
        return made if entities else made._replace(bcubed=np.empty(0))

    return CutScores(partial(threshold_curve, labels=labels, complete=True), pairs)


def test_small_entities_have_a_say_in_the_threshold():
    edges, labels = one_large_many_small()
    forest = cluster_graph(edges, len(labels), 0.0, 4.0, None)
    alone, both = (
        with_entities(threshold_curve(forest, labels, True), forest, scores_of(labels, entities))
        for entities in (False, True)
    )
    high, low = (one.thresholds[one.f1.argmax()] for one in (alone, both))
    assert high > 1.0 > low
    chosen = choose_cut(edges, len(labels), scores_of(labels))
    assert chosen.cut.threshold < -1.0
    f1 = chosen.pairs.scores[2]
    assert chosen.pairs.score == pytest.approx((f1 + chosen.pairs.bcubed.mean()) / 2)


def test_points_of_a_curve_are_its_own():
    edges, labels = one_large_many_small()
    forest = cluster_graph(edges, len(labels), 0.0, 4.0, None)
    curve = threshold_curve(forest, labels, True)
    some = with_entities(curve, forest, scores_of(labels, entities=False))
    assert isinstance(some, ThresholdCurve)
    assert np.isin(some.heights, curve.heights).all()
    assert np.isfinite(some.thresholds).all()
    at = np.searchsorted(curve.heights, some.heights)
    assert some.f1 == pytest.approx(curve.f1[at])


def cut_of(labels, dissimilarity):
    """The cut of a table of which all pairs are compared."""
    left, right = np.triu_indices(len(labels), 1)
    value = dissimilarity(labels[left] == labels[right]).astype(np.float32)
    edges = Edges(left.astype(np.int32), right.astype(np.int32), value)
    return choose_cut(edges, len(labels), scores_of(labels))


def test_even_odds_are_kept_where_they_are_as_good():
    labels = np.repeat(np.arange(20), 3)
    found = cut_of(labels, lambda same: np.where(same, -2.0, 2.0))
    assert found.cut == DEFAULT
    assert found.pairs.score == 1


def test_a_threshold_that_one_entity_asks_for_is_not_taken():
    labels = np.repeat(np.arange(20), 3)

    def dissimilarity(same):
        value = np.where(same, -2.0, 3.5)
        value[np.flatnonzero(same)[:3]] = 1.0  # the records of one entity are far apart
        return value

    found = cut_of(labels, dissimilarity)
    assert found.cut == DEFAULT
    assert found.pairs.score < 1


def test_a_threshold_that_most_entities_ask_for_is_taken():
    labels = np.repeat(np.arange(20), 3)
    found = cut_of(labels, lambda same: np.where(same, 1.0, 3.5))
    assert 1 < found.cut.threshold < 3.5
    assert found.pairs.score == 1
    clusters = found.forest.labels_at(found.cut.threshold)
    assert len(np.unique(clusters)) == 20
