"""Steps about one cluster: terms anchored there, summing up to the loss of the block."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from oracles import losses as oracle
from supclust.data.batch import BlockStore, Unit
from supclust.dissimilarity import Mahalanobis
from supclust.losses.triplets import draw_cluster_triplets
from supclust.objectives import Recipe, objective_class
from training_blocks import vector_block

HINGES = [(None, None), (2.5, 0.5)]


def cluster_losses(name: str, recipe: Recipe, block, weight: torch.Tensor) -> torch.Tensor:
    """Loss of the step of every cluster of a block, as one batch."""
    model = Mahalanobis(4).double()
    with torch.no_grad():
        model.weight.copy_(weight)
    objective = objective_class(name)(model, recipe).double()
    store = BlockStore([block], torch.float64)
    return objective.losses(store.batch([Unit(0, block, c) for c in range(block.n_clusters)]))


@pytest.mark.parametrize(("threshold", "margin"), HINGES)
@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("name", ["all_pairs", "best", "mst"])
def test_terms_of_a_cluster_against_loops(
    name: str, reduction: str, threshold: float | None, margin: float | None
) -> None:
    rng = np.random.default_rng(3)
    block = vector_block("b", rng, (5, 1, 4))
    weight = torch.tensor(rng.normal(scale=0.3, size=(1, 4, 4)))
    recipe = Recipe(threshold=threshold, margin=margin, reduction=reduction)
    found = cluster_losses(name, recipe, block, weight)
    x = torch.tensor(block.features)
    D = (x[:, None] - x) @ weight[0].T
    D = D.norm(dim=2)
    labels, n = block.labels, block.n
    for c in range(3):
        own = [i for i in range(n) if labels[i] == c]
        others = [j for j in range(n) if labels[j] != c]
        across = [oracle.nearest(D, i, others) for i in own]
        if name == "all_pairs":
            within = [(i, j) for i in own for j in own if i != j]
            across = [(i, j) for i in own for j in others]
        elif name == "best":
            within = [pair for i in own if (pair := oracle.nearest(D, i, own)) is not None]
        else:
            within = oracle.kruskal(D, own)
        expected = oracle.pair_loss(D, within, across, threshold, margin, reduction)
        torch.testing.assert_close(found[c], expected)


@pytest.mark.parametrize(("name", "factor"), [("all_pairs", 2), ("best", 1), ("mst", 1)])
def test_clusters_sum_up_to_their_block(name: str, factor: int) -> None:
    rng = np.random.default_rng(4)
    block = vector_block("b", rng, (5, 1, 4, 2))
    weight = torch.tensor(rng.normal(scale=0.3, size=(1, 4, 4)))
    recipe = Recipe(threshold=2.5, margin=0.5)
    model = Mahalanobis(4).double()
    with torch.no_grad():
        model.weight.copy_(weight)
    whole = objective_class(name)(model, recipe).double()
    batch = BlockStore([block], torch.float64).batch([Unit(0, block)])
    total = cluster_losses(name, recipe, block, weight).sum()
    torch.testing.assert_close(total, factor * whole.losses(batch)[0])


@pytest.mark.parametrize(("threshold", "margin"), HINGES)
def test_triplets_of_a_cluster_are_those_drawn(
    threshold: float | None, margin: float | None
) -> None:
    block = vector_block("b", np.random.default_rng(5), (4, 1, 3))
    model = Mahalanobis(4).double()
    recipe = Recipe(threshold=threshold, margin=margin, samples_per_point=7)
    objective = objective_class("triplet")(model, recipe).double()
    units = [Unit(0, block, c) for c in range(3)]
    batch = BlockStore([block], torch.float64).batch(units)
    found = objective.losses(batch)
    D = model(torch.tensor(block.features)[None])[0]
    for c in range(3):
        own = torch.tensor(np.flatnonzero(block.labels == c))
        generators = [objective.generator(batch, c)]
        drawn = draw_cluster_triplets(own[None], torch.tensor(block.labels)[None], 7, generators)
        triplets = [(int(own[a]), int(p), int(q)) for a, p, q in drawn[0]]
        assert len(triplets) == (0 if len(own) == 1 else 7 * len(own))
        assert all(a != p and block.labels[p] == c != block.labels[q] for a, p, q in triplets)
        expected = oracle.triplet_loss(D, triplets, threshold, margin)
        torch.testing.assert_close(found[c], expected)


def test_tree_objectives_refuse_cluster_steps() -> None:
    block = vector_block("b", np.random.default_rng(5))
    objective = objective_class("exp_zero")(Mahalanobis(4), Recipe(threshold=1.0, margin=0.1))
    with pytest.raises(ValueError, match="one step per block"):
        objective.losses(BlockStore([block], torch.float32).batch([Unit(0, block, 0)]))
