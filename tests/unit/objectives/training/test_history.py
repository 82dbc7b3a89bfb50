"""Sums of an epoch's losses against plain loops; names in logs and records."""

from __future__ import annotations

import math

import numpy as np
import torch

from supclust.losses.hinge import LossParts, sum_of
from supclust.objectives.training.history import (
    LossSums,
    curves,
    epoch_of,
    metrics_of,
    pack,
    unpack,
)


def test_sums_per_split_over_steps() -> None:
    rng = np.random.default_rng(0)
    sums, expected = LossSums(3), np.zeros((3, 3))
    for _ in range(4):
        splits = rng.integers(0, 3, size=5)
        within, across = rng.normal(size=(2, 5))
        sums.add(torch.tensor(splits), sum_of(torch.tensor(within), torch.tensor(across)))
        for i, split in enumerate(splits):
            expected[:, split] += (within[i] + across[i], within[i], across[i])
    np.testing.assert_allclose(sums.values.numpy(), expected)


def test_losses_without_parts_have_a_total_alone() -> None:
    sums = LossSums(2)
    sums.add(torch.tensor([0, 1]), LossParts(torch.tensor([1.0, 2.0])))
    assert sums.values[0].tolist() == [1.0, 2.0]
    assert sums.values[1:].isnan().all()


def an_epoch(active: list[bool], **more: torch.Tensor) -> dict[str, torch.Tensor]:
    train = torch.tensor([[3.0, 5.0], [1.0, 1.0], [2.0, 4.0]], dtype=torch.float64)
    dev = torch.tensor([[6.0, 0.0], [math.nan] * 2, [math.nan] * 2], dtype=torch.float64)
    epoch = epoch_of(train, dev, torch.tensor(active))
    purity = torch.full((2,), math.nan)
    return {**epoch, "dev_purity": purity, "active": torch.tensor(active).double(), **more}


def test_logged_are_means_over_splits_that_are_trained() -> None:
    metrics = metrics_of(an_epoch([True, False]), torch.tensor([True, False]), (4, 7))
    assert metrics == {
        "train/loss": 3.0,
        "train/loss_within": 1.0,
        "train/loss_across": 2.0,
        "dev/loss": 6.0,
        "splits/active": 1.0,
    }


def test_the_training_loss_is_logged_for_splits_without_dev_blocks() -> None:
    alpha = torch.tensor([0.5, 1.5], dtype=torch.float64)
    epoch = an_epoch([True, True], alpha=alpha, dev_purity=torch.tensor([0.5, math.nan]))
    metrics = metrics_of(epoch, torch.tensor([True, False]), (4, 7))
    assert metrics["dev/loss"] == (6.0 + 5.0) / 2
    assert (metrics["alpha/mean"], metrics["alpha/split-7"]) == (1.0, 1.5)
    assert metrics["dev/purity"] == 0.5


def test_a_record_has_one_value_per_epoch_or_none() -> None:
    third = torch.tensor([1 / 3, 1.0], dtype=torch.float64)
    history = [an_epoch([True, True]), an_epoch([True, True], dev_purity=third)]
    record = curves(history, 0)
    assert record["train_loss"] == [3.0, 3.0] and record["dev_loss"] == [6.0, 6.0]
    assert record["train_within"] == [1.0, 1.0] and record["dev_within"] is None
    assert record["dev_purity"] == [None, 0.3333333] and record["alpha_path"] is None


def test_a_packed_history_is_the_same() -> None:
    history = [an_epoch([True, True]), an_epoch([True, False])]
    again = unpack(pack(history))
    assert len(again) == 2 and unpack(pack([])) == []
    for before, after in zip(history, again, strict=True):
        assert before.keys() == after.keys()
        assert all(torch.equal(before[k].nan_to_num(9), after[k].nan_to_num(9)) for k in before)
