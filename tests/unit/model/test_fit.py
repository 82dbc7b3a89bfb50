"""Training on given blocks: the cut against a slow oracle, the record, and mistakes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from oracles.metrics import best_threshold, dendrogram_purity, pooled_scores
from supclust.model.evaluate import choose_cut, spread
from supclust.model.fit import FitOptions, fit_model
from training_blocks import overlapping_parts

NAMES = tuple("abcd")


@pytest.mark.parametrize("kind", ["vectors", "pairs"])
@pytest.mark.parametrize("linkage", ["exp", "single"])
def test_the_cut_is_the_best_on_dev(kind: str, linkage: str) -> None:
    part = overlapping_parts(kind, 1)[0]
    options = FitOptions(linkage=linkage, recipe={"max_epochs": 2})
    model = fit_model(part.train, part.dev, NAMES, options)
    trees = [(model.tree(block.features), block.labels.tolist()) for block in part.dev]
    precision, recall, f1 = pooled_scores(trees, model.threshold)
    assert f1 == pytest.approx(best_threshold(trees).f1)
    purity = np.mean([dendrogram_purity(Z, true) for Z, true in trees])
    scores = {"precision": precision, "recall": recall, "pairwise_f1": f1}
    assert model.record["dev"] == pytest.approx({"dendrogram_purity": purity, **scores})
    assert json.loads(json.dumps(model.record)) == model.record
    again = choose_cut(model, part.train)
    assert again.threshold != model.threshold and again.record["epochs"] == 2


@pytest.mark.parametrize("kind", ["vectors", "pairs"])
def test_the_spread_is_that_of_the_dissimilarities_on_dev(kind: str) -> None:
    part = overlapping_parts(kind, 1)[0]
    model = fit_model(part.train, part.dev, NAMES, FitOptions(recipe={"max_epochs": 2}))
    pairs = [
        model.distances(block.features)[i, j]
        for block in part.dev
        for i in range(block.n)
        for j in range(i)
    ]
    assert model.record["spread"] == pytest.approx(np.std(pairs), rel=1e-4)
    alone = part.dev[0].select(np.array([0]), "alone")
    assert spread(model, [alone]) == 1.0  # no pair, no scale


def test_without_dev_blocks_training_ones_serve() -> None:
    part = overlapping_parts("pairs", 1)[0]
    options = FitOptions(recipe={"max_epochs": 2})
    model = fit_model(part.train, [], NAMES, options)
    assert model.threshold == choose_cut(model, part.train).threshold
    assert model.record["sizes"]["dev"] == {"blocks": 0, "points": 0, "clusters": 0}


def test_mistakes() -> None:
    part = overlapping_parts("pairs", 1)[0]
    with pytest.raises(ValueError, match="at least one training block"):
        fit_model([], part.dev, NAMES)
    with pytest.raises(ValueError, match="each of the 4 features; received 2"):
        fit_model(part.train, part.dev, ("a", "b"))
