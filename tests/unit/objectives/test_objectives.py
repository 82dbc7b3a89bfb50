"""What all objectives share: the registry, degenerate blocks, divergence, messages."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

from supclust.data.batch import BlockStore, Unit
from supclust.data.datamodule import BlockDataModule
from supclust.data.splits import DatasetSplit
from supclust.dissimilarity import LinearPair, Mahalanobis
from supclust.objectives import (
    Objective,
    Recipe,
    TrainingDiverged,
    fit_alpha,
    objective_class,
    quiet_trainer,
)
from training_blocks import PAPER, TRAINED, block_of, overlapping_parts, pair_block

RECIPE = Recipe(threshold=0.0, margin=1.0, samples_per_point=3)
DEGENERATE = {
    "one point": [0],
    "one cluster": [0, 0, 0, 0],
    "all singletons": [0, 1, 2, 3],
    "two points of one cluster": [0, 0],
    "two points of two clusters": [0, 1],
}


def test_the_names_of_the_paper_come_first_and_are_those_of_the_classes() -> None:
    assert TRAINED[: len(PAPER)] == PAPER  # objectives that were added since follow
    for name in TRAINED:
        assert objective_class(name).name == name
    alphas = {name: objective_class(name).alpha_fixed for name in PAPER}
    assert (alphas["exp_minus"], alphas["exp_zero"], alphas["exp_plus"]) == (-math.inf, 0, math.inf)
    assert [name for name in PAPER if objective_class(name).learns_alpha] == ["exp_alpha"]
    with pytest.raises(ValueError, match=r"must be one of .*all_pairs.*received 'exp'"):
        objective_class("exp")


def test_listing_the_names_does_not_import_lightning() -> None:
    code = "import sys, supclust.objectives; sys.exit('pytorch_lightning' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("labels", DEGENERATE.values(), ids=DEGENERATE.keys())
@pytest.mark.parametrize("kind", ["vectors", "pairs"])
@pytest.mark.parametrize("name", TRAINED)
def test_degenerate_blocks_give_finite_losses_and_gradients(
    name: str, kind: str, labels: list[int]
) -> None:
    n = len(labels)
    rows = n if kind == "vectors" else n * (n - 1) // 2
    block = block_of("b", np.array(labels), kind, np.full((rows, 3), 0.5))
    model = Mahalanobis(3) if kind == "vectors" else LinearPair(3)
    objective = objective_class(name)(model, RECIPE)
    losses = objective.losses(BlockStore([block]).batch([Unit(0, block)]))
    if losses.requires_grad:
        losses.sum().backward()
    gradients = [p.grad for p in objective.parameters() if p.grad is not None]
    assert losses.isfinite().all() and all(g.isfinite().all() for g in gradients)
    explink = name.startswith("exp_")
    if labels == [0] or (explink and len(set(labels)) == n) or name == "triplet":
        assert losses.item() == 0.0
        assert not any(g.any() for g in gradients)


@pytest.mark.parametrize("step_unit", ["block", "cluster"])
@pytest.mark.parametrize("name", PAPER)  # losses with hinges, which have no other scale
def test_units_scale_threshold_and_margin_of_every_split(name: str, step_unit: str) -> None:
    chosen, units = objective_class(name), [0.25, 3.0]
    if step_unit == "cluster" and not chosen.takes_cluster_steps:
        pytest.skip("looks at whole trees")
    rng = np.random.default_rng(4)
    parts = [DatasetSplit((pair_block(f"block {k}", rng),), (), ()) for k in range(2)]
    data = BlockDataModule(parts, step_unit=step_unit, dtype=torch.float64)
    (batch,) = next(iter(data.steps(0)))

    def results(position: int, **how: Any) -> list[torch.Tensor]:
        objective = chosen(LinearPair(4, splits=(0, 1), seed=2), seed=2, **how).double()
        torch.nn.init.constant_(objective.dissimilarity.bias, 1.0)
        parts = objective.loss_parts(batch)
        parts.total[position].backward()
        found = [part[position].detach() for part in parts if part is not None]
        return found + [p.grad[position] for p in objective.parameters() if p.grad is not None]

    losses = []
    for position, unit in enumerate(units):
        plain = Recipe(threshold=unit, margin=0.1 * unit)
        expected = results(position, recipe=plain)
        found = results(position, recipe=Recipe(threshold=1.0, margin=0.1), units=units)
        losses.append(float(expected[0]))
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)
    assert max(losses) > 0


def diverging(
    lr: float = 0.0, scale: float = 1.0, weight: float | None = None, **recipe: float
) -> tuple[Objective, TrainingDiverged]:
    rng = np.random.default_rng(0)
    blocks = [pair_block(f"block {k}", rng) for k in range(3)]
    wild = pair_block("wild", rng)
    wild = block_of("wild", wild.labels, "pairs", wild.features * scale)
    parts = [DatasetSplit((blocks[0],), (blocks[1],), ()), DatasetSplit((wild,), (blocks[2],), ())]
    model = LinearPair(4, splits=(3, 8))
    if weight is not None:
        torch.nn.init.constant_(model.weight, weight)
    settings = Recipe(threshold=0.0, margin=1.0, lr=lr, **recipe)
    objective = objective_class("exp_alpha")(model, settings)
    with pytest.raises(TrainingDiverged) as caught:
        quiet_trainer(3).fit(objective, datamodule=BlockDataModule(parts, [3, 8]))
    return objective, caught.value


def test_overflowing_dissimilarities_stop_the_run_and_are_named() -> None:
    objective, error = diverging(scale=1e38, weight=10.0)
    assert (error.epoch, error.blocks, error.splits) == (0, ("wild",), (8,))
    assert "dissimilarities overflowed" in error.cause
    assert "epoch 0, block 'wild', split 8" in str(error)
    assert all(p.isfinite().all() for p in objective.parameters())


def test_a_step_out_of_the_finite_numbers_keeps_the_last_good_state() -> None:
    objective, error = diverging(lr=1e37, scale=1e3)
    assert error.epoch == 0 and error.splits == (8,)
    assert "learning rate" in error.cause
    start = LinearPair(4, splits=(3, 8))
    assert torch.equal(objective.dissimilarity.weight, start.weight)
    assert torch.equal(objective.dissimilarity.bias, start.bias)


def test_gradients_out_of_the_finite_numbers_are_named() -> None:
    objective, error = diverging(scale=1e25, weight=1e-30)
    assert "gradient" in error.cause and error.blocks == ("wild",)
    assert (objective.dissimilarity.weight == 1e-30).all()


def test_models_and_data_must_be_of_the_same_splits() -> None:
    objective = objective_class("mst")(LinearPair(4, splits=(1,)), RECIPE)
    data = BlockDataModule(overlapping_parts("pairs", 1), [2])
    with pytest.raises(ValueError, match=r"data of \[2\] and models of \[1\]"):
        quiet_trainer(1).fit(objective, datamodule=data)


def test_training_without_a_block_data_module_is_refused() -> None:
    objective = objective_class("mst")(LinearPair(4), RECIPE)
    with pytest.raises(ValueError, match=r"datamodule=BlockDataModule"):
        quiet_trainer(1).fit(objective, [1, 2])


def test_recipes_that_contradict_themselves_are_refused() -> None:
    with pytest.raises(ValueError, match="come together"):
        Recipe(threshold=1.0)
    with pytest.raises(ValueError, match="at least 1"):
        Recipe(samples_per_point=0)
    objective = objective_class("mst")(LinearPair(4), Recipe())
    with pytest.raises(ValueError, match="needs threshold and margin"):
        fit_alpha(objective, BlockDataModule(overlapping_parts("pairs", 1)), 1)


def test_fit_alpha_returns_a_learned_alpha_as_it_is() -> None:
    objective = objective_class("exp_alpha")(LinearPair(4, splits=(0, 1)), RECIPE)
    data = BlockDataModule(overlapping_parts("pairs", 2))
    assert torch.equal(fit_alpha(objective, data, 1), objective.alpha)


def test_alpha_starts_from_a_normal_per_split() -> None:
    together = objective_class("exp_alpha")(LinearPair(4, splits=range(300)), RECIPE, seed=1)
    alone = objective_class("exp_alpha")(LinearPair(4, splits=(17,)), RECIPE, seed=1)
    assert together.alpha[17] == alone.alpha[0]
    assert abs(together.alpha.mean().item()) < 0.02
    assert abs(together.alpha.std().item() - 0.1) < 0.015


def test_trees_take_the_alpha_of_their_split() -> None:
    block = pair_block("b", np.random.default_rng(0))
    objective = objective_class("exp_alpha")(LinearPair(4, splits=(0, 1)), RECIPE)
    batch = BlockStore([block]).batch([Unit(0, block), Unit(1, block)])
    trees = objective.trees(batch, torch.tensor([-math.inf, 0.0]))
    values = objective.dissimilarities(batch).detach()
    for i, alpha in enumerate((-math.inf, 0.0)):
        expected = objective.hac(values[i], alpha=alpha)
        np.testing.assert_array_equal(trees.to_scipy(i), expected.to_scipy())
