"""SplitAdam against torch.optim.Adam, one optimiser per split."""

from __future__ import annotations

import copy

import pytest
import torch

from supclust.objectives.split_adam import NonFiniteUpdateError, SplitAdam

SHAPES = [(3, 4, 4), (3, 5), (3,)]


def random_parameters(dtype: torch.dtype) -> list[torch.nn.Parameter]:
    generator = torch.Generator().manual_seed(7)
    return [
        torch.nn.Parameter(torch.randn(shape, dtype=dtype, generator=generator)) for shape in SHAPES
    ]


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-14), (torch.float32, 1e-6)])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_every_split_moves_as_under_an_adam_of_its_own(
    dtype: torch.dtype, tolerance: float, decay: float
) -> None:
    ours = random_parameters(dtype)
    options = {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-6}
    optimizer = SplitAdam(
        [
            {"params": ours[:2], "weight_decay": decay},
            {"params": ours[2:], "lr": 0.2, "weight_decay": 0.0},
        ],
        **options,
    )
    theirs = [[torch.nn.Parameter(p.detach()[s].clone()) for p in ours] for s in range(3)]
    adams = [
        torch.optim.Adam(
            [
                {"params": params[:2], "weight_decay": decay},
                {"params": params[2:], "lr": 0.2, "weight_decay": 0.0},
            ],
            **options,
        )
        for params in theirs
    ]
    generator = torch.Generator().manual_seed(8)
    for step in range(12):
        active = torch.tensor([True, step % 2 == 0, step > 4])
        for index, p in enumerate(ours):
            p.grad = torch.randn(p.shape, dtype=dtype, generator=generator) * 10.0 ** (step % 3)
            for s in range(3):
                theirs[s][index].grad = p.grad[s].clone()
        optimizer.step(active=active)
        for s in active.nonzero()[:, 0].tolist():
            adams[s].step()
        for index, p in enumerate(ours):
            expected = torch.stack([params[index].detach() for params in theirs])
            torch.testing.assert_close(p.detach(), expected, rtol=tolerance, atol=tolerance)


def test_an_idle_split_does_not_move_at_all() -> None:
    (p, *_) = random_parameters(torch.float32)
    before = p.detach().clone()
    optimizer = SplitAdam([p], lr=0.1, weight_decay=1.0)
    p.grad = torch.ones_like(p)
    p.grad[1] = torch.nan
    optimizer.step(active=torch.tensor([True, False, True]))
    assert torch.equal(p.detach()[1], before[1])
    assert not torch.equal(p.detach()[0], before[0])
    assert optimizer.state[p]["step"].tolist() == [1, 0, 1]
    assert not optimizer.state[p]["exp_avg"][1].any()


def test_a_missing_gradient_is_zero() -> None:
    (p, *_) = random_parameters(torch.float64)
    twin = torch.nn.Parameter(p.detach().clone())
    twin.grad = torch.zeros_like(twin)
    SplitAdam([p], lr=0.1, weight_decay=0.5).step()
    torch.optim.Adam([twin], lr=0.1, weight_decay=0.5).step()
    torch.testing.assert_close(p, twin)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, 1e30])
def test_a_step_that_diverges_changes_nothing_and_names_the_splits(bad: float) -> None:
    first, second, _ = random_parameters(torch.float32)
    before = [first.detach().clone(), second.detach().clone()]
    optimizer = SplitAdam([first, second], lr=0.1)
    first.grad, second.grad = torch.ones_like(first), torch.ones_like(second)
    second.grad[1, 0] = bad
    with pytest.raises(NonFiniteUpdateError, match=r"position \[1\]") as caught:
        optimizer.step()
    assert caught.value.splits == [1]
    assert torch.equal(first.detach(), before[0]) and torch.equal(second.detach(), before[1])


def test_state_survives_saving() -> None:
    ours = random_parameters(torch.float32)[:1]
    optimizer = SplitAdam(ours, lr=0.1)
    twins = [torch.nn.Parameter(ours[0].detach().clone())]

    def move(chosen: SplitAdam, p: torch.nn.Parameter, seed: int) -> None:
        p.grad = torch.randn(p.shape, generator=torch.Generator().manual_seed(seed))
        chosen.step(active=torch.tensor([True, seed % 2 == 0, True]))

    for seed in range(4):
        move(optimizer, ours[0], seed)
    resumed = SplitAdam(twins, lr=0.1)
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    with torch.no_grad():
        twins[0].copy_(ours[0])
    for seed in range(4, 8):
        move(optimizer, ours[0], seed)
        move(resumed, twins[0], seed)
    assert torch.equal(ours[0], twins[0])


def test_a_closure_is_evaluated_with_gradients() -> None:
    p = torch.nn.Parameter(torch.ones(2))

    def closure() -> torch.Tensor:
        loss = (p**2).sum()
        loss.backward()
        return loss

    assert SplitAdam([p], lr=0.1).step(closure).item() == 2.0
    assert (p < 1.0).all()


def test_nonsense_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="must be >= 0"):
        SplitAdam([torch.nn.Parameter(torch.ones(2))], lr=-1.0)
