"""Choices of training on a bare table: columns, weights, pair models, thresholds."""

import numpy as np
import pytest

from supclust.data.records.comparisons import Comparison, RecordComparisons
from supclust.resolve import train
from supclust.resolve.graph_cut import middle_threshold
from supclust.resolve.pair_model import train_boosted, train_logistic
from supclust.resolve.scoring import Compared
from supclust.resolve.train import entity_weights, train_pairs, useless_columns
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


def test_the_first_trees_do_not_overshoot_where_matches_are_rare():
    rng = np.random.default_rng(0)
    X = rng.random((40_000, 1)).astype(np.float32)
    same = (X[:, 0] > 0.99) & (rng.random(40_000) < 0.75)
    weight = np.where(same, 1.0, 50.0)  # of pairs, 1 in 10,000 is a match
    model = train_boosted(X, same, weight, (1,), rounds=20)
    true = np.log(0.75 / (50 * 0.25))
    assert -model.dissimilarity(X).max() < true + 1
    assert -model.dissimilarity(X).min() < true + 1


def test_boosting_stops_where_held_out_entities_are_described_best(monkeypatch):
    table, pairs, labels = compared(1_000)
    losses = dict.fromkeys(train.ROUNDS, 0.5) | {train.ROUNDS[2]: 0.4}

    def rounds_of(model):
        return model.booster.to_text().count("\nTree=")

    def loss(models, *_):
        lengths = {rounds_of(model) for model in models}
        assert len(lengths) == 1
        return losses[lengths.pop()]

    monkeypatch.setattr(train, "_held_out_loss", loss)
    trained = train_pairs(table, pairs, labels)
    assert trained.losses == {"boosted": 0.4}
    assert {rounds_of(model) for model in (*trained.folds, trained.model)} == {train.ROUNDS[2]}


def test_weights_of_the_logistic_model_follow_the_directions():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 3)).astype(np.float32)
    same = X[:, 0] - X[:, 1] + X[:, 2] + rng.normal(0, 0.1, 2000) > 0.5
    free = train_logistic(X, same, np.ones(2000))
    assert (np.sign(free.weight) == [-1, 1, -1]).all()
    bound = train_logistic(X, same, np.ones(2000), (1, 1, -1))
    assert bound.weight[0] < 0  # the dissimilarity falls
    assert bound.weight[1] == bound.weight[2] == 0


def test_a_feature_that_hardly_ever_differs_gets_no_large_weight():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(5000), np.zeros(5000)]).astype(np.float32)
    same = X[:, 0] > 0.9
    X[np.flatnonzero(same)[:1], 1] = 0.2  # one pair, which is a match
    model = train_logistic(X, same, np.ones(5000))
    assert abs(model.weight[1]) < 5


def compared(entities, seed=0):
    """Two records each of some entities, whose names decide; (table, pairs, labels)."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(entities), 2)
    names = ["".join(rng.choice(list("abcdefgh"), 8)) for _ in range(entities)]
    comparisons = RecordComparisons((Comparison("name", "text"),))
    table = Compared(comparisons, comparisons.encode({"name": [names[k] for k in labels]}))
    left = np.concatenate([np.arange(0, len(labels), 2), rng.integers(0, len(labels), 2000)])
    right = np.concatenate([np.arange(1, len(labels), 2), rng.integers(0, len(labels), 2000)])
    kept = left != right
    left, right = left[kept], right[kept]
    pairs = LabelledPairs(left, right, labels[left] == labels[right], np.ones(len(left)))
    return table, pairs, labels


def test_few_entities_have_the_logistic_model_unless_trees_are_clearly_better(monkeypatch):
    table, pairs, labels = compared(150)
    losses = {"logistic": 1.0, "boosted": 0.95}
    trained = []

    def loss(models, *_):
        family = type(models[0]).__name__.lower()
        if family not in trained[-1:]:
            trained.append(family)
        return losses[family]

    monkeypatch.setattr(train, "_held_out_loss", loss)
    assert train_pairs(table, pairs, labels).family == "logistic"
    losses["boosted"] = 0.9
    assert train_pairs(table, pairs, labels).family == "boosted"
    assert trained == ["logistic", "boosted"] * 2


def test_the_pair_model_is_that_of_all_entities(monkeypatch):
    table, pairs, labels = compared(150)
    monkeypatch.setattr(train, "_TOO_FEW", 1_000)
    made = train_pairs(table, pairs, labels)
    assert list(made.losses) == ["logistic"]
    features = table.features(pairs.left, pairs.right, False)
    weight = entity_weights(pairs, labels)
    again = train_logistic(features, pairs.same, weight, table.comparisons.directions)
    assert np.array_equal(made.model.weight, again.weight)


@pytest.mark.parametrize(
    ("entities", "limits"),
    [(1000, {}), (150, {"_ENOUGH": 150}), (150, {"_ENOUGH_RECORDS": 300})],
)
def test_many_entities_or_records_have_boosted_trees(entities, limits, monkeypatch):
    for name, limit in limits.items():
        monkeypatch.setattr(train, name, limit)
    trained = train_pairs(*compared(entities))
    assert trained.family == "boosted"
    assert list(trained.losses) == ["boosted"]


@pytest.mark.parametrize(("limit", "weighted"), [(300, True), (301, False)])
def test_strangers_weigh_by_entity_from_many_records_on(limit, weighted, monkeypatch):
    seen = []

    def weights(pairs, labels, complete):
        seen.append(complete)
        return pairs.weight

    monkeypatch.setattr(train, "_ENOUGH_RECORDS", limit)
    monkeypatch.setattr(train, "entity_weights", weights)
    table, pairs, labels = compared(150)
    train_pairs(table, pairs, labels, complete=True)
    train_pairs(table, pairs, labels, complete=False)
    assert seen == [weighted, False]


def test_matches_weigh_by_records_of_their_entity():
    labels = np.array([0, 0, 1, 1, 1, 1, -1])
    left, right = np.array([0, 2, 2, 2, 0]), np.array([1, 3, 4, 5, 6])
    pairs = LabelledPairs(left, right, np.array([1, 1, 1, 1, 0], bool), np.ones(5))
    weight = entity_weights(pairs, labels)
    assert weight[:4].sum() == pytest.approx(4)
    assert weight[0] == pytest.approx(2 * weight[1])
    assert weight[4] == 1


def test_with_complete_labels_strangers_weigh_likewise():
    labels = np.array([0, 0, 1, 1, 1, 1, -1, -1])
    left, right = np.array([0, 2, 0, 0, 2, 6]), np.array([1, 3, 2, 6, 6, 7])
    pairs = LabelledPairs(left, right, np.array([1, 1, 0, 0, 0, 0], bool), np.ones(6))
    weight = entity_weights(pairs, labels, complete=True)
    assert weight[:5].sum() == pytest.approx(5)
    # 1 / size of the entity of each labelled end.
    assert weight[:5] / weight[0] == pytest.approx([1, 0.5, 0.75, 0.5, 0.25])
    assert weight[5] == 1  # judged, without labels


def test_a_large_entity_does_not_decide_how_frequent_matches_are():
    labels = np.repeat(np.arange(51), [100, *[2] * 50])
    left, right = np.triu_indices(200, 1)
    same = labels[left] == labels[right]
    # Of every labelled record: its matches, and five strangers.
    left = np.append(left[same], np.repeat(np.arange(200), 5))
    right = np.append(right[same], np.arange(200, 1200))
    labels = np.append(labels, np.full(1000, -1))
    pairs = LabelledPairs(left, right, labels[left] == labels[right], np.ones(len(left)))
    assert pairs.same.sum() == 5 * (~pairs.same).sum()
    weight = entity_weights(pairs, labels, complete=True)
    # Matches and strangers of a record, the mean of an entity, summed over the entities.
    expected = (99 + 50) / (51 * 5)
    assert weight[pairs.same].sum() / weight[~pairs.same].sum() == pytest.approx(expected)


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
    found = middle_threshold(np.array(thresholds), np.array(f1), 4.0)
    assert found == pytest.approx(expected)
