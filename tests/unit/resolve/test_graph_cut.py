"""The cut of a graph: even odds, unless entities of every size ask for another."""

import numpy as np
import pytest

from supclust.resolve.forest_scores import EntityPairs, threshold_curve
from supclust.resolve.graph_cut import (
    DEFAULT,
    EVEN,
    CutScores,
    ScoredForest,
    choose_cut,
    cluster_graph,
)
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
    """Scores of cuts, three folds; without entities: F1 alone."""
    scores = CutScores.of_labels(labels, True, np.maximum(labels, 0) % 3)
    if entities:
        return scores

    def pairs(clusters):
        made = EntityPairs.of(labels, clusters, True)
        return made._replace(size=np.empty(0), precision=np.empty(0), recall=np.empty(0))

    return scores._replace(pairs=pairs)


def test_small_entities_have_a_say_in_the_threshold():
    edges, labels = one_large_many_small()
    forest = cluster_graph(edges, len(labels), 0.0, 4.0, None)
    alone, both = (
        ScoredForest.of(forest, 0.0, 4.0, scores_of(labels, entities)) for entities in (False, True)
    )
    high, low = (one.thresholds[one.scores().argmax()] for one in (alone, both))
    assert high > 1.0 > low
    chosen = choose_cut(edges, len(labels), scores_of(labels))
    assert chosen.cut.threshold < -1.0
    f1 = chosen.pairs.scores[2]
    assert chosen.pairs.score == pytest.approx((f1 + chosen.pairs.bcubed.mean()) / 2)


def test_points_of_a_curve_are_its_own():
    edges, labels = one_large_many_small()
    forest = cluster_graph(edges, len(labels), 0.0, 4.0, None)
    curve = threshold_curve(forest, labels, True)
    scored = ScoredForest.of(forest, 0.0, 4.0, scores_of(labels, entities=False))
    assert np.isfinite(scored.thresholds).all()
    at = np.searchsorted(curve.thresholds, scored.thresholds)
    assert curve.thresholds[at] == pytest.approx(scored.thresholds)
    assert scored.scores() == pytest.approx(curve.f1[at])


@pytest.mark.parametrize("seed", range(3))
def test_scores_of_some_entities_are_those_without_the_labels_of_others(seed):
    rng = np.random.default_rng(seed)
    labels, clusters = rng.integers(-1, 9, 60), rng.integers(0, 12, 60)
    scores = CutScores.of_labels(labels, True, labels % 3)
    for k in range(3):
        some = scores.pairs(clusters).where(scores.fold == k)
        alone = EntityPairs.of(np.where(labels % 3 == k, labels, -1), clusters, True)
        # A pair of two labelled entities counts one half for each, of one with a stranger too.
        for part, expected in zip(some, alone, strict=True):
            assert part == pytest.approx(expected)


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


def test_a_cut_that_folds_do_not_confirm_is_not_taken():
    """A third of the entities are far apart, in every fold at another height, strangers above."""
    edges, labels = [], []
    for entity in range(45):
        at, hard = len(labels), entity >= 30
        labels += [entity] * 2 + [-1] * 3 * hard
        height = entity % 3 + 1.0 if hard else -3.0
        for i, j in zip(*np.triu_indices(len(labels) - at, 1), strict=True):
            edges.append((at + i, at + j, height if j == 1 else height + 0.5))
    left, right, value = (np.array(part) for part in zip(*edges, strict=True))
    graph = Edges(left.astype(np.int32), right.astype(np.int32), value.astype(np.float32))
    labels = np.array(labels)
    scores = scores_of(labels)
    chosen = choose_cut(graph, len(labels), scores)
    best = scores.pairs(chosen.forest.labels_at(1.2))
    assert best.clearly_better(scores.pairs(chosen.forest.labels_at(EVEN)))
    assert chosen.cut == DEFAULT


def test_the_pairs_of_a_chosen_cut_are_held_out():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(60), 2)
    left = np.arange(0, 120, 2).astype(np.int32)
    height = rng.uniform(-1, 3, 60).astype(np.float32)
    labels[1::2][height > 1.5 + rng.normal(0, 1, 60)] += 60  # strangers, most of them
    edges = Edges(left, left + 1, height)
    scores = scores_of(labels)
    chosen = choose_cut(edges, 120, scores)
    assert chosen.cut != DEFAULT
    expected = []
    for fold in (scores.fold == k for k in range(3)):
        scored = ScoredForest.of(chosen.forest, 0.0, chosen.cut.missing, scores)
        threshold = scored.cut(scored.scores(~fold)).threshold
        expected += scores.pairs(chosen.forest.labels_at(threshold)).bcubed[fold].tolist()
    assert chosen.pairs.bcubed == pytest.approx(expected)
    in_sample = scores.pairs(chosen.forest.labels_at(chosen.cut.threshold))
    assert chosen.pairs.score < in_sample.score


def test_a_threshold_that_most_entities_ask_for_is_taken():
    labels = np.repeat(np.arange(20), 3)
    found = cut_of(labels, lambda same: np.where(same, 1.0, 3.5))
    assert 1 < found.cut.threshold < 3.5
    assert found.pairs.score == 1
    assert len(found.pairs.size) == 20
    clusters = found.forest.labels_at(found.cut.threshold)
    assert len(np.unique(clusters)) == 20
