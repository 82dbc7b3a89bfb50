"""The losses on pairs of points against plain loops over them; what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import generators
from oracles import losses as oracle
from supclust import losses
from supclust.losses.hinge import choose_hinge
from supclust.losses.pairs import nearest

INF = math.inf
NAMES = ["all_pairs", "best", "mst"]
HINGES: list[dict[str, float]] = [{}, {"threshold": 1.0, "margin": 0.25}]
REDUCTIONS = ["sum", "mean"]


def problem(family: str, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return generators.FAMILIES[family](n, np.random.default_rng(seed))


def loss_named(name: str, per_block: bool = False) -> Callable[..., torch.Tensor]:
    found: Callable[..., torch.Tensor] = getattr(
        losses, f"{name}_losses" if per_block else f"{name}_loss"
    )
    return found


def scaled(hinge: dict[str, float], D: np.ndarray) -> dict[str, float]:
    """The hinge in units of the median dissimilarity, so that terms of both kinds are active."""
    finite = D[np.isfinite(D) & ~np.eye(len(D), dtype=bool)]
    return {name: part * float(np.median(finite)) for name, part in hinge.items()}


def value_and_gradient(
    loss: Callable[..., torch.Tensor], D: np.ndarray, labels: np.ndarray, **options: Any
) -> tuple[float, np.ndarray]:
    leaf = torch.tensor(D, requires_grad=True)
    value = loss(leaf, torch.tensor(labels), **options)
    (gradient,) = torch.autograd.grad(value, leaf)
    assert torch.equal(gradient, gradient.mT)  # half in either triangle
    return value.item(), oracle.pair_gradient(gradient)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("hinge", HINGES, ids=["plain", "hinge"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("family", sorted(set(generators.FAMILIES) - generators.INFINITE))
def test_equals_loops(name: str, hinge: dict[str, float], reduction: str, family: str) -> None:
    for n in (1, 2, 5, 12):
        D, labels = problem(family, n, seed=n)
        options = {**(scaled(hinge, D) if n > 1 else hinge), "reduction": reduction}
        value, gradient = value_and_gradient(loss_named(name), D, labels, **options)
        expected, expected_gradient, _ = oracle.value_and_gradients(
            getattr(oracle, f"{name}_loss"), D, labels.tolist(), **options
        )
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(D).max())
        np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["best", "mst"])
def test_every_nearest_point_can_have_the_whole_gradient(name: str) -> None:
    """Point 0 has two nearest points across, 2 and 3; the value stays what it is."""
    D = np.array([[0, 1, 3, 3], [1, 0, 5, 6], [3, 5, 0, 2], [3, 6, 2, 0]], float)
    labels = np.array([0, 0, 1, 1])
    one, first = value_and_gradient(loss_named(name), D, labels)
    every, both = value_and_gradient(loss_named(name), D, labels, ties="every")
    assert every == one
    assert (first[0, 2], first[0, 3]) == (-2, -1)  # of point 0, and of 2 and 3 themselves
    assert (both[0, 2], both[0, 3]) == (-2, -2)
    both[0, 3] += 1
    np.testing.assert_array_equal(both, first)


@pytest.mark.parametrize("name", [*NAMES, "triplet"])
def test_infinite_pairs_across_are_harmless_and_within_infinite(name: str) -> None:
    D, labels = problem("separated", 12)
    for hinge in HINGES:
        options = scaled(hinge, D)
        if name == "triplet":
            options["triplets"] = losses.sample_triplets(torch.tensor(labels), 3)
        across = np.where(labels[:, None] != labels, INF, D)
        value, gradient = value_and_gradient(loss_named(name), across, labels, **options)
        assert math.isfinite(value) and np.isfinite(gradient).all()
        assert (gradient[np.isinf(np.triu(across, 1))] == 0).all()
        if hinge:
            within = np.where(labels[:, None] == labels, INF, D)
            np.fill_diagonal(within, 0.0)
            value, gradient = value_and_gradient(loss_named(name), within, labels, **options)
            assert value == INF and np.isfinite(gradient).all()


@pytest.mark.parametrize("name", ["best", "mst"])
def test_an_infinite_within_pair_is_avoided_where_possible(name: str) -> None:
    D = np.array([[0.0, INF, 1.0], [INF, 0.0, 2.0], [1.0, 2.0, 0.0]])
    value, gradient = value_and_gradient(loss_named(name), D, np.zeros(3, np.int64))
    assert value == (3.0 if name == "mst" else 4.0)
    assert gradient[0, 1] == 0


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_counting_both_orders_doubles_a_sum_of_within_pairs_only(reduction: str) -> None:
    D, labels = problem("random", 10)
    for hinge in HINGES:
        options = {**scaled(hinge, D), "reduction": reduction}
        terms = [value_and_gradient(losses.all_pairs_loss, D, labels, **options)]
        terms.append(
            value_and_gradient(losses.all_pairs_loss, D, labels, **options, count_both_orders=True)
        )
        within = np.triu(labels[:, None] == labels, 1)
        factor = 2.0 if reduction == "sum" else 1.0
        np.testing.assert_allclose(terms[1][1][within], factor * terms[0][1][within])
        np.testing.assert_array_equal(terms[1][1][~within], terms[0][1][~within])


def test_rows_without_a_candidate_count_for_nothing() -> None:
    values = torch.ones(1, 2, 3, requires_grad=True)
    candidates = torch.tensor([[[False, True, False], [False, False, False]]])
    smallest, exists = nearest(values, candidates)
    assert exists.tolist() == [[True, False]]
    choose_hinge(0.5, 0.0).pull(smallest, exists).sum().backward()
    assert values.grad is not None
    assert values.grad.tolist() == [[[0, 1, 0], [0, 0, 0]]]


LENGTHS = [9, 0, 1, 12, 5]


@pytest.mark.parametrize("name", [*NAMES, "triplet"])
@pytest.mark.parametrize("hinge", HINGES, ids=["plain", "hinge"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_batch_equals_its_blocks_apart(
    name: str, hinge: dict[str, float], reduction: str
) -> None:
    batch = torch.full((5, 14, 14), math.nan)
    labels = torch.full((5, 14), 3)
    for k, length in enumerate(LENGTHS):
        if length:
            D, truth = problem("random", length, seed=k)
            batch[k, :length, :length] = torch.tensor(D)
            labels[k, :length] = torch.tensor(truth)
    batch.requires_grad_(True)
    options: dict[str, Any] = {**hinge, "reduction": reduction}

    def seeded() -> list[torch.Generator]:
        return [torch.Generator().manual_seed(k) for k in range(5)]

    random = {"generator": seeded()} if name == "triplet" else {}
    together = loss_named(name, per_block=True)(
        batch, labels, **options, **random, lengths=torch.tensor(LENGTHS)
    )
    assert together.shape == (5,) and together.dtype == torch.float32
    (gradient,) = torch.autograd.grad(together.sum(), batch)
    for k, length in enumerate(LENGTHS):
        if length == 0:
            assert together[k] == 0 and (gradient[k] == 0).all()
            continue
        alone = batch[k, :length, :length].detach().requires_grad_(True)
        random = {"generator": seeded()[k]} if name == "triplet" else {}
        value = loss_named(name)(alone, labels[k, :length], **options, **random)
        torch.testing.assert_close(together[k], value)
        (expected,) = torch.autograd.grad(value, alone)
        torch.testing.assert_close(gradient[k, :length, :length], expected)
        assert (gradient[k, length:] == 0).all() and (gradient[k, :, length:] == 0).all()


@pytest.mark.parametrize("name", [*NAMES, "triplet"])
@pytest.mark.parametrize("labels", [[0], [0, 1, 2], []], ids=["one point", "singletons", "empty"])
def test_degenerate_blocks(name: str, labels: list[int]) -> None:
    n = max(len(labels), 1)
    D = torch.tensor(problem("random", n)[0], requires_grad=True)
    lengths = torch.tensor([len(labels)])
    truth = torch.tensor([labels if labels else [0]])
    # Nothing within, and everything across further than the threshold: nothing to do.
    value = loss_named(name)(D[None], truth, threshold=-5.0, margin=1.0, lengths=lengths)
    value.backward()
    assert value == 0 and D.grad is not None and (D.grad == 0).all()


@pytest.mark.parametrize("name", [*NAMES, "triplet"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threshold": 1.0}, "threshold and margin come together or not at all; received thresh"),
        ({"margin": 1.0}, "come together or not at all"),
        ({"threshold": math.nan, "margin": 1.0}, "must be finite"),
        ({"reduction": "none"}, "reduction must be one of sum, mean; received 'none'"),
        ({"block_reduction": "mean"}, "block_reduction must be one of sum, none; received 'mean'"),
        ({"labels": torch.tensor([0, 1])}, r"labels must have shape \(3,\)"),
        ({"labels": torch.tensor([0.0, 1.0, 1.0])}, "labels must be integers"),
        ({"dissimilarity": torch.full((3, 3), math.nan)}, "neither NaN nor -inf"),
        ({"dissimilarity": torch.arange(9.0).reshape(3, 3)}, "must be symmetric"),
        ({"dissimilarity": torch.zeros(3, 2)}, "must be square"),
        ({"lengths": torch.tensor([4])}, "lengths must lie between"),
    ],
)
def test_refuses(name: str, arguments: dict[str, Any], message: str) -> None:
    valid = {"dissimilarity": torch.ones(3, 3), "labels": torch.tensor([0, 0, 1])}
    loss_named(name)(**valid)
    with pytest.raises(ValueError, match=message):
        loss_named(name)(**(valid | arguments))


@pytest.mark.parametrize("name", ["all_pairs", "best", "triplet", "mst", "explink"])
def test_what_is_no_tensor_is_refused(name: str) -> None:
    loss: Any = getattr(losses, f"{name}_loss")
    more = (torch.tensor(0.5),) if name == "explink" else ()  # alpha
    with pytest.raises(ValueError, match="must be a torch tensor; received a list"):
        loss([[0.0, 1.0], [1.0, 0.0]], [0, 1], *more)
    with pytest.raises(ValueError, match="labels must be integers; received a list"):
        loss(torch.zeros(2, 2), ["a", "b"], *more)
