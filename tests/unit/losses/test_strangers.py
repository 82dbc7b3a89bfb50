"""Complete clusters among points of unknown clusters: losses with masks, by definition."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
import torch

from oracles import losses as oracle
from supclust.data.batch import BlockStore, Unit
from supclust.data.block import Block
from supclust.losses import all_pairs_loss, best_loss, explink_loss, mst_loss, triplet_loss

HINGE = {"threshold": 1.0, "margin": 0.3}


def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Dissimilarities, and labels of up to 3 clusters among strangers (-1)."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    D = rng.normal(1.0, 0.5, (n, n))
    labels = rng.integers(-1, 3, n) if seed % 3 else np.where(rng.random(n) < 0.5, 7, -1)
    return np.triu(D, 1) + np.triu(D, 1).T, labels


def within_and_across(labels: Sequence[int]) -> tuple[list, list]:
    within, across = [], []
    for i, j in combinations(range(len(labels)), 2):
        if labels[i] == labels[j] != -1:
            within.append((i, j))
        elif labels[i] != labels[j]:
            across.append((i, j))
    return within, across


def compare(loss, expected, D, labels, **options) -> None:
    value, gradient, in_alpha = oracle.value_and_gradients(
        loss, D, torch.as_tensor(labels), unlabelled="other", **options
    )
    reference = oracle.value_and_gradients(expected, D, labels, **options)
    assert value == pytest.approx(reference[0], abs=1e-10)
    np.testing.assert_allclose(gradient, reference[1], atol=1e-10)
    assert in_alpha == pytest.approx(reference[2], abs=1e-9)
    unknown = np.asarray(labels) == -1
    assert not gradient[np.ix_(unknown, unknown)].any()


@pytest.mark.parametrize("kernel", ["cpu", "device"])
@pytest.mark.parametrize("alpha", [-np.inf, -3.0, 0.0, 2.0])
@pytest.mark.parametrize(
    "options",
    [
        {"variant": "ranking"},
        {"variant": "threshold", **HINGE, "competitors": "adjacent", "reduction": "mean"},
        {"variant": "threshold", **HINGE},
    ],
)
def test_explink(kernel: str, alpha: float, options: dict) -> None:
    for seed in range(6):
        D, labels = draw(seed)

        def loss(D, labels, alpha, **more):
            return explink_loss(D, labels, alpha, kernel=kernel, **more)

        def expected(D, labels, alpha, **more):
            return oracle.explink_loss(D, labels, alpha, strangers=True, **more)

        compare(loss, expected, D, labels, alpha=alpha, **options)


@pytest.mark.parametrize("options", [{}, HINGE, {**HINGE, "reduction": "mean"}])
@pytest.mark.parametrize("seed", range(6))
def test_losses_on_pairs(seed: int, options: dict) -> None:
    D, labels = draw(seed)
    given = {"threshold": None, "margin": None, "reduction": "sum", **options}
    within, across = within_and_across(labels)

    def partners(pairs: list, i: int) -> list[int]:
        return [a + b - i for a, b in pairs if i in (a, b)]

    def nearest(D, pairs) -> list:
        found = [oracle.nearest(D, i, partners(pairs, i)) for i in range(len(labels))]
        return [pair for pair in found if pair is not None]

    def all_pairs(D, labels, **_):
        return oracle.pair_loss(D, within, across, **given)

    def best(D, labels, **_):
        return oracle.pair_loss(D, nearest(D, within), nearest(D, across), **given)

    def mst(D, labels, **_):
        edges = []
        for label in set(labels.tolist()) - {-1}:
            edges += oracle.kruskal(D, np.flatnonzero(labels == label).tolist())
        return oracle.pair_loss(D, edges, nearest(D, across), **given)

    compare(all_pairs_loss, all_pairs, D, labels, **options)
    compare(best_loss, best, D, labels, **options)
    compare(mst_loss, mst, D, labels, **options)


def test_a_stranger_is_never_an_anchor() -> None:
    D, labels = torch.rand(4, 4), torch.tensor([0, 0, -1, -1])
    D = (D + D.T).requires_grad_(True)
    triplet_loss(D, labels, samples_per_point=20, **HINGE, unlabelled="other").backward()
    assert D.grad is not None and not D.grad[2:, 2:].any()


def test_by_default_minus_one_is_a_cluster() -> None:
    D, labels = draw(1)
    D, numbers = torch.as_tensor(D), torch.as_tensor(labels)
    assert explink_loss(D, numbers, -1.0) == explink_loss(D, numbers + 1, -1.0)
    with pytest.raises(ValueError, match="unlabelled must be one of cluster, other"):
        explink_loss(D, numbers, -1.0, unlabelled="ignored")


def test_batches_mark_the_strangers_of_blocks() -> None:
    points = np.zeros((4, 1))
    plain = Block("a", ("1", "2"), np.array([0, 0]), "vectors", points[:2])
    marks = np.array([False, False, True, True])
    mixed = Block("b", tuple("1234"), np.array([0, 0, 1, 2]), "vectors", points, strangers=marks)
    store = BlockStore([plain, mixed])
    assert store.batch([Unit(0, plain)]).strangers is None
    batch = store.batch([Unit(0, plain), Unit(0, mixed)])
    assert batch.strangers.tolist() == [[False] * 4, marks.tolist()]
    assert mixed.known_labels.tolist() == [0, 0, -1, -1]
    assert mixed.select([3, 0]).known_labels.tolist() == [-1, 1]
    with pytest.raises(ValueError, match="each with a code of its own"):
        Block("c", ("1", "2"), np.array([0, 0]), "vectors", points[:2], strangers=marks[1:3])
