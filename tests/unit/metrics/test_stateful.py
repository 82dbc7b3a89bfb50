from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torchmetrics import MetricCollection

from supclust.hac.dendrogram import Dendrogram
from supclust.metrics import (
    BCubed,
    DendrogramPurity,
    PairCounts,
    PairwiseF1,
    bcubed_scores,
    dendrogram_purity,
    mean_purity,
    pair_counts,
    scores_from_counts,
)
from trees import chain_tree, random_tree

SIZES = (1, 2, 7, 12)


@pytest.fixture
def trees(rng: np.random.Generator) -> list[np.ndarray]:
    return [random_tree(n, rng) for n in SIZES]


@pytest.fixture
def labels(rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.integers(0, 3, n) for n in SIZES]


@pytest.fixture
def predicted(rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.integers(0, 4, n) for n in SIZES]


def padded(blocks: list[np.ndarray]) -> torch.Tensor:
    rows = torch.full((len(blocks), max(map(len, blocks))), -1)
    for row, block in zip(rows, blocks, strict=True):
        row[: len(block)] = torch.from_numpy(block)
    return rows


def numbers(scores: dict[str, torch.Tensor]) -> dict[str, float]:
    return {name: value.item() for name, value in scores.items()}


def pooled_pairs(true: list[np.ndarray], pred: list[np.ndarray]) -> dict[str, float]:
    counts = map(pair_counts, true, pred)
    return scores_from_counts(PairCounts(*map(sum, zip(*counts, strict=True))))._asdict()


def pooled_bcubed(true: list[np.ndarray], pred: list[np.ndarray]) -> dict[str, float]:
    """One block in which no cluster spans two of the blocks."""
    apart = [100 * i for i in range(len(true))]
    whole = (np.concatenate([a + b for a, b in zip(x, apart, strict=True)]) for x in (true, pred))
    return bcubed_scores(*whole)._asdict()


FLAT = [(PairwiseF1, pooled_pairs), (BCubed, pooled_bcubed)]


@pytest.mark.parametrize("kind", [np.asarray, torch.as_tensor, np.ndarray.tolist])
@pytest.mark.parametrize("one_by_one", [True, False])
def test_purity_averages_over_defined_blocks(
    trees: list[np.ndarray], labels: list[np.ndarray], kind: Any, one_by_one: bool
) -> None:
    expected = mean_purity(map(dendrogram_purity, trees, labels))
    metric = DendrogramPurity()
    # A tree of no merges has no (0, 4) list form.
    given = [Z if kind is np.ndarray.tolist and len(Z) == 0 else kind(Z) for Z in trees]
    marks = [kind(block) for block in labels]
    if one_by_one:
        for Z, block in zip(given, marks, strict=True):
            metric.update(Z, block)
    else:
        metric.update(given, marks)
    assert metric.compute().item() == pytest.approx(expected.mean, rel=1e-12)
    assert metric.undefined.item() == expected.undefined >= 1
    assert metric.defined.item() == expected.defined


def test_purity_takes_a_dendrogram_with_padded_labels(
    trees: list[np.ndarray], labels: list[np.ndarray]
) -> None:
    """A block of no points is padding too."""
    blocks = [(Z[:, :2].astype(int), Z[:, 2], Z[:, 3].astype(int)) for Z in [*trees, trees[0]]]
    batch = Dendrogram.from_blocks(blocks, lengths=[*SIZES, 0])
    whole, apart = DendrogramPurity(), DendrogramPurity()
    whole.update(batch, padded([*labels, labels[0][:0]]))
    apart.update(trees, labels)
    assert whole.compute() == apart.compute()
    assert whole.undefined == apart.undefined


def test_purity_of_undefined_blocks_only_is_nan() -> None:
    metric = DendrogramPurity()
    metric.update(chain_tree(2), [0, 1])
    assert math.isnan(metric.compute().item())
    assert metric.undefined == 1


@pytest.mark.parametrize(("kind", "pool"), FLAT)
@pytest.mark.parametrize("form", [np.asarray, torch.as_tensor, np.ndarray.tolist])
def test_flat_scores_pool_blocks(
    labels: list[np.ndarray], predicted: list[np.ndarray], kind: Any, pool: Any, form: Any
) -> None:
    expected = pytest.approx(pool(labels, predicted), rel=1e-12)
    single, listed, batch = kind(), kind(), kind()
    for true, pred in zip(labels, predicted, strict=True):
        single.update(form(true), form(pred))
    listed.update([form(block) for block in labels], [form(block) for block in predicted])
    nothing = labels[0][:0]
    rows = padded([*labels, nothing]), padded([*predicted, nothing])
    batch.update(*rows, lengths=torch.tensor([*SIZES, 0]))
    assert numbers(single.compute()) == expected
    assert numbers(listed.compute()) == expected
    assert numbers(batch.compute()) == expected


@pytest.mark.parametrize(("kind", "pool"), FLAT)
def test_states_of_two_processes_add_up(
    labels: list[np.ndarray], predicted: list[np.ndarray], kind: Any, pool: Any
) -> None:
    """What torchmetrics does across processes, with its own reduction functions."""
    halves = [kind(), kind()]
    halves[0].update(labels[:2], predicted[:2])
    halves[1].update(labels[2:], predicted[2:])
    whole = kind()
    whole.update(labels[:1], predicted[:1])  # overwritten below
    for name, reduce in whole._reductions.items():
        setattr(whole, name, reduce(torch.stack([getattr(half, name) for half in halves])))
    assert numbers(whole.compute()) == pytest.approx(pool(labels, predicted), rel=1e-12)


def test_forward_scores_the_batch_and_keeps_the_total(
    labels: list[np.ndarray], predicted: list[np.ndarray]
) -> None:
    metric = PairwiseF1()
    metric(labels[2], predicted[2])
    batch = metric(labels[3], predicted[3])
    assert numbers(batch) == pytest.approx(pooled_pairs(labels[3:], predicted[3:]))
    assert numbers(metric.compute()) == pytest.approx(pooled_pairs(labels[2:], predicted[2:]))
    metric.reset()
    assert metric.true == metric.predicted == metric.shared == 0


def test_string_labels_and_collections() -> None:
    collection = MetricCollection({"pairs": PairwiseF1(), "points": BCubed()}, prefix="dev/")
    collection.update(["x", "x", "y"], ["a", "a", "a"])
    scores = collection.compute()
    assert len(scores) == 6
    assert all(value.ndim == 0 for value in scores.values())


def test_counts_stay_exact_where_single_precision_would_not() -> None:
    metric = PairwiseF1()
    many = np.zeros(6000, dtype=int)  # 17,997,000 pairs, beyond 2**24
    metric.update(many, many)
    metric.update([0, 0], [0, 1])
    assert metric.true.item() == 17_997_001
    assert metric.shared.item() == 17_997_000


def test_block_counts_must_agree() -> None:
    with pytest.raises(ValueError, match="as many blocks; received 2 and 1; pass one entry"):
        PairwiseF1().update([[0, 1], [0]], [[0, 1]])
    with pytest.raises(ValueError, match="as many blocks; received 1 and 2"):
        DendrogramPurity().update([chain_tree(2)], [[0, 0], [1, 1]])
