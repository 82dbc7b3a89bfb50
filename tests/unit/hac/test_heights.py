"""merge_heights against the definition, its gradients against autograd through it and gradcheck."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import generators
from oracles.hac import heights_of
from oracles.losses import pair_gradient
from supclust.hac.device.reciprocal_pairs import rounds_tree
from supclust.hac.heights import merge_heights

ALPHAS = [-math.inf, -50.0, -1.0, -1e-3, 0.0, 1e-3, 1.0, 50.0, math.inf]


def problem(family: str, n: int) -> torch.Tensor:
    D, _ = generators.FAMILIES[family](n, np.random.default_rng(n))
    return torch.tensor(D)


@pytest.mark.parametrize("family", generators.FAMILIES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_heights_and_gradient_follow_the_definition(family: str, alpha: float) -> None:
    D = problem(family, 10)
    tree = rounds_tree(D[None], None, alpha)
    weights = torch.linspace(1.0, 2.0, 9, dtype=torch.float64)
    mine, reference = (D.clone().requires_grad_(True) for _ in range(2))
    heights = merge_heights(mine[None], tree, alpha)[0]
    expected = heights_of(reference, tree.to_scipy(), alpha)
    torch.testing.assert_close(heights, expected, rtol=1e-9, atol=1e-12)
    finite = expected.isfinite()
    (heights[finite] * weights[finite]).sum().backward()
    (expected[finite] * weights[finite]).sum().backward()
    assert torch.equal(mine.grad, mine.grad.mT)
    np.testing.assert_allclose(
        pair_gradient(mine.grad), pair_gradient(reference.grad), rtol=1e-7, atol=1e-9
    )


def test_gradcheck_over_a_ragged_batch_with_its_own_alphas() -> None:
    batch = torch.stack([problem("negative", 7), problem("random", 7), problem("random", 7)])
    alphas = torch.tensor([-2.0, 0.5, 0.0], dtype=torch.float64)
    tree = rounds_tree(batch, torch.tensor([7, 5, 1]), alphas)
    inputs = (batch.requires_grad_(True), alphas.requires_grad_(True))
    assert torch.autograd.gradcheck(lambda D, a: merge_heights(D, tree, a), inputs)


@pytest.mark.parametrize("alpha", [-math.inf, math.inf])
def test_gradcheck_of_the_extremes(alpha: float) -> None:
    D = problem("negative", 7)[None].requires_grad_(True)
    tree = rounds_tree(D.detach(), None, alpha)
    assert torch.autograd.gradcheck(lambda D: merge_heights(D, tree, alpha), (D,))


def test_gradient_in_alpha_is_the_weighted_variance() -> None:
    D = problem("random", 9)
    alpha = torch.tensor(-0.7, dtype=torch.float64, requires_grad=True)
    tree = rounds_tree(D[None], None, -0.7)
    (mine,) = torch.autograd.grad(merge_heights(D[None], tree, alpha).sum(), alpha)
    (expected,) = torch.autograd.grad(heights_of(D, tree.to_scipy(), alpha).sum(), alpha)
    torch.testing.assert_close(mine, expected)
    assert mine > 0


@pytest.mark.parametrize("alpha", [-5.0, 5.0])
def test_float32_near_three_thousand_stays_finite(alpha: float) -> None:
    exact = problem("faces_like", 30)
    D = exact.float().requires_grad_(True)
    a = torch.tensor(alpha, requires_grad=True)
    tree = rounds_tree(D.detach()[None], None, alpha)
    heights = merge_heights(D[None], tree, a)
    heights.sum().backward()
    assert heights.dtype == torch.float32
    assert D.grad.isfinite().all() and a.grad.isfinite()
    expected = heights_of(D.detach().double(), tree.to_scipy(), alpha)
    torch.testing.assert_close(heights[0].double(), expected, rtol=1e-6, atol=0.0)


@pytest.mark.parametrize("alpha", [-math.inf, -1.0, 0.0, 1.0, math.inf])
def test_infinite_pairs_get_no_gradient_and_no_nan(alpha: float) -> None:
    D = problem("with_infinite", 12).requires_grad_(True)
    tree = rounds_tree(D.detach()[None], None, alpha)
    heights = merge_heights(D[None], tree, alpha)
    heights[heights.isfinite()].sum().backward()
    assert D.grad.isfinite().all()
    assert (D.grad[D.isinf()] == 0).all()
    everything_apart = torch.full((1, 3, 3), math.inf)
    tree = rounds_tree(everything_apart, None, alpha)
    assert merge_heights(everything_apart, tree, alpha).isposinf().all()


def test_finite_and_infinite_alphas_in_one_batch_and_padding() -> None:
    batch = torch.stack([problem("random", 8)] * 4)
    alphas = torch.tensor([-math.inf, -1.0, 0.0, math.inf], dtype=torch.float64)
    lengths = torch.tensor([8, 8, 3, 0])
    tree = rounds_tree(batch, lengths, alphas)
    batch[~(torch.arange(8) < lengths[:, None])] = math.nan  # padded rows must not be read
    heights = merge_heights(batch, tree, alphas)
    torch.testing.assert_close(heights, tree.heights)
    assert (heights[~tree.valid] == 0).all()


def test_one_point_has_no_height() -> None:
    D = torch.zeros(2, 1, 1, requires_grad=True)
    heights = merge_heights(D, rounds_tree(D.detach()), torch.tensor([-math.inf, 1.0]))
    assert heights.shape == (2, 0)
