"""`recipe=best`: which of closed form and trained is shipped, and the choices it rests on."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
import torch

from supclust.data.block import Block
from supclust.data.splits import DatasetSplit
from supclust.model.best import fitting
from supclust.model.best.guard import CLOSED, _verdict, smaller
from supclust.model.best.starts import Start
from supclust.model.best.training import FREE, TRAINED, WIDE, ways_of_training
from supclust.model.evaluate import evaluate
from supclust.model.fit import FitOptions, fit_model, fit_splits
from supclust.model.selection import Comparison, Fold, compare, deal, guard_folds, halvings, pooled
from supclust.model.trained import TrainedModel
from supclust.objectives.closed_form import closed_form_maps
from supclust.objectives.recipe import BEST as BESTS
from supclust.objectives.recipe import DEFAULTS
from training_blocks import block_of, overlapping_parts, pair_block, vector_block

NAMES = tuple("abcd")
BEST = FitOptions(recipe_name="best", recipe={"max_epochs": 40})


def outliers(name: str, rng: np.random.Generator) -> Block:
    """Six clusters with far outliers, on which training spends all its effort."""
    labels = np.repeat(np.arange(6), 5)
    features = rng.normal(size=(30, 4))
    features[:, :2] = 3 * rng.normal(size=(6, 2))[labels] + 0.3 * features[:, :2]
    far = rng.random(30) < 0.15
    features[far, :2] += rng.normal(scale=30, size=(int(far.sum()), 2))
    return block_of(name, labels, "vectors", features)


def rings(name: str, rng: np.random.Generator) -> Block:
    """Concentric rings beside two features of noise: no covariance tells these apart."""
    sizes = (20, 35, 50)
    labels = np.repeat(np.arange(3), sizes)
    angles = np.concatenate([np.linspace(0, 2 * np.pi, n, endpoint=False) for n in sizes])
    features = rng.normal(scale=0.5, size=(len(labels), 4))
    features[:, 0] = (1.0 + labels) * np.cos(angles)
    features[:, 1] = (1.0 + labels) * np.sin(angles)
    return block_of(name, labels, "vectors", features)


def fitted(make: Callable[[str, np.random.Generator], Block]) -> tuple[TrainedModel, DatasetSplit]:
    rng = np.random.default_rng(1)
    blocks = [make(f"block {k}", rng) for k in range(14)]
    part = DatasetSplit(tuple(blocks[:7]), tuple(blocks[7:10]), tuple(blocks[10:]))
    (model,) = fit_splits([part], NAMES, BEST)
    return model, part


def test_the_untrained_model_is_shipped_where_training_hurts() -> None:
    model, part = fitted(outliers)
    guard = model.record["guard"]
    assert guard["shipped"] == "closed form" and guard["difference"] < -0.2
    assert model.record["start"] == "euclidean" and model.record["epochs"] == 0
    expected = closed_form_maps(part.train)["euclidean"]
    np.testing.assert_allclose(model.weights["weight"], expected, rtol=1e-6)


def test_the_trained_model_is_shipped_where_training_helps() -> None:
    model, part = fitted(rings)
    guard = model.record["guard"]
    assert guard["shipped"] == "trained" and guard["difference"] > 2 * guard["standard_error"] > 0
    assert model.record["epochs"] == 40
    start = closed_form_maps(part.train)[model.record["start"]]
    closed = TrainedModel(model.spec, {"weight": start.astype(np.float32)}, "x", NAMES)
    scores = [
        evaluate(one, part, ["exp"], model.record["alpha"])["exp"]["test"]["dendrogram_purity"]
        for one in (model, closed)
    ]
    assert scores[0] > scores[1] + 0.02  # on blocks that no choice has seen


@pytest.mark.parametrize("kind", ["vectors", "pairs"])
def test_a_split_comes_out_as_if_it_were_alone(kind: str) -> None:
    parts = overlapping_parts(kind, 2)
    options = FitOptions(recipe_name="best", recipe={"max_epochs": 5}, precision=64)
    together = fit_splits(parts, NAMES, options, splits=(0, 1))
    alone = fit_splits(parts[1:], NAMES, options, splits=(1,))[0]
    assert together[1].record["guard"]["shipped"] == alone.record["guard"]["shipped"]
    assert together[1].record["alpha"] == pytest.approx(alone.record["alpha"], rel=1e-6)
    for name, array in alone.weights.items():
        np.testing.assert_allclose(together[1].weights[name], array, rtol=1e-6, atol=1e-8)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The defaults of both trainings of pairs with few epochs."""
    monkeypatch.setitem(DEFAULTS["pairs"], "max_epochs", 4)
    monkeypatch.setitem(BESTS, "max_epochs", 4)


def test_pairs_of_few_blocks_may_be_trained_as_in_the_paper(
    short: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = overlapping_parts("pairs", 2)
    best = FitOptions(recipe_name="best", precision=64)
    (alone,) = fit_splits(parts[1:], NAMES, best, splits=(1,))
    assert alone.record["guard"]["scores"].keys() == {CLOSED, TRAINED, WIDE, FREE}
    together = fit_splits(parts, NAMES, best, splits=(0, 1))
    assert together[1].record["guard"]["scores"] == pytest.approx(alone.record["guard"]["scores"])

    verdict = {"shipped": FREE}
    monkeypatch.setattr(fitting, "guard", lambda starts, *_: [verdict for _ in starts])
    found = fit_splits(parts, NAMES, best, splits=(0, 1))
    expected = fit_splits(parts, NAMES, FitOptions(precision=64), splits=(0, 1))
    for one, other in zip(found, expected, strict=True):
        assert one.record["alpha"] == other.record["alpha"] and one.record["epochs"] == 4
        for name, array in other.weights.items():
            np.testing.assert_array_equal(one.weights[name], array)


def test_settings_that_are_given_are_the_only_training(short: None) -> None:
    parts = overlapping_parts("pairs", 1)
    usual, other = (FitOptions(recipe_name="best", recipe=r) for r in ({}, {"lr": 0.5}))
    assert ways_of_training("logistic", parts, usual) == (TRAINED, WIDE, FREE)
    assert ways_of_training("logistic", parts, other) == (TRAINED,)
    assert ways_of_training("logit", parts, usual) == (TRAINED,)
    assert ways_of_training("logistic", overlapping_parts("vectors", 1), usual) == (TRAINED,)
    many = DatasetSplit(parts[0].train * 30, parts[0].dev, ())
    assert ways_of_training("logistic", [many], usual) == (TRAINED,)


def test_the_better_training_is_compared_with_the_closed_form() -> None:
    closed, worse, better = [1.0, 1.1, 0.9], [0.2, 0.3, 0.2], [0.9, 1.2, 0.9]
    pairs = Start("logistic", 0.0)
    for free, trained, best in ((better, worse, FREE), (worse, better, TRAINED)):
        found = _verdict(pairs, {CLOSED: closed, TRAINED: trained, FREE: free})
        assert found["shipped"] == best and found["trained"] == pytest.approx(1.0)
    found = _verdict(pairs, {CLOSED: closed, TRAINED: worse, FREE: worse})
    assert found["shipped"] == CLOSED and found["difference"] < -0.7
    assert _verdict(Start("KISS", 0.0), {CLOSED: closed, TRAINED: better})["shipped"] == CLOSED
    assert _verdict(pairs, {CLOSED: []})["shipped"] == TRAINED  # nothing was compared


def test_the_cut_is_chosen_on_train_and_dev_and_the_record_is_plain() -> None:
    part = overlapping_parts("pairs", 1)[0]
    options = FitOptions(recipe_name="best", recipe={"max_epochs": 3})
    model = fit_model(part.train, part.dev, NAMES, options)
    scores = evaluate(model, part, ["exp"], model.alpha, cut="threshold")["exp"]
    assert model.threshold == scores["threshold"]
    assert json.loads(json.dumps(model.record)) == model.record
    assert model.record["recipe_name"] == "best" and model.record["start"] == "logistic"


def test_without_clusters_to_hold_out_nothing_but_the_linkage_is_learned() -> None:
    rng = np.random.default_rng(0)
    model = fit_model([vector_block("a", rng, (4, 3))], [], NAMES, BEST)
    assert model.record["start"] == "euclidean" and model.record["guard"]["trained"] is None


def test_one_block_is_dealt_out_by_clusters() -> None:
    block = vector_block("a", np.random.default_rng(0), (3, 3, 2, 4, 1, 5))
    train, dev = (block.select(np.flatnonzero(block.labels % 2 == k)) for k in (0, 1))
    (whole,) = pooled([train], [dev])
    assert (whole.n, whole.n_clusters) == (block.n, block.n_clusters)
    folds = halvings([train], [dev], 0)
    assert len(folds) == 10 and folds[0].fit == (train,) and folds[1].held_out == (train,)
    for fold in folds[2:]:
        sides = [set(b.ids) for b in (*fold.fit, *fold.held_out)]
        assert not sides[0] & sides[1] and len(sides[0] | sides[1]) == block.n
        names = [set(b.cluster_names) for b in (*fold.fit, *fold.held_out)]
        assert not names[0] & names[1]


def test_blocks_are_dealt_out_whole() -> None:
    rng = np.random.default_rng(0)
    blocks = [pair_block(f"block {k}", rng) for k in range(5)]
    folds = guard_folds(blocks[:4], blocks[4:], 0)  # few: one block is held out at a time
    assert [len(fold.held_out) for fold in folds] == [1] * 5
    assert {fold.held_out[0].name for fold in folds} == {block.name for block in blocks}
    for fold in deal([*blocks, *blocks], 2, rng):
        assert len(fold.fit) == len(fold.held_out) == 5


def test_the_guard_compares_on_whole_blocks() -> None:
    rng = np.random.default_rng(0)
    many = tuple(pair_block(f"block {k}", rng, (60, 50, 40)) for k in range(80))
    fold = smaller(Fold(many, many[:2]))
    assert 20 <= len(fold.fit) < 40 and len(fold.held_out) == 2
    assert all(block in many for block in fold.fit)  # whole
    assert smaller(Fold(many, many[:2])).fit == fold.fit  # the same every time


def test_a_small_difference_is_not_clear() -> None:
    assert not compare([0.9, 0.5], [0.5, 0.8]).is_clear
    assert not compare([0.9], [0.1]).is_clear  # one fold has no error
    assert not compare([0.5, 0.5], [0.5, 0.5]).is_clear
    assert not compare([], []).is_clear
    assert Comparison(0.3, 0.1, 4).is_clear


@pytest.mark.parametrize("objective", ["mst", "triplet"])
def test_every_objective_may_start_in_closed_form(objective: str) -> None:
    part = overlapping_parts("pairs", 1)[0]
    options = FitOptions(objective=objective, recipe_name="best", recipe={"max_epochs": 2})
    model = fit_model(part.train, part.dev, NAMES, options)
    assert model.objective == objective and np.isfinite(model.threshold)


def test_a_network_is_trained_from_random_values() -> None:
    part = overlapping_parts("vectors", 1)[0]
    options = FitOptions(
        recipe_name="best", recipe={"max_epochs": 2}, dissimilarity=torch.nn.Linear(4, 2)
    )
    assert "guard" not in fit_model(part.train, part.dev, NAMES, options).record
