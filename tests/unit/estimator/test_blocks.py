"""From rows, labels and groups to blocks, and what is held out of them."""

from __future__ import annotations

import numpy as np
import pytest

from supclust.data.block import Block
from supclust.data.splits import hold_out
from supclust.estimator.blocks import Blocks, condensed, label_codes, rows_by_group
from training_blocks import block_of, vector_block


def test_groups_keep_the_order_of_their_first_rows() -> None:
    names, rows = rows_by_group(np.array(["z", "a", "z", "m", "a"]), 5)
    assert names == ["z", "a", "m"]
    assert [part.tolist() for part in rows] == [[0, 2], [1, 4], [3]]
    names, rows = rows_by_group(None, 3)
    assert len(names) == 1 and rows[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b"], r"shape \(3,\); received shape \(2,\)"),
        (["a", None, "b"], "received None in row 1"),
        ([1.0, np.nan, 2.0], "received .*nan.* in row 1"),
    ],
)
def test_groups_are_checked(groups: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rows_by_group(groups, 3)


@pytest.mark.parametrize(
    ("y", "codes"),
    [
        ([5, -1, 7, 5], [0, -1, 1, 0]),
        ([5.0, np.nan, -1.0, 5.0], [0, -1, -1, 0]),
        (["b", "-1", "a", "b"], [0, -1, 1, 0]),
        (np.array(["b", -1, None, "b"], object), [0, -1, -1, 0]),
        ([True, False, True, True], [0, 1, 0, 0]),
    ],
)
def test_unlabelled_in_every_type(y: list, codes: list) -> None:
    found = label_codes(y, 4)
    assert (found == -1).tolist() == [c == -1 for c in codes]
    known = found[found >= 0]
    expected = np.array([c for c in codes if c >= 0])
    assert np.array_equal(known[:, None] == known, expected[:, None] == expected)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1], r"shape \(3,\); received shape \(2,\)"),
        ([0.5, 1.0, 2.0], "clusters, not quantities"),
        ([np.inf, 1.0, 2.0], "infinity"),
    ],
)
def test_labels_are_checked(y: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        label_codes(y, 3)


@pytest.mark.parametrize("kind", ["vectors", "pairs"])
def test_only_labelled_points_are_in_a_block(kind: str, rng: np.random.Generator) -> None:
    whole = rng.normal(size=(5, 5, 2))
    whole = whole + whole.transpose(1, 0, 2)
    points = rng.normal(size=(5, 2))
    features = points if kind == "vectors" else condensed(whole, 5, "")
    rows = [np.array([3, 0, 4, 1, 2]), np.array([5])]
    blocks = Blocks(kind, ["x", "y"], rows, 6, lambda k: features)
    codes = np.array([1, -1, 0, 1, -1, 0])
    (found,) = blocks.labelled(codes).values()  # the second has one point
    assert found.ids == ("3", "0", "2")
    assert found.labels.tolist() == [0, 0, 1]
    if kind == "vectors":
        assert np.array_equal(found.features, points[[0, 1, 4]])
    else:
        assert np.array_equal(found.features, whole[[0, 0, 1], [1, 4, 4]])


def test_blocks_are_held_out_by_share_and_seed(rng: np.random.Generator) -> None:
    blocks = [vector_block(f"block {k}", rng) for k in range(10)]
    train, dev = hold_out(blocks, 0.3, seed=0)
    assert (len(train), len(dev)) == (7, 3)
    assert {b.name for b in train} | {b.name for b in dev} == {b.name for b in blocks}
    assert hold_out(blocks, 0.3, seed=0)[1] == dev
    assert any(hold_out(blocks, 0.3, seed=s)[1] != dev for s in range(1, 5))
    assert len(hold_out(blocks, None, seed=0)[1]) == 2
    assert len(hold_out(blocks, 0.01, seed=0)[1]) == 1
    assert len(hold_out(blocks, 0.99, seed=0)[0]) == 1
    assert hold_out(blocks, 0, seed=0) == (blocks, [])


def test_clusters_of_one_block_are_held_out_whole(rng: np.random.Generator) -> None:
    block = vector_block("one", rng, sizes=(1, 4, 3, 2, 1, 3))
    for seed in range(5):
        (train,), (dev,) = hold_out([block], None, seed)
        assert (train.n_clusters, dev.n_clusters) == (4, 2)
        assert sorted([*train.ids, *dev.ids]) == sorted(block.ids)
        for part in (train, dev):
            assert part.n_clusters < part.n  # somebody belongs together
            clusters = {block.labels[block.ids.index(i)] for i in part.ids}
            assert part.n == np.isin(block.labels, list(clusters)).sum()


def test_nothing_is_held_out_of_too_little(rng: np.random.Generator) -> None:
    few = vector_block("few", rng, sizes=(3, 3, 2))
    assert hold_out([few], None, 0) == ([few], [])
    lonely = vector_block("lonely", rng, sizes=(3, 1, 1, 1, 1))  # one cluster has pairs
    assert hold_out([lonely], None, 0) == ([lonely], [])


def test_dev_blocks_have_something_to_choose_a_cut_by(rng: np.random.Generator) -> None:
    def singles(name: str) -> Block:
        return block_of(name, np.arange(3), "vectors", rng.normal(size=(3, 2)))

    blocks = [singles(f"s{k}") for k in range(5)] + [
        vector_block(f"v{k}", rng, sizes=(2, 2), d=2) for k in range(5)
    ]
    for seed in range(10):
        _, dev = hold_out(blocks, 0.1, seed)
        assert any(block.n_clusters < block.n for block in dev)


@pytest.mark.parametrize("share", [-0.1, 1, 1.5])
def test_the_share_is_checked(share: float, rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match="dev_fraction must be"):
        hold_out([vector_block("b", rng)], share, 0)
