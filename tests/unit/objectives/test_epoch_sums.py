"""Sums of an epoch's losses and parts against plain loops."""

from __future__ import annotations

import math

import numpy as np
import torch

from supclust.losses.hinge import LossParts, sum_of
from supclust.objectives.epoch_sums import EpochSums, means_by_name, parts_by_name


def test_sums_per_split_over_steps() -> None:
    rng = np.random.default_rng(0)
    sums, expected = EpochSums(3), np.zeros((3, 3))
    for _ in range(4):
        splits = rng.integers(0, 3, size=5)
        within, across = rng.normal(size=(2, 5))
        sums.add(torch.tensor(splits), sum_of(torch.tensor(within), torch.tensor(across)))
        for i, split in enumerate(splits):
            expected[:, split] += (within[i] + across[i], within[i], across[i])
    np.testing.assert_allclose(sums.read().numpy(), expected)


def test_an_epoch_without_steps_sums_to_zero() -> None:
    assert EpochSums(2).read().tolist() == [[0.0, 0.0]] * 3


def test_losses_without_parts_have_a_total_alone() -> None:
    sums = EpochSums(2)
    sums.add(torch.tensor([0, 1]), LossParts(torch.tensor([1.0, 2.0])))
    found = sums.read()
    assert found[0].tolist() == [1.0, 2.0]
    assert found[1:].isnan().all()
    assert means_by_name("dev", found) == {"dev/loss": 1.5}


def test_names_and_means_over_splits_that_go_on() -> None:
    sums = torch.tensor([[3.0, math.nan], [1.0, math.nan], [2.0, math.nan]])
    assert means_by_name("train", sums) == {
        "train/loss": 3.0,
        "train/loss_within": 1.0,
        "train/loss_across": 2.0,
    }
    named = parts_by_name("dev", sums)
    assert {key: float(row[0]) for key, row in named.items()} == {
        "dev_within": 1.0,
        "dev_across": 2.0,
    }
