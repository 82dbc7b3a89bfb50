"""triplet_loss against a loop over given triplets; the sampling of triplets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import generators
from oracles import losses as oracle
from supclust.losses import sample_triplets, triplet_loss, triplet_losses
from supclust.losses.triplets import draw_cluster_triplets

LABELS = torch.tensor([4, 7, 4, 4, 9, 7])  # one cluster of three, of two, of one


@pytest.mark.parametrize("hinge", [{}, {"threshold": 2.0, "margin": 0.4}], ids=["plain", "hinge"])
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_equals_a_loop_over_the_triplets(hinge: dict[str, float], reduction: str) -> None:
    D, labels = generators.random(12, np.random.default_rng(0))
    triplets = sample_triplets(torch.tensor(labels), 5, torch.Generator().manual_seed(0))
    leaf = torch.tensor(D, requires_grad=True)
    loss = triplet_loss(leaf, torch.tensor(labels), triplets=triplets, reduction=reduction, **hinge)
    (gradient,) = torch.autograd.grad(loss, leaf)
    chosen = [tuple(row) for row in triplets.tolist()]
    expected, expected_gradient, _ = oracle.value_and_gradients(
        oracle.triplet_loss, D, chosen, reduction=reduction, **hinge
    )
    assert expected > 0
    assert loss.item() == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(oracle.pair_gradient(gradient), expected_gradient, atol=1e-12)


def test_samples_are_triplets_and_every_anchor_with_partners_has_its_share() -> None:
    anchor, partner, stranger = sample_triplets(LABELS, 50).unbind(dim=1)
    assert (anchor != partner).all()
    assert (LABELS[anchor] == LABELS[partner]).all()
    assert (LABELS[anchor] != LABELS[stranger]).all()
    counts = torch.bincount(anchor, minlength=6)
    assert counts.tolist() == [50, 50, 50, 50, 0, 50]  # the singleton has no partner


def test_samples_are_uniform() -> None:
    samples = sample_triplets(LABELS, 6000, torch.Generator().manual_seed(1))
    of_first = samples[samples[:, 0] == 0]
    partners = torch.bincount(of_first[:, 1], minlength=6) / 6000
    strangers = torch.bincount(of_first[:, 2], minlength=6) / 6000
    expected = torch.tensor([0, 0, 1 / 2, 1 / 2, 0, 0])
    torch.testing.assert_close(partners, expected, atol=0.03, rtol=0)
    expected = torch.tensor([0, 1 / 3, 0, 0, 1 / 3, 1 / 3])
    torch.testing.assert_close(strangers, expected, atol=0.03, rtol=0)


def test_the_generator_decides() -> None:
    D = torch.tensor(generators.random(6, np.random.default_rng(0))[0])

    def loss(seed: int) -> torch.Tensor:
        source = torch.Generator().manual_seed(seed)
        return triplet_loss(D, LABELS, generator=source, samples_per_point=3)

    assert loss(0) == loss(0)
    assert loss(0) != loss(1)


def test_a_generator_for_each_block_makes_blocks_independent() -> None:
    D = torch.tensor(generators.random(6, np.random.default_rng(0))[0])
    batch, labels = torch.stack([D, D]), torch.stack([LABELS, LABELS])

    def seeded(*seeds: int) -> list[torch.Generator]:
        return [torch.Generator().manual_seed(seed) for seed in seeds]

    first, second = triplet_losses(batch, labels, generator=seeded(3, 4), samples_per_point=3)
    swapped = triplet_losses(batch, labels, generator=seeded(4, 3), samples_per_point=3)
    assert swapped.tolist() == [second, first]


@pytest.mark.parametrize("labels", [[1], [1, 1, 1], [0, 1, 2]], ids=["point", "cluster", "apart"])
def test_without_partners_there_are_no_triplets(labels: list[int]) -> None:
    n = len(labels)
    assert sample_triplets(torch.tensor(labels)).shape == (0, 3)
    D = torch.tensor(generators.random(n, np.random.default_rng(0))[0], requires_grad=True)
    loss = triplet_loss(D, labels)
    loss.backward()
    assert loss == 0 and D.grad is not None and (D.grad == 0).all()


def test_rows_of_minus_one_are_padding() -> None:
    D = torch.tensor(generators.random(6, np.random.default_rng(0))[0])
    triplets = torch.tensor([[0, 2, 1], [-1, -1, -1]])
    alone = triplet_loss(D, LABELS, triplets=triplets[:1], threshold=1.0, margin=0.5)
    assert triplet_loss(D, LABELS, triplets=triplets, threshold=1.0, margin=0.5) == alone
    batch, labels = torch.stack([D, D]), torch.stack([LABELS, LABELS])
    both = torch.stack([triplets, triplets.flip(0)])
    per_block = triplet_losses(batch, labels, triplets=both, threshold=1.0, margin=0.5)
    assert per_block.tolist() == [alone, alone]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"samples_per_point": 0}, "samples_per_point must be at least 1; received 0"),
        ({"generator": [torch.Generator()] * 2}, "one for each of the 1 blocks; received 2"),
        ({"triplets": torch.zeros(4, 2).long()}, r"triplets must be integers of shape \(t, 3\)"),
        ({"triplets": torch.zeros(4, 3)}, "received torch.float32 of shape"),
        ({"triplets": torch.tensor([[0, 2, 6]])}, "must index points of their block.*received 6"),
        ({"triplets": torch.tensor([[0, 2, -1]])}, "Only whole rows may be -1"),
    ],
)
def test_refuses(arguments: dict[str, Any], message: str) -> None:
    D = torch.tensor(generators.random(6, np.random.default_rng(0))[0])
    with pytest.raises(ValueError, match=message):
        triplet_loss(D, LABELS, **arguments)


def test_a_batch_of_triplets_must_fit_the_batch() -> None:
    batch, labels = torch.ones(2, 6, 6), torch.stack([LABELS, LABELS])
    with pytest.raises(ValueError, match="for each of the 2 blocks; received 1"):
        triplet_loss(batch, labels, triplets=torch.tensor([[[0, 2, 1]]]))
    assert math.isfinite(triplet_loss(batch, labels))


def test_triplets_of_a_cluster_are_drawn_uniformly() -> None:
    labels = torch.tensor([[0, 1, 0, 1, 1, 0, -1]])
    anchors = torch.tensor([[0, 2, 5, -1]])
    generators = [torch.Generator().manual_seed(0)]
    row, within, across = draw_cluster_triplets(anchors, labels, 3000, generators)[0].unbind(1)
    for position, point in enumerate([0, 2, 5]):
        mine = row == position
        assert mine.sum() == 3000
        counts = torch.bincount(within[mine], minlength=7)
        assert counts[point] == 0 and counts.sum() == counts[[0, 2, 5]].sum()
        assert (counts[[p for p in (0, 2, 5) if p != point]] - 1500).abs().max() < 150
        rivals = torch.bincount(across[mine], minlength=7)[[1, 3, 4]]
        assert rivals.sum() == 3000 and (rivals - 1000).abs().max() < 150


def test_a_cluster_that_is_the_whole_block_or_one_point_gives_no_triplets() -> None:
    anchors, labels = torch.tensor([[0, 1], [0, -1]]), torch.tensor([[0, 0], [0, 1]])
    generators = [torch.Generator().manual_seed(k) for k in (0, 1)]
    assert draw_cluster_triplets(anchors, labels, 5, generators).shape == (2, 0, 3)
