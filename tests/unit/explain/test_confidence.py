"""Confidence: what it is computed from, its calibration, and what is stored of it."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from tests.unit.resolve.test_bare_table import persons, run, write

from supclust.data.errors import DataError
from supclust.explain.calibration import auc, brier_skill, calibration_curve
from supclust.explain.confidence import Confidence, calibrate, confidence_columns
from supclust.explain.held_out import rightness
from supclust.explain.membership import Membership, membership
from supclust.hac import graph_linkage
from supclust.model import load
from supclust.resolve.scoring import Edges


def random_graph(seed: int) -> tuple[Edges, int, float, float, float]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < 0.2
    f = rng.normal(1, 2, int(kept.sum())).astype(np.float32)
    if seed % 2:
        f = np.round(f)
    edges = Edges(i[kept].astype(np.int32), j[kept].astype(np.int32), f)
    return edges, n, float(rng.choice([0.0, -0.5])), 4.0, float(rng.normal())


def test_membership_by_its_definition() -> None:
    for seed in range(40):
        edges, n, alpha, missing, threshold = random_graph(seed)
        close = edges.dissimilarity < missing
        forest = graph_linkage(
            tuple(one[close] for one in edges), n, "exp", alpha=alpha, missing=missing
        )
        found = membership(edges, forest, alpha, missing, threshold)
        square = np.full((n, n), missing)
        for a, b, f in zip(*(one[close] for one in edges), strict=True):
            square[a, b] = square[b, a] = f
        clusters = forest.labels_at(threshold)
        heights = [(h, a, b) for h, (a, b) in zip(forest.heights, forest.pairs, strict=True)]
        joined = {k: {k} for k in range(n)}
        join, top, following = (np.full(n, missing) for _ in range(3))
        for h, a, b in sorted(heights, key=lambda one: one[0]):
            for side in (joined[a], joined[b]):
                if len(side) == 1:
                    join[next(iter(side))] = h
                for node in side if h > threshold else ():
                    following[node] = min(following[node], h)
            union = joined[a] | joined[b]
            for node in union:
                joined[node] = union
                if h <= threshold:
                    top[node] = h
        np.testing.assert_allclose(found.join, join)
        np.testing.assert_allclose(found.top, top)
        np.testing.assert_allclose(found.next, following)
        for x in range(n):
            others = np.flatnonzero((clusters == clusters[x]) & (np.arange(n) != x))
            assert found.size[x] == len(others) + 1
            near = np.delete(square[x], x).min()
            assert found.nearest[x] == pytest.approx(near)
            if len(others):
                f = square[x, others]
                w = np.exp(alpha * f)
                assert found.rest[x] == pytest.approx((w * f).sum() / w.sum())
                assert found.probability[x] == pytest.approx((1 / (1 + np.exp(f))).mean())
            else:
                assert found.rest[x] == missing
                assert found.probability[x] == pytest.approx(1 - 1 / (1 + np.exp(near)))


def test_rightness_by_counting() -> None:
    rng = np.random.default_rng(0)
    for complete in (True, False):
        labels, clusters = rng.integers(-1, 6, 40), rng.integers(0, 12, 40)
        made = rightness(clusters, labels, complete)
        for x in range(40):
            others = [k for k in range(40) if k != x and clusters[k] == clusters[x]]
            kin = [k for k in range(40) if k != x and labels[k] == labels[x]]
            counted = [k for k in others if complete or labels[k] >= 0]
            if labels[x] < 0 or (others and not counted) or (not others and not complete):
                assert np.isnan(made[x])
            elif others:
                assert made[x] == np.mean([labels[k] == labels[x] for k in counted])
            else:
                assert made[x] == (not kin)


def test_calibration_curve() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    y = (rng.random(20_000) < p).astype(float)
    curve = calibration_curve(p, y)
    assert sum(curve.records) == 20_000
    assert curve.error < 0.015
    assert calibration_curve(np.sqrt(p), y).error > 0.1
    tied = calibration_curve(np.full(100, 0.3), np.ones(100))
    assert tied.records == [100]
    assert tied.error == pytest.approx(0.7)


def test_probabilities_that_are_off_are_calibrated() -> None:
    """Clusters of two whose pairs are right with a probability unlike that of the pair model."""
    rng = np.random.default_rng(0)
    pairs = 4000
    left = np.arange(0, 2 * pairs, 2)
    f = rng.uniform(-3, 0.4, pairs).astype(np.float32)
    same = rng.random(pairs) < 1 / (1 + np.exp(2 * f + 2))
    labels = np.repeat(np.arange(2 * pairs), 1)
    labels[left[same] + 1] = labels[left[same]]
    edges = Edges(left.astype(np.int32), (left + 1).astype(np.int32), f)
    forest = graph_linkage((left, left + 1, f), 2 * pairs, "exp", alpha=0.0, missing=4.0)
    found = membership(edges, forest, 0.0, 4.0, 0.5)
    fold = np.repeat(rng.integers(0, 3, pairs), 2)
    made = calibrate(found, rightness(found.cluster, labels, True), labels, fold)
    assert made is not None
    assert made.curve.error < 0.02
    assert made.raw_error > 0.1
    confidence = made.of(found)
    expected = 1 / (1 + np.exp(2 * f + 2))
    assert np.abs(confidence[left] - expected).mean() < 0.03
    again = Confidence.from_json(made.to_json())
    np.testing.assert_array_equal(again.of(found), confidence)
    assert again.skill == made.skill > 0.3
    unknown = np.full(2 * pairs, -1)
    assert calibrate(found, np.full(2 * pairs, np.nan), unknown, unknown) is None
    in_one_fold = np.zeros(2 * pairs, np.int64)  # as with one labelled entity: none can be held out
    assert calibrate(found, rightness(found.cluster, labels, True), labels, in_one_fold) is None


def standing(entities: int, each: int, seed: int) -> tuple[Membership, np.ndarray]:
    """Clusters of as many records, which all stand alike; and the entity of each."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(entities), each)
    noise = [rng.normal(size=entities)[labels] for _ in range(5)]
    log_odds = rng.normal(2, 2, entities)[labels]
    size = np.full(len(labels), each)
    p = 1 / (1 + np.exp(-log_odds))
    rest, nearest, join, top, following = noise
    return Membership(labels, size, rest, p, nearest, join, top, following), labels


def test_many_records_of_few_entities_do_not_make_a_steep_function() -> None:
    """What chance tells about 20 entities is not believed 100 times more than of 20 records."""
    found, labels = standing(20, 100, seed=1)
    right = np.where(np.random.default_rng(2).random(20) < 0.8, 1.0, 0.3)[labels]
    made = calibrate(found, right, labels, labels % 3)
    once = Membership(*(one[::100] for one in found))
    once = once._replace(size=found.size[::100])
    single = calibrate(once, right[::100], labels[::100], labels[::100] % 3)
    assert made is not None
    assert single is not None
    np.testing.assert_allclose(made.together, single.together, atol=1e-3)
    assert np.ptp(made.of(found)) < 0.5
    assert made.of(found).mean() == pytest.approx(right.mean(), abs=0.02)


def test_confidence_never_falls_with_the_probability_of_the_pairs() -> None:
    found, labels = standing(500, 3, seed=3)
    made = calibrate(found, 1 - found.probability, labels, labels % 3)
    assert made is not None
    assert made.together[1] == 0
    truly = (np.random.default_rng(4).random(500) < found.probability[::3])[labels]
    made = calibrate(found, truly.astype(float), labels, labels % 3)
    assert made is not None
    assert made.together[1] > 0.5
    assert made.curve.error < 0.1
    assert made.skill > 0.1


def test_what_probabilities_tell_apart() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        p, y = rng.integers(0, 5, 30) / 4, rng.integers(0, 3, 30) / 2
        higher = (p[:, None] > p) + (p[:, None] == p) / 2
        pairs = y[:, None] * (1 - y)
        assert auc(p, y) == pytest.approx((pairs * higher).sum() / pairs.sum())
        skill = 1 - ((p - y) ** 2).mean() / ((0.3 - y) ** 2).mean()
        assert brier_skill(p, y, 0.3) == pytest.approx(skill)
    assert np.isnan(auc(p, np.ones(30)))
    assert np.isnan(brier_skill(p, np.ones(30), 1.0))


def test_damaged_confidence_is_refused() -> None:
    good = {
        "together": [0.0] * 6,
        "alone": [],
        "curve": {"confidence": [], "observed": [], "records": []},
        "raw_error": 0.1,
    }
    assert Confidence.from_json(good).alone == ()
    for name, value in {
        "together": [0.0] * 5,
        "alone": [0.0],
        "curve": {},
        "raw_error": None,
    }.items():
        with pytest.raises(DataError, match="the model's confidence"):
            Confidence.from_json({**good, name: value})
    with pytest.raises(DataError, match="finite"):
        Confidence.from_json({**good, "together": [float("nan")] * 6})


def test_columns_of_the_command(tmp_path) -> None:
    rows, labels = persons(150, seed=3)
    known = [f"p{k}" if k < 90 else "" for k in labels]
    table = write(tmp_path / "t.csv", rows, known)
    assert run("fit", table, "--label", "entity", "-o", tmp_path / "m") == 0
    assert run("cluster", table, "--model", tmp_path / "m", "-o", tmp_path / "c.csv") == 0
    with (tmp_path / "c.csv").open() as stream:
        made = list(csv.DictReader(stream))
    clusters = np.array([int(row["cluster"]) for row in made])
    several = np.bincount(clusters)[clusters] > 1
    confidence = np.array([float(row["confidence"] or "nan") for row in made])
    assert np.nanmin(confidence) >= 0
    assert np.nanmax(confidence) <= 1
    assert confidence[several].mean() > 0.8
    margin = np.array([float(row["margin"]) for row in made])
    assert (margin[several] >= 0).all()
    assert (margin[~several] < 0).all()
    model = load(tmp_path / "m")
    assert model.record["confidence"]["error"] < 0.2
    assert confidence_columns({}, None, 0.0) == {}  # a model of an earlier version
