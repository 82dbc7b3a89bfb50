"""`dissimilarity="auto"`: another candidate is taken only where it is clearly better."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from supclust.data.block import Block
from supclust.model.best.automatic import CANDIDATES
from supclust.model.fit import FitOptions, fit_model
from training_blocks import block_of, pair_block, vector_block

NAMES = tuple("abcd")
BEST = FitOptions(recipe_name="best", recipe={"max_epochs": 20})


def interacting(name: str, rng: np.random.Generator) -> Block:
    """Pairs that belong together where two features agree in sign: nothing linear tells them."""
    labels = np.repeat(np.arange(6), 6)
    i, j = np.triu_indices(len(labels), 1)
    sign = rng.choice([-1.0, 1.0], size=len(i))
    features = rng.normal(size=(len(i), 4))
    features[:, 0] = sign * (1 + rng.random(len(i)))
    features[:, 1] = np.where(labels[i] == labels[j], 1, -1) * sign * (0.5 + rng.random(len(i)))
    return block_of(name, labels, "pairs", features)


def test_boosted_trees_are_taken_for_features_that_interact() -> None:
    rng = np.random.default_rng(0)
    blocks = [interacting(f"block {k}", rng) for k in range(8)]
    model = fit_model(blocks[:6], blocks[6:], NAMES, BEST)
    choice = model.record["dissimilarity_choice"]
    assert model.spec["name"] == choice["chosen"] == "stacked"
    assert choice["scores"]["stacked"] > choice["scores"]["linear"] + 0.3
    assert choice["folds"] == 4 and choice["seconds"] > 0
    assert json.loads(json.dumps(model.record)) == model.record


def test_the_first_candidate_is_kept_without_a_clear_difference() -> None:
    rng = np.random.default_rng(0)
    pairs = [pair_block(f"block {k}", rng, (6, 5, 4)) for k in range(8)]
    model = fit_model(pairs[:6], pairs[6:], NAMES, BEST)
    choice = model.record["dissimilarity_choice"]
    assert model.spec["name"] == "linear" and set(choice["scores"]) == set(CANDIDATES["pairs"])


@pytest.mark.parametrize(("blocks", "left_out"), [(6, {"encoder"}), (18, set())])
def test_a_network_is_compared_where_there_are_many_clusters(
    blocks: int, left_out: set[str]
) -> None:
    rng = np.random.default_rng(0)
    points = [vector_block(f"block {k}", rng, (6, 5, 4)) for k in range(blocks)]
    model = fit_model(points[:-2], points[-2:], NAMES, replace(BEST, recipe={"max_epochs": 2}))
    choice = model.record["dissimilarity_choice"]
    assert model.spec["name"] == "mahalanobis"
    assert set(choice["scores"]) == set(CANDIDATES["vectors"]) - left_out


@pytest.mark.parametrize("given", [{"dissimilarity": "linear"}, {"recipe_name": "paper"}])
def test_nothing_is_compared_where_the_dissimilarity_is_given(given: dict[str, str]) -> None:
    rng = np.random.default_rng(0)
    points = [vector_block(f"block {k}", rng, (6, 5, 4)) for k in range(6)]
    options = FitOptions(**{"recipe_name": "best", "recipe": {"max_epochs": 2}, **given})
    assert "dissimilarity_choice" not in fit_model(points, [], NAMES, options).record


def test_few_clusters_are_not_enough_to_compare_on() -> None:
    points = [vector_block("a", np.random.default_rng(0), (5, 4, 3))]
    choice = fit_model(points, [], NAMES, BEST).record["dissimilarity_choice"]
    assert choice == {"chosen": "mahalanobis", "folds": 0, "scores": {}}
