"""Choices of training on a bare table: columns, weights, pair models, thresholds."""

import numpy as np
import pytest

from supclust.data.records.comparisons import Comparison, RecordComparisons
from supclust.metrics.threshold import ThresholdCurve
from supclust.resolve.graph_cut import middle_threshold
from supclust.resolve.pair_model import average, train_boosted, train_logistic
from supclust.resolve.train import entity_weights, useless_columns
from supclust.resolve.training_pairs import LabelledPairs


def labelled(n=600, seed=0):
    """Names that decide, and numbers that do not; (comparisons, values, pairs)."""
    rng = np.random.default_rng(seed)
    entity = rng.integers(0, 60, n)
    names = ["".join(rng.choice(list("abcdefgh"), 8)) for _ in range(60)]
    values = {
        "name": [names[k] for k in entity],
        "position": rng.integers(0, 9, n).astype(float),
    }
    comparisons = RecordComparisons((Comparison("name", "text"), Comparison("position", "number")))
    left, right = rng.integers(0, n, (2, 4000))
    match = rng.choice(np.flatnonzero(entity == entity[0]), (2, 300))
    left, right = np.append(left, match[0]), np.append(right, match[1])
    pairs = LabelledPairs(left, right, entity[left] == entity[right], np.ones(len(left)))
    return comparisons, values, pairs


def test_columns_that_say_nothing_are_found():
    assert useless_columns(*labelled()) == ["position"]


def test_the_last_column_is_never_left_out():
    comparisons, values, pairs = labelled()
    assert useless_columns(comparisons.without(["position"]), values, pairs) == []


def test_directions_follow_the_features():
    comparisons, _, _ = labelled()
    by_name = dict(zip(comparisons.feature_names, comparisons.directions, strict=True))
    assert by_name["name: Jaro-Winkler"] == 1
    assert by_name["position: difference"] == -1


def test_boosted_trees_never_rise_against_a_direction():
    rng = np.random.default_rng(0)
    X = rng.random((3000, 2)).astype(np.float32)
    same = rng.random(3000) < np.where(np.abs(X[:, 0] - 0.5) < 0.2, 0.1, 0.6)  # not monotone
    model = train_boosted(X, same, np.ones(3000), (1, 0))
    line = np.column_stack([np.linspace(0, 1, 200), np.full(200, 0.5)]).astype(np.float32)
    assert (np.diff(model.dissimilarity(line)) <= 1e-12).all()


@pytest.mark.parametrize("family", ["boosted", "logistic"])
def test_the_average_of_pair_models_has_the_mean_dissimilarity(family):
    rng = np.random.default_rng(0)
    X = rng.random((900, 3)).astype(np.float32)
    same = X[:, 0] + rng.normal(0, 0.2, 900) > 0.6
    train = train_boosted if family == "boosted" else train_logistic
    models = [train(X[k::3], same[k::3], np.ones(300)) for k in range(3)]
    mean = np.mean([one.dissimilarity(X) for one in models], axis=0)
    assert np.allclose(average(models).dissimilarity(X), mean, atol=1e-5)


def test_matches_weigh_by_records_of_their_entity():
    labels = np.array([0, 0, 1, 1, 1, 1, -1])
    left, right = np.array([0, 2, 2, 2, 0]), np.array([1, 3, 4, 5, 6])
    pairs = LabelledPairs(left, right, np.array([1, 1, 1, 1, 0], bool), np.ones(5))
    weight = entity_weights(pairs, labels)
    assert weight[:4].sum() == pytest.approx(4)
    assert weight[0] == pytest.approx(2 * weight[1])
    assert weight[4] == 1


@pytest.mark.parametrize(
    ("thresholds", "f1", "expected"),
    [
        ([-3.0, -2.0, -1.0, 1.0, 2.0], [0.2, 0.9, 0.9, 0.9, 0.5], 0.0),  # even odds are as good
        ([-9.0, -4.0, -2.0, 1.0], [0.2, 0.9, 0.9, 0.5], -3.0),  # the middle
        ([-9.0, 1.0, 2.0, 8.0], [0.1, 0.2, 0.9, 0.9], 3.0),  # below what a missing pair counts
        ([-np.inf, 3.0], [0.0, 0.7], 3.0),
    ],
)
def test_thresholds_lie_inside_the_range_of_the_best(thresholds, f1, expected):
    heights, scores = np.array(thresholds), np.array(f1)
    curve = ThresholdCurve(heights, heights, scores, scores, scores)
    assert middle_threshold(curve, 4.0) == pytest.approx(expected)
