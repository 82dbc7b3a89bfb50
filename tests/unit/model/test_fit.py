"""Training on given blocks: the cut against a slow oracle, the record, and mistakes."""

from __future__ import annotations

import json
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from oracles.metrics import best_threshold, dendrogram_purity, pooled_scores
from supclust.dissimilarity import LinearPair
from supclust.model.evaluate import choose_cut, spread
from supclust.model.fit import FitOptions, fit_model, fit_splits
from supclust.model.folder import read_model, write_model
from supclust.model.options import build_dissimilarity
from supclust.objectives import ExpZero
from supclust.registry import DISSIMILARITIES, Registry
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


class Scaled(LinearPair):
    """A dissimilarity of another package: a linear one with an argument of its own."""

    name = "scaled"

    def __init__(self, d: int, factor: float = 1.0, splits: tuple[int, ...] = (0,), seed: int = 0):
        super().__init__(d, splits=splits, seed=seed)
        self.factor = factor

    def forward(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        return self.factor * super().forward(*args, **kwargs)


@pytest.mark.parametrize("registered", [True, False])
def test_a_class_with_arguments_is_built_again_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registered: bool
) -> None:
    if registered:
        entry = EntryPoint("scaled", f"{__name__}:Scaled", DISSIMILARITIES.group)
        monkeypatch.setattr(EntryPoint, "load", lambda self: Scaled)
        monkeypatch.setattr(Registry, "_entries", lambda self: {"scaled": entry})
    part = overlapping_parts("pairs", 1)[0]
    options = FitOptions(
        objective=ExpZero, dissimilarity=partial(Scaled, factor=3.0), recipe={"max_epochs": 2}
    )
    trained = fit_splits([part, part], NAMES, options, splits=(0, 1))[1]
    features = part.dev[0].features
    write_model(trained, tmp_path)
    if registered:
        assert trained.spec["arguments"] == {"factor": 3.0}
        distances = read_model(tmp_path).distances(features)
    else:
        with pytest.raises(ValueError, match="Scaled, which cannot be built"):
            read_model(tmp_path).distances(features)
        module = build_dissimilarity(options, "pairs", 4)
        distances = read_model(tmp_path).with_module(module).distances(features)
    weight, bias = trained.weights["average_weight"], trained.weights["average_bias"]
    rows, columns = np.triu_indices(part.dev[0].n, 1)
    expected = 3 * (features.astype(np.float32) @ weight + bias)
    np.testing.assert_allclose(distances[rows, columns], expected, rtol=1e-5)
