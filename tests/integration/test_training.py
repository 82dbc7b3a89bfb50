"""Whole trainings: every objective learns, and splits trained together are trained as if alone."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import torch
from pytorch_lightning.loggers import CSVLogger

from supclust.data.datamodule import BlockDataModule
from supclust.data.splits import DatasetSplit
from supclust.dissimilarity import Encoder, LinearPair, Mahalanobis
from supclust.objectives import Objective, Recipe, fit_alpha, objective_class
from supclust.objectives.explink import AlphaOnly
from supclust.objectives.training.trainer import quiet_trainer
from training_blocks import TRAINED, overlapping_parts, pair_block, vector_block

CLUSTER_STEPS = ["all_pairs", "triplet", "best", "mst"]
RECIPES = {
    "vectors": Recipe(
        threshold=2.0, margin=0.5, lr=0.02, weight_decay=0.01, alpha_lr=0.05, samples_per_point=5
    ),
    "pairs": Recipe(
        threshold=0.0, margin=1.0, lr=0.05, weight_decay=0.01, alpha_lr=0.05, samples_per_point=5
    ),
}


def trained(
    name: str,
    kind: str,
    parts: list[DatasetSplit],
    splits: list[int],
    epochs: int,
    recipe: Recipe | None = None,
    step_unit: str = "block",
) -> Objective:
    model = (Mahalanobis if kind == "vectors" else LinearPair)(4, splits=splits, seed=3)
    objective = objective_class(name)(model, recipe or RECIPES[kind], seed=3).double()
    data = BlockDataModule(parts, splits, seed=3, step_unit=step_unit, dtype=torch.float64)
    quiet_trainer(epochs, purity_every=epochs).fit(objective, datamodule=data)
    return objective


def state_of_split(objective: Objective, position: int) -> dict[str, torch.Tensor]:
    state = {name: p.detach()[position] for name, p in objective.named_parameters()}
    averages = {k: b[position] for k, b in objective.dissimilarity.named_buffers()}
    return {**state, **averages, "epochs": objective.stopping.epochs[position]}


def assert_together_is_apart(name: str, kind: str, step_unit: str, recipe: Recipe) -> Objective:
    parts, numbers = overlapping_parts(kind), [4, 0, 7]
    together = trained(name, kind, parts, numbers, 6, recipe, step_unit)
    for position, (part, number) in enumerate(zip(parts, numbers, strict=True)):
        alone = trained(name, kind, [part], [number], 6, recipe, step_unit)
        expected, found = state_of_split(alone, 0), state_of_split(together, position)
        assert expected.keys() == found.keys()
        for key, value in expected.items():
            torch.testing.assert_close(found[key], value, rtol=1e-9, atol=1e-11, msg=key)
        losses = [epoch["train"][position] for epoch in together.history]
        for mine, theirs in zip(losses, alone.history, strict=False):
            torch.testing.assert_close(mine, theirs["train"][0], rtol=1e-9, atol=1e-11)
    return together


@pytest.mark.parametrize("kind", ["vectors", "pairs"])
@pytest.mark.parametrize("name", TRAINED)
def test_splits_together_equal_splits_apart(name: str, kind: str) -> None:
    assert_together_is_apart(name, kind, "block", RECIPES[kind])


@pytest.mark.parametrize("name", CLUSTER_STEPS)
def test_splits_together_equal_splits_apart_with_a_step_per_cluster(name: str) -> None:
    assert_together_is_apart(name, "vectors", "cluster", RECIPES["vectors"])


def test_splits_that_stop_early_keep_their_parameters() -> None:
    recipe = Recipe(threshold=0.0, margin=1.0, lr=0.05, window=2, tolerance=0.06)
    together = assert_together_is_apart("exp_zero", "pairs", "block", recipe)
    epochs = together.stopping.epochs.tolist()
    assert len(set(epochs)) > 1, "the test needs splits that stop at different epochs"


@pytest.mark.parametrize("kind", ["vectors", "pairs"])
@pytest.mark.parametrize("name", TRAINED)
def test_every_objective_learns(name: str, kind: str) -> None:
    rng = np.random.default_rng(5)
    make = vector_block if kind == "vectors" else pair_block
    blocks = [make(f"block {k}", rng) for k in range(8)]
    parts = [DatasetSplit(tuple(blocks[:5]), tuple(blocks[5:]), ())]
    options = {"threshold": 2.0 if kind == "vectors" else 0.0, "margin": 0.5, "tolerance": 0.0}
    before = trained(name, kind, parts, [0], 1, Recipe(lr=0.0, **options))
    after = trained(name, kind, parts, [0], 40, Recipe(lr=0.05, **options))
    first, last = after.history[0], after.history[-1]
    assert last["train"] < 0.8 * first["train"]
    assert last["dev"] < first["dev"]
    assert after.purities()[0] > max(0.75, before.purities()[0] + 0.05)


def test_exp_alpha_moves_alpha_with_its_own_rate_and_no_decay() -> None:
    parts = overlapping_parts("pairs", 1)
    recipe = Recipe(threshold=0.0, margin=1.0, lr=0.0, weight_decay=10.0, alpha_lr=0.1)
    start = objective_class("exp_alpha")(LinearPair(4), recipe, seed=3).alpha.item()
    objective = trained("exp_alpha", "pairs", parts, [0], 1, recipe)
    steps = len(parts[0].train)
    # Adam's first steps are at most the rate each; with decay on alpha they would differ.
    assert 0.05 < abs(objective.alpha.item() - start) <= 0.1 * steps + 1e-6


@pytest.mark.parametrize("kind", ["vectors", "pairs"])
def test_fit_alpha_together_equals_apart_and_changes_nothing_else(kind: str) -> None:
    parts, numbers = overlapping_parts(kind), [4, 0, 7]
    objective = trained("mst", kind, parts, numbers, 2)
    before = {k: v.clone() for k, v in objective.state_dict().items()}
    data = BlockDataModule(parts, numbers, seed=3, step_unit="cluster", dtype=torch.float64)
    alphas = fit_alpha(objective, data, 4)
    for key, value in objective.state_dict().items():
        assert torch.equal(value, before[key]), key
    assert objective.dissimilarity.training
    for position in range(3):
        alone = trained("mst", kind, parts[position : position + 1], [numbers[position]], 2)
        single = BlockDataModule(
            parts[position : position + 1], [numbers[position]], seed=3, dtype=torch.float64
        )
        torch.testing.assert_close(
            fit_alpha(alone, single, 4)[0], alphas[position], rtol=1e-9, atol=1e-11
        )


def test_fit_alpha_lowers_the_explink_loss() -> None:
    parts = overlapping_parts("vectors", 2)
    recipe = Recipe(variant="ranking", alpha_lr=0.1, tolerance=0.0)
    objective = trained("exp_zero", "vectors", parts, [0, 1], 1, recipe)
    data = BlockDataModule(parts, [0, 1], seed=3, dtype=torch.float64)
    alphas = fit_alpha(objective, data, 40)

    def total(alpha: torch.Tensor) -> torch.Tensor:
        probe = AlphaOnly(objective.dissimilarity, recipe, seed=3).double().train()
        with torch.no_grad():
            probe.alpha.copy_(alpha)
            return sum(probe.losses(batch).sum() for batch in data.whole("train"))

    start = AlphaOnly(objective.dissimilarity, recipe, seed=3).alpha.detach()
    assert (alphas - start).abs().min() > 0.05
    assert total(alphas) < total(start) - 1e-3


def test_the_training_loss_stops_a_split_where_there_are_no_dev_blocks() -> None:
    (part,) = overlapping_parts("pairs", 1)
    recipe = Recipe(threshold=0.0, margin=1.0, lr=0.0, window=3)
    parts = [part._replace(dev=()), part]
    objective = trained("exp_zero", "pairs", parts, [0, 1], 10, recipe)
    assert objective.stopping.epochs.tolist() == [4, 4]  # a rate of 0 changes nothing
    assert objective.history[0]["train"][0] > 0 == objective.history[0]["dev"][0]
    assert objective.history[0]["dev"][1] > 0


@pytest.mark.parametrize("form", ["encoder", "gaps"])
def test_other_models_of_points_are_trained_as_if_alone(form: str) -> None:
    parts, numbers = overlapping_parts("vectors"), [4, 0, 7]

    def run(chosen: list[DatasetSplit], splits: list[int]) -> Objective:
        model = (
            Encoder(lambda: torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh()), splits)
            if form == "encoder"
            else LinearPair(4, "vectors", splits)
        )
        objective = objective_class("exp_alpha")(model, RECIPES["vectors"]).double()
        data = BlockDataModule(chosen, splits, dtype=torch.float64)
        quiet_trainer(4).fit(objective, datamodule=data)
        return objective

    together = run(parts, numbers)
    for position, number in enumerate(numbers):
        alone = run([parts[position]], [number])
        for (name, mine), (_, theirs) in zip(
            together.named_parameters(), alone.named_parameters(), strict=True
        ):
            if mine.requires_grad:
                torch.testing.assert_close(
                    mine[position], theirs[0], rtol=1e-9, atol=1e-11, msg=name
                )


def test_losses_and_purity_reach_the_logger(tmp_path: Path) -> None:
    parts = overlapping_parts("pairs", 2)
    objective = objective_class("mst")(LinearPair(4, splits=(0, 1)), RECIPES["pairs"])
    trainer = quiet_trainer(4, purity_every=2, logger=CSVLogger(tmp_path))
    trainer.fit(objective, datamodule=BlockDataModule(parts))
    text = (Path(trainer.logger.log_dir) / "metrics.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    losses = [float(row["dev/loss"]) for row in rows if row["dev/loss"]]
    assert losses == pytest.approx([epoch["dev"].mean().item() for epoch in objective.history])
    purities = [float(row["dev/purity"]) for row in rows if row["dev/purity"]]
    assert len(purities) == 2 and purities[-1] == pytest.approx(np.mean(objective.purities()))


def test_a_checkpoint_continues_as_if_uninterrupted(tmp_path: Path) -> None:
    parts, numbers = overlapping_parts("pairs"), [4, 0, 7]
    whole = trained("exp_alpha", "pairs", parts, numbers, 6)

    def piece(epochs: int, checkpoint: str | None) -> tuple[Objective, str]:
        model = LinearPair(4, splits=numbers, seed=3)
        objective = objective_class("exp_alpha")(model, RECIPES["pairs"], seed=3).double()
        data = BlockDataModule(parts, numbers, seed=3, dtype=torch.float64)
        trainer = quiet_trainer(epochs)
        trainer.fit(objective, datamodule=data, ckpt_path=checkpoint, weights_only=True)
        trainer.save_checkpoint(tmp_path / f"{epochs}.ckpt")
        return objective, str(tmp_path / f"{epochs}.ckpt")

    _, saved = piece(3, None)
    resumed, _ = piece(6, saved)
    for position in range(3):
        expected, found = state_of_split(whole, position), state_of_split(resumed, position)
        for key, value in expected.items():
            torch.testing.assert_close(found[key], value, rtol=1e-9, atol=1e-11, msg=key)
