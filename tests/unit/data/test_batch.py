"""Batches of blocks: padding, sharing, grouping, and the order of steps."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from supclust.data.batch import BlockStore, Unit, grouped_by_size
from supclust.data.datamodule import BlockDataModule
from supclust.data.splits import DatasetSplit
from training_blocks import overlapping_parts, pair_block, vector_block


def test_vectors_are_padded_and_labels_marked() -> None:
    rng = np.random.default_rng(0)
    small, large = vector_block("s", rng, (2, 1)), vector_block("l", rng, (3, 2))
    batch = BlockStore([small, large]).batch([Unit(1, small), Unit(0, large)])
    assert batch.features.shape == (2, 5, 4)
    np.testing.assert_allclose(batch.features[0, :3], small.features, rtol=1e-6)
    assert not batch.features[0, 3:].any()
    assert batch.labels.tolist() == [[0, 0, 1, -1, -1], [0, 0, 0, 1, 1]]
    assert batch.lengths.tolist() == [3, 5]
    assert batch.split_of_block.tolist() == [1, 0]
    assert batch.names == ("s", "l") and len(batch) == 2 and batch.anchors is None


def test_blocks_shared_by_splits_are_one_entry_and_no_copy() -> None:
    rng = np.random.default_rng(0)
    blocks = [pair_block(f"b{k}", rng) for k in range(2)]
    store = BlockStore([*blocks, *blocks], torch.float64)
    units = [Unit(s, blocks[s % 2]) for s in range(6)]
    batch = store.batch(units)
    assert len(batch.features) == 2 and batch.row_of_block.tolist() == [0, 1, 0, 1, 0, 1]
    for entry, block in zip(batch.features, blocks, strict=True):
        assert entry.data_ptr() == block.features.__array_interface__["data"][0]


def test_a_step_about_a_cluster_names_its_points() -> None:
    block = vector_block("b", np.random.default_rng(0), (2, 3, 1))
    batch = BlockStore([block]).batch([Unit(0, block, 1), Unit(0, block, 2)])
    assert batch.anchors.tolist() == [[2, 3, 4], [5, -1, -1]]


def test_groups_keep_to_the_budget_and_lose_nothing() -> None:
    rng = np.random.default_rng(0)
    units = [Unit(0, vector_block(str(k), rng, (1 + k % 7, 2))) for k in range(20)]
    groups = grouped_by_size(units, budget=200)
    assert sorted(int(u.block.name) for g in groups for u in g) == list(range(20))
    assert all(len(g) * max(u.block.n for u in g) ** 2 <= 200 for g in groups)
    assert len(groups) < 12
    assert [len(g) for g in grouped_by_size(units[:2], budget=1)] == [1, 1]


def test_a_large_block_does_not_pad_the_small_ones() -> None:
    rng = np.random.default_rng(0)
    large, *small = (Unit(k, vector_block(str(k), rng, (m,))) for k, m in enumerate((500, 9, 8)))
    assert grouped_by_size([small[1], large, small[0]], budget=10**9) == [[large], small]
    parts = [DatasetSplit((unit.block,), (), ()) for unit in (large, *small)]
    (step,) = BlockDataModule(parts).steps(0)
    assert [batch.labels.shape for batch in step] == [(1, 500), (2, 9)]


@pytest.mark.parametrize("step_unit", ["block", "cluster"])
def test_a_split_sees_the_same_steps_alone_and_in_company(step_unit: str) -> None:
    parts = overlapping_parts("vectors")
    together = BlockDataModule(parts, [4, 0, 7], seed=1, step_unit=step_unit)
    for position, number in enumerate([4, 0, 7]):
        alone = BlockDataModule([parts[position]], [number], seed=1, step_unit=step_unit)
        for epoch in (0, 5):
            seen = [
                (batch.names[i], None if batch.anchors is None else batch.anchors[i].max().item())
                for step in together.steps(epoch)
                for batch in step
                for i in (batch.split_of_block == position).nonzero()[:, 0].tolist()
            ]
            expected = [
                (b.names[0], None if b.anchors is None else b.anchors[0].max().item())
                for (b,) in alone.steps(epoch)
            ]
            assert seen == expected
            clusters = sum(block.n_clusters for block in parts[position].train)
            assert len(seen) == (len(parts[position].train) if step_unit == "block" else clusters)


def test_the_order_changes_from_epoch_to_epoch() -> None:
    rng = np.random.default_rng(0)
    blocks = tuple(vector_block(str(k), rng, (1, 1)) for k in range(8))
    data = BlockDataModule([DatasetSplit(blocks, (), ())])
    orders = {tuple(batch.names[0] for (batch,) in data.steps(epoch)) for epoch in range(10)}
    assert len(orders) > 5
    assert all(sorted(order) == [str(k) for k in range(8)] for order in orders)


def test_inactive_splits_are_left_out() -> None:
    data = BlockDataModule(overlapping_parts("vectors"))
    data.active = (False, True, False)
    assert {int(s) for step in data.steps(0) for batch in step for s in batch.split_of_block} == {1}
    assert {int(s) for b in data.whole("dev", only_active=True) for s in b.split_of_block} == {1}
    assert {int(s) for b in data.whole("dev") for s in b.split_of_block} == {0, 1, 2}


def test_moving_a_batch_moves_all_of_it() -> None:
    for kind in ("vectors", "pairs"):
        parts = overlapping_parts(kind, 1)
        data = BlockDataModule(parts, step_unit="cluster")
        moved = next(data.steps(0))[0].to("meta")
        tensors = [moved.labels, moved.lengths, moved.split_of_block, moved.row_of_block]
        tensors += [moved.anchors, *moved.features]
        assert all(tensor.device.type == "meta" for tensor in tensors)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: BlockDataModule(p, step_unit="point"), "block, cluster, all; received 'point'"),
        (lambda p: BlockDataModule(p, [1]), "number each of the 3 parts"),
        (lambda p: BlockDataModule([]), "at least one"),
        (lambda p: BlockDataModule([DatasetSplit((), (), ())]), "at least one training block"),
        (
            lambda p: BlockStore([p[0].train[0], pair_block("p", np.random.default_rng(0))]),
            "one kind and width",
        ),
        (lambda p: BlockStore([]), "at least one block"),
    ],
)
def test_mistakes_are_explained(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(overlapping_parts("vectors"))
