"""ExpLinkHAC: both kernels behind one interface, alpha fixed and learned, what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import generators
from oracles.hac import heights_of, replay
from supclust.hac.module import ExpLinkHAC

ALPHAS = [-math.inf, -50.0, -1.0, 0.0, 1e-3, 50.0, math.inf]
KERNELS = pytest.mark.parametrize("kernel", ["device", "cpu"])
LENGTHS = torch.tensor([9, 0, 1, 2, 12])


def problem(n: int, family: str = "random", seed: int = 0) -> torch.Tensor:
    D, _ = generators.FAMILIES[family](n, np.random.default_rng(seed))
    return torch.tensor(D)


def batch_of(family: str = "random") -> torch.Tensor:
    batch = torch.full((5, 12, 12), math.nan, dtype=torch.float64)  # padding may hold anything
    for i, n in enumerate(LENGTHS.tolist()):
        if n:
            batch[i, :n, :n] = problem(n, family, seed=i)
    return batch


@KERNELS
@pytest.mark.parametrize("family", ["random", "integer_grid", "with_infinite", "faces_like"])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_ragged_batch_replays(kernel: str, family: str, alpha: float) -> None:
    batch = batch_of(family)
    before = batch.clone()
    tree = ExpLinkHAC(alpha, kernel=kernel)(batch, LENGTHS).check()
    assert torch.equal(batch.nan_to_num(), before.nan_to_num())
    assert tree.lengths.tolist() == LENGTHS.tolist()
    for i, n in enumerate(LENGTHS.tolist()):
        if n:
            replay(batch[i, :n, :n].numpy(), tree.to_scipy(i), alpha)


@KERNELS
def test_one_matrix_is_a_batch_of_one(kernel: str) -> None:
    D = problem(8).float()
    module = ExpLinkHAC("average", kernel=kernel)
    assert len(module(D)) == 1
    assert module(D).heights.dtype == torch.float32
    np.testing.assert_array_equal(module(D).to_scipy(), module(D[None]).to_scipy())


@KERNELS
def test_alpha_given_per_block_overrides_the_modules(kernel: str) -> None:
    batch = torch.stack([problem(10, seed=s) for s in range(3)])
    alphas = torch.tensor([-math.inf, -2.0, math.inf], dtype=torch.float64)
    together = ExpLinkHAC(0.0, kernel=kernel)(batch, alpha=alphas)
    for i, alpha in enumerate(alphas.tolist()):
        alone = ExpLinkHAC(alpha, kernel=kernel)(batch[i])
        np.testing.assert_allclose(together.to_scipy(i), alone.to_scipy(), rtol=1e-12)
        overridden = ExpLinkHAC(0.0, kernel=kernel)(batch[i], alpha=alpha)
        np.testing.assert_allclose(overridden.to_scipy(), alone.to_scipy(), rtol=1e-12)


@KERNELS
@pytest.mark.parametrize("alpha", ALPHAS)
def test_heights_carry_the_gradient_of_the_input(kernel: str, alpha: float) -> None:
    D = problem(9).requires_grad_(True)
    tree = ExpLinkHAC(alpha, kernel=kernel)(D).check()
    expected = heights_of(D, tree.to_scipy(), alpha)
    torch.testing.assert_close(tree.heights[0], expected, rtol=1e-9, atol=0.0)
    (mine,) = torch.autograd.grad(tree.heights.square().sum(), D)
    (reference,) = torch.autograd.grad(expected.square().sum(), D)
    torch.testing.assert_close(mine + mine.mT, reference + reference.mT, rtol=1e-6, atol=1e-9)


@KERNELS
@pytest.mark.parametrize("alpha", ALPHAS)
def test_ragged_batch_with_gradient_equals_the_one_without(kernel: str, alpha: float) -> None:
    module = ExpLinkHAC(alpha, kernel=kernel)
    batch = batch_of("with_infinite")
    plain = module(batch, LENGTHS)
    tree = module(batch.requires_grad_(True), LENGTHS).check()
    torch.testing.assert_close(tree.heights, plain.heights, rtol=1e-9, atol=0.0)
    tree.heights[tree.heights.isfinite()].sum().backward()
    assert batch.grad.isfinite().all()


@KERNELS
def test_no_gradient_where_none_is_asked_for(kernel: str) -> None:
    D = problem(6)
    assert not ExpLinkHAC(-1.0, kernel=kernel)(D).heights.requires_grad
    with torch.no_grad():
        learned = ExpLinkHAC(-1.0, learn_alpha=True, kernel=kernel)
        assert not learned(D.requires_grad_(True)).heights.requires_grad


@KERNELS
def test_alpha_is_learned_by_gradient_descent(kernel: str) -> None:
    """The last merge is driven down, towards single linkage, so alpha must fall."""
    module = ExpLinkHAC(0.1, learn_alpha=True, kernel=kernel)
    optimiser = torch.optim.SGD(module.parameters(), lr=0.5)
    D = problem(12, "separated").float() / 100  # far apart, so the last merge stays the same one
    tops = []
    for _ in range(5):
        top = module(D).heights[0, -1]
        tops.append(top.item())
        optimiser.zero_grad()
        top.backward()
        optimiser.step()
    assert module.alpha.item() < 0.1
    assert tops[-1] < tops[0]


@KERNELS
def test_gradient_reaches_an_alpha_per_block(kernel: str) -> None:
    batch = torch.stack([problem(7, seed=s) for s in range(2)])
    alphas = torch.tensor([-1.0, 2.0], dtype=torch.float64, requires_grad=True)
    ExpLinkHAC("average", kernel=kernel)(batch, alpha=alphas).heights.sum().backward()
    assert (alphas.grad > 0).all()  # a weighted variance, summed over merges


@KERNELS
@pytest.mark.parametrize("alpha", [-5.0, 5.0])
def test_recomputed_heights_stay_sorted_in_float32(kernel: str, alpha: float) -> None:
    """Ties make equal heights, which rounding in another order of summation must not unsort."""
    for family in ("all_equal", "duplicated", "chain_equal", "faces_like", "with_infinite"):
        D = problem(40, family).float().requires_grad_(True)
        tree = ExpLinkHAC(alpha, kernel=kernel)(D).check()
        tree.heights[tree.heights.isfinite()].sum().backward()
        assert D.grad.isfinite().all()


def test_kernels_agree_on_the_heights() -> None:
    batch = batch_of()
    for alpha in ALPHAS:
        device, host = (ExpLinkHAC(alpha, kernel=k)(batch, LENGTHS) for k in ("device", "cpu"))
        assert torch.equal(device.children, host.children)
        torch.testing.assert_close(device.heights, host.heights, rtol=1e-10, atol=1e-12)


def test_auto_follows_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPU tensors go to the compiled kernel, so without it `auto` must fail and `device` not."""
    monkeypatch.delattr("supclust.hac.module.build_forest")
    assert len(ExpLinkHAC(0.0, kernel="device")(problem(5))) == 1
    with pytest.raises(NameError, match="build_forest"):
        ExpLinkHAC(0.0)(problem(5))


def test_integers_and_half_precision_are_converted() -> None:
    D = problem(5, "integer_grid")
    module = ExpLinkHAC("complete", kernel="device")
    assert module(D.long()).heights.dtype == torch.float32
    assert module(D.half()).heights.dtype == torch.float32
    np.testing.assert_array_equal(module(D.long()).to_scipy(), module(D).to_scipy())


def test_alpha_is_a_buffer_or_a_parameter_and_travels_in_the_state() -> None:
    fixed, learned = ExpLinkHAC(-2.5), ExpLinkHAC(-2.5, learn_alpha=True)
    assert list(dict(fixed.named_parameters())) == []
    assert list(dict(learned.named_parameters())) == ["alpha"]
    restored = ExpLinkHAC(0.0)
    restored.load_state_dict(fixed.state_dict())
    assert restored.alpha.item() == -2.5


def test_repr_names_the_nearest_linkage() -> None:
    assert "alpha=-inf (nearest single), learn_alpha=False" in repr(ExpLinkHAC("single"))
    learned = ExpLinkHAC(0.1, learn_alpha=True)
    assert "alpha=0.1 (nearest average), learn_alpha=True" in repr(learned)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": "ward"}, "method must be one of"),
        ({"alpha": math.nan}, "alpha must be a number"),
        ({"alpha": math.inf, "learn_alpha": True}, "learned alpha must start from a finite"),
        ({"alpha": "single", "learn_alpha": True}, "learned alpha must start from a finite"),
        ({"alpha": 0.0, "kernel": "gpu"}, "kernel must be one of auto, cpu, device"),
    ],
)
def test_constructor_refuses(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ExpLinkHAC(**arguments)


def spoiled(value: float, i: int = 1, j: int = 2, mirror: bool = True) -> torch.Tensor:
    D = problem(4)
    D[i, j] = value
    if mirror:
        D[j, i] = value
    return D


@KERNELS
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dissimilarity": spoiled(math.nan)}, r"neither NaN nor -inf; received nan at \[1, 2\]"),
        ({"dissimilarity": spoiled(-math.inf)}, "neither NaN nor -inf; received -inf"),
        ({"dissimilarity": spoiled(9.0, mirror=False)}, r"must be symmetric; received 9.0 at"),
        ({"dissimilarity": spoiled(math.inf, mirror=False)}, "must be symmetric; received inf"),
        ({"dissimilarity": torch.zeros(3, 4)}, r"must be square.*received shape \(3, 4\)"),
        ({"dissimilarity": torch.zeros(4)}, "must be square"),
        ({"dissimilarity": torch.zeros(0, 0)}, "at least one block and one point"),
        ({"dissimilarity": problem(4), "lengths": torch.tensor([5])}, "lengths must lie between"),
        ({"dissimilarity": problem(4), "lengths": torch.tensor([-1])}, "lengths must lie between"),
        (
            {"dissimilarity": problem(4), "lengths": torch.tensor([4, 4])},
            "lengths must be integers",
        ),
        ({"dissimilarity": problem(4), "lengths": torch.tensor([4.0])}, "lengths must be integers"),
        ({"dissimilarity": problem(4), "alpha": torch.zeros(2)}, r"alpha must .* shape \(1,\)"),
        ({"dissimilarity": problem(4), "alpha": math.nan}, "alpha must be a number from -inf"),
    ],
)
def test_forward_refuses(kernel: str, arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ExpLinkHAC(-1.0, kernel=kernel)(**arguments)


@KERNELS
def test_the_diagonal_and_rounding_asymmetry_are_let_through(kernel: str) -> None:
    D = problem(6)
    expected = ExpLinkHAC(-1.0, kernel=kernel)(D).to_scipy()
    noisy = D + torch.triu(torch.full_like(D, 1e-12))
    noisy.fill_diagonal_(math.nan)
    np.testing.assert_allclose(ExpLinkHAC(-1.0, kernel=kernel)(noisy).to_scipy(), expected)
