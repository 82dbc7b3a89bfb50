"""Encoder: several networks at once are each network alone."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from supclust.dissimilarity import Encoder, Mahalanobis


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))


def test_stacked_networks_are_each_network_alone() -> None:
    x = torch.randn(4, 6, 3)
    splits = torch.tensor([1, 0, 2, 1])
    together = Encoder(network, splits=(5, 0, 8), seed=2)
    chosen = torch.randn(4, 6, 6)
    (together(x, split_of_block=splits) * chosen).sum().backward()
    for position, number in enumerate((5, 0, 8)):
        alone = Encoder(network, splits=(number,), seed=2)
        mine = splits == position
        found = alone(x[mine])
        torch.testing.assert_close(together(x, split_of_block=splits)[mine], found)
        (found * chosen[mine]).sum().backward()
        for stacked, single in zip(together.stacked, alone.stacked, strict=True):
            torch.testing.assert_close(stacked.grad[position], single.grad[0])


def test_a_linear_network_is_a_mahalanobis_distance() -> None:
    x = torch.randn(2, 6, 3)
    linear = nn.Linear(3, 3)
    reference = Mahalanobis(3)
    with torch.no_grad():
        reference.weight.copy_(linear.weight[None])
    torch.testing.assert_close(Encoder(linear)(x), reference(x), rtol=1e-4, atol=1e-5)


def test_only_the_stacked_parameters_learn() -> None:
    given = network()
    model = Encoder(given, splits=(0, 1))
    trained = [name for name, p in model.named_parameters() if p.requires_grad]
    assert trained == [f"stacked.{i}" for i in range(4)]
    assert all(p.requires_grad for p in given.parameters()), "the given network was changed"


def test_the_draws_of_the_rest_of_the_program_are_left_alone() -> None:
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    Encoder(network)
    assert torch.equal(torch.rand(1), expected)


def test_batch_normalisation_works_for_one_model_and_is_refused_for_several() -> None:
    def normalised() -> nn.Module:
        return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(6))

    alone = Encoder(normalised)
    alone(torch.randn(2, 6, 3))
    assert alone.form[1].num_batches_tracked == 1
    with pytest.raises(ValueError, match="without buffers"):
        Encoder(normalised, splits=(0, 1))


def test_what_makes_no_network_is_refused() -> None:
    with pytest.raises(ValueError, match="function that made int"):
        Encoder(lambda: 3)


def test_the_default_network_is_a_perceptron() -> None:
    model = Encoder(d=3, hidden=(5, 4), width=2)
    assert [tuple(p.shape) for p in model.stacked] == [
        (1, 5, 3), (1, 5), (1, 4, 5), (1, 4), (1, 2, 4), (1, 2)
    ]  # fmt: skip
    assert model(torch.rand(2, 6, 3)).shape == (2, 6, 6)
    with pytest.raises(ValueError, match="needs a network, or d"):
        Encoder()
