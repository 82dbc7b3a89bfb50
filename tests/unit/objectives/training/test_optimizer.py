"""Rows of stacked parameters under one Adam, against one torch.optim.Adam per split."""

from __future__ import annotations

import copy

import pytest
import torch

from supclust.objectives.training.optimizer import SplitAdamRows

SHAPES = [(3, 4, 4), (3, 5), (3,)]


def random_parameters(dtype: torch.dtype) -> list[torch.nn.Parameter]:
    generator = torch.Generator().manual_seed(7)
    return [
        torch.nn.Parameter(torch.randn(shape, dtype=dtype, generator=generator)) for shape in SHAPES
    ]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_every_split_moves_exactly_as_under_an_adam_of_its_own(
    dtype: torch.dtype, decay: float
) -> None:
    ours = random_parameters(dtype)

    def groups(parameters: list[torch.nn.Parameter]) -> list[dict[str, object]]:
        options = {"betas": (0.8, 0.95), "eps": 1e-6}
        return [
            {"params": parameters[:2], "lr": 0.05, "weight_decay": decay, **options},
            {"params": parameters[2:], "lr": 0.2, **options},
        ]

    rows = SplitAdamRows(groups(ours))
    theirs = [[torch.nn.Parameter(p.detach()[s].clone()) for p in ours] for s in range(3)]
    adams = [torch.optim.Adam(groups(parameters)) for parameters in theirs]
    generator = torch.Generator().manual_seed(8)
    for step in range(12):
        active = torch.tensor([True, step % 2 == 0, step > 4])
        for index, p in enumerate(ours):
            p.grad = torch.randn(p.shape, dtype=dtype, generator=generator) * 10.0 ** (step % 3)
            for s in range(3):
                theirs[s][index].grad = p.grad[s].clone()
        assert rows.step(active) == []
        for s in active.nonzero()[:, 0].tolist():
            adams[s].step()
        for index, p in enumerate(ours):
            expected = torch.stack([parameters[index].detach() for parameters in theirs])
            assert torch.equal(p.detach(), expected)


def test_an_inactive_split_does_not_move_at_all() -> None:
    (p, *_) = random_parameters(torch.float32)
    before = p.detach().clone()
    rows = SplitAdamRows([{"params": [p], "lr": 0.1, "weight_decay": 1.0}])
    p.grad = torch.ones_like(p)
    p.grad[1] = torch.nan
    assert rows.step(torch.tensor([True, False, True])) == []
    assert torch.equal(p.detach()[1], before[1])
    assert not torch.equal(p.detach()[0], before[0])
    assert sorted(rows.optimizer.state_dict()["state"]) == [0, 2]  # no moments, no step count


def test_a_missing_gradient_is_zero() -> None:
    (p, *_) = random_parameters(torch.float64)
    twin = torch.nn.Parameter(p.detach().clone())
    twin.grad = torch.zeros_like(twin)
    everything = torch.ones(3, dtype=torch.bool)
    SplitAdamRows([{"params": [p], "lr": 0.1, "weight_decay": 0.5}]).step(everything)
    torch.optim.Adam([twin], lr=0.1, weight_decay=0.5).step()
    torch.testing.assert_close(p, twin)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, 1e30])
def test_a_gradient_that_is_too_large_changes_nothing_and_names_the_splits(bad: float) -> None:
    first, second, _ = random_parameters(torch.float32)
    before = [first.detach().clone(), second.detach().clone()]
    rows = SplitAdamRows([{"params": [first, second], "lr": 0.1}])
    first.grad, second.grad = torch.ones_like(first), torch.ones_like(second)
    second.grad[1, 0] = bad
    assert rows.step(torch.ones(3, dtype=torch.bool)) == [1]
    assert torch.equal(first.detach(), before[0]) and torch.equal(second.detach(), before[1])


def test_state_survives_saving() -> None:
    (ours, *_) = random_parameters(torch.float32)
    twin = torch.nn.Parameter(ours.detach().clone())
    rows, resumed = (SplitAdamRows([{"params": [p], "lr": 0.1}]) for p in (ours, twin))

    def move(chosen: SplitAdamRows, p: torch.nn.Parameter, seed: int) -> None:
        p.grad = torch.randn(p.shape, generator=torch.Generator().manual_seed(seed))
        chosen.step(torch.tensor([True, seed % 2 == 0, seed > 5]))

    for seed in range(4):
        move(rows, ours, seed)
    resumed.optimizer.load_state_dict(copy.deepcopy(rows.optimizer.state_dict()))
    with torch.no_grad():
        twin.copy_(ours)
    for seed in range(4, 8):
        move(rows, ours, seed)
        move(resumed, twin, seed)
    assert torch.equal(ours, twin)
