"""Mahalanobis against loops, in the corners (equal points, far from the origin), and per split."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from supclust.dissimilarity import Dissimilarity, Mahalanobis
from supclust.dissimilarity.euclidean import pairwise_distances


def by_loops(x: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    n = len(x)
    rows = [[torch.linalg.vector_norm(a @ (x[i] - x[j])) for j in range(n)] for i in range(n)]
    return torch.stack([torch.stack(row) for row in rows])


@pytest.fixture
def points() -> torch.Tensor:
    return torch.randn(3, 6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def test_values_and_gradient_are_those_of_loops(points: torch.Tensor) -> None:
    model = Mahalanobis(4, splits=(2, 5)).double()
    split_of_block = torch.tensor([1, 0, 1])
    found = model(points, split_of_block=split_of_block)
    weights = torch.randn(found.shape, dtype=torch.float64)
    (found * weights).sum().backward()
    copy = model.weight.detach().clone().requires_grad_()
    # The norm's gradient at zero is NaN by loops: its diagonal is left out.
    off = ~torch.eye(6, dtype=torch.bool)
    expected = [by_loops(points[i], copy[s]) for i, s in enumerate(split_of_block.tolist())]
    total = sum((e[off] * w[off]).sum() for e, w in zip(expected, weights, strict=True))
    torch.testing.assert_close(found, torch.stack(expected))
    torch.testing.assert_close(model.weight.grad, torch.autograd.grad(total, copy)[0])


def test_matrices_are_symmetric_with_a_zero_diagonal() -> None:
    found = Mahalanobis(20)(torch.randn(2, 40, 20) * 1000)
    assert torch.equal(found, found.mT)
    assert not found.diagonal(dim1=1, dim2=2).any()


def test_gradient_is_zero_where_points_coincide() -> None:
    model = Mahalanobis(3)
    model(torch.ones(1, 5, 3)).sum().backward()
    assert torch.equal(model.weight.grad, torch.zeros(1, 3, 3))


def test_gradient_with_some_duplicates_is_that_of_the_rest() -> None:
    x = torch.tensor([[[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]]], dtype=torch.float64)
    model = Mahalanobis(2).double()
    model(x).sum().backward()
    copy = model.weight.detach().clone().requires_grad_()
    (4 * torch.linalg.vector_norm(copy[0] @ x[0, 2])).backward()
    torch.testing.assert_close(model.weight.grad, copy.grad)


def test_float32_keeps_small_distances_far_from_the_origin() -> None:
    x = torch.tensor([[3000.0, -2000.0], [3000.25, -2000.0], [3000.0, -1999.0]])[None]
    model = Mahalanobis(2)
    found = model(x)[0]
    expected = by_loops(x[0].double(), model.weight.detach()[0].double())
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=0.0)


def test_padding_changes_no_value(points: torch.Tensor) -> None:
    model = Mahalanobis(4).double()
    padded = torch.nn.functional.pad(points[:, :5], (0, 0, 0, 3), value=0.0)
    found = model(padded, lengths=torch.tensor([5, 5, 5]))
    torch.testing.assert_close(found[:, :5, :5], model(points[:, :5]))


def test_rows_of_anchors_are_rows_of_the_matrix(points: torch.Tensor) -> None:
    model = Mahalanobis(4).double()
    anchors = torch.tensor([[4, 1], [0, -1], [5, 2]])
    whole, rows = model(points), model(points, anchors=anchors)
    torch.testing.assert_close(rows[0], whole[0, [4, 1]])
    torch.testing.assert_close(rows[1, 0], whole[1, 0])
    torch.testing.assert_close(rows[2], whole[2, [5, 2]])


def test_a_split_starts_the_same_alone_and_in_company() -> None:
    together = Mahalanobis(4, splits=(9, 3), seed=5).weight
    assert torch.equal(together[1], Mahalanobis(4, splits=(3,), seed=5).weight[0])
    assert not torch.equal(together[0], together[1])
    assert not torch.equal(together[1], Mahalanobis(4, splits=(3,), seed=6).weight[0])


def test_initial_values_are_distributed_as_those_of_a_linear_layer() -> None:
    ours = Mahalanobis(50, seed=1).weight.detach().flatten()
    theirs = torch.nn.Linear(50, 50).weight.detach().flatten()
    quantiles = torch.tensor([0.0, 0.1, 0.5, 0.9, 1.0])
    np.testing.assert_allclose(ours.quantile(quantiles), theirs.quantile(quantiles), atol=0.02)


def test_gradcheck_of_distances() -> None:
    x = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    off = ~torch.eye(4, dtype=torch.bool)
    assert torch.autograd.gradcheck(lambda y: pairwise_distances(y)[:, off], (x,))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Mahalanobis(3, splits=()), "distinct integers"),
        (lambda: Mahalanobis(3, splits=(1, 1)), "distinct integers"),
        (lambda: Mahalanobis(3)(torch.zeros(1, 4, 2)), r"\(b, n, 3\).*received \(1, 4, 2\)"),
        (lambda: Mahalanobis(3)((torch.zeros(4, 3),)), "received a sequence"),
        (lambda: Mahalanobis(3, splits=(0, 1))(torch.zeros(1, 4, 3)), "split_of_block is needed"),
        (
            lambda: Mahalanobis(3)(torch.zeros(1, 4, 3), split_of_block=torch.tensor([0, 0])),
            "one model per block",
        ),
    ],
)
def test_mistakes_are_explained(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_subclass_defines_score_or_forward() -> None:
    class Nothing(Dissimilarity):
        pass

    class Own(Dissimilarity):
        def forward(self, features, **options):
            return features

    with pytest.raises(NotImplementedError, match="Nothing must define score"):
        Nothing()(torch.zeros(1, 2, 3))
    assert Own()(torch.ones(1)) == 1
