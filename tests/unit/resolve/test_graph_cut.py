"""The cut of a graph: large entities do not decide it alone."""

import numpy as np
import pytest

from supclust.metrics.threshold import ThresholdCurve
from supclust.resolve.forest_scores import mean_entity_f1, threshold_curve
from supclust.resolve.graph_cut import choose_cut, cluster_graph, with_entities
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
    found = mean_entity_f1(clusters, labels, complete)
    assert found == pytest.approx(naive_mean(clusters, labels, complete))


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


def test_small_entities_have_a_say_in_the_threshold():
    edges, labels = one_large_many_small()

    def curve(forest):
        return threshold_curve(forest, labels, True)

    def entities(clusters):
        return mean_entity_f1(clusters, labels, True)

    alone = choose_cut(edges, len(labels), curve)
    both = choose_cut(edges, len(labels), curve, None, entities)
    assert alone.cut.threshold > 1.0 > both.cut.threshold
    assert both.f1 == alone.f1  # that of the linkage, at any threshold
    clusters = both.forest.labels_at(both.cut.threshold)
    assert both.score == pytest.approx((curve_at(both) + entities(clusters)) / 2)


def curve_at(chosen):
    at = np.searchsorted(chosen.curve.heights, chosen.cut.threshold, side="right") - 1
    return chosen.curve.f1[at]


def test_points_of_a_curve_are_its_own():
    edges, labels = one_large_many_small()
    forest = cluster_graph(edges, len(labels), 0.0, 4.0, None)
    curve = threshold_curve(forest, labels, True)
    some = with_entities(curve, forest, lambda clusters: 1.0)
    assert isinstance(some, ThresholdCurve)
    assert np.isin(some.heights, curve.heights).all()
    assert np.isfinite(some.thresholds).all()
    at = np.searchsorted(curve.heights, some.heights)
    assert some.f1 == pytest.approx((curve.f1[at] + 1) / 2)
