from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import squareform

from supclust.data import Block, DataError, Dataset
from supclust.data.block import condensed_index, encode_labels


def points_block(n: int = 4, name: str = "b") -> Block:
    labels = np.arange(n, dtype=np.int64) % 2
    return Block(name, tuple(f"p{i}" for i in range(n)), labels, "vectors", np.eye(n))


def pairs_block(n: int = 5, d: int = 2) -> Block:
    rows = n * (n - 1) // 2
    features = np.arange(rows * d, dtype=np.float32).reshape(rows, d)
    labels = np.array([0, 0, 1, 1, 2], dtype=np.int64)[:n]
    return Block("b", tuple("vwxyz"[:n]), labels, "pairs", features)


def test_condensed_index_is_that_of_scipy():
    n = 7
    square = squareform(np.arange(n * (n - 1) // 2))
    i, j = np.triu_indices(n, 1)
    assert np.array_equal(condensed_index(i, j, n), square[i, j])


def test_labels_are_numbered_by_first_appearance():
    labels, names = encode_labels(["q", "a", "q", "b"])
    assert labels.tolist() == [0, 1, 0, 2] and names == ("q", "a", "b")


@pytest.mark.parametrize("order", [[3, 1], [0, 4, 2], [4, 3, 2, 1, 0], [2]])
def test_selecting_points_selects_their_pairs(order):
    block = pairs_block()
    chosen = block.select(order)
    whole = np.stack([squareform(block.features[:, c]) for c in range(2)], axis=2)
    for c in range(2):
        expected = whole[np.ix_(order, order)][:, :, c]
        if len(order) > 1:
            assert np.array_equal(squareform(chosen.features[:, c]), expected)
    assert chosen.ids == tuple(block.ids[i] for i in order)
    assert [chosen.cluster_names[c] for c in chosen.labels] == [
        block.cluster_names[block.labels[i]] for i in order
    ]


def test_selecting_vectors_takes_images_along():
    images = np.arange(4 * 6, dtype=np.uint8).reshape(4, 2, 3)
    block = points_block()
    block = Block("b", block.ids, block.labels, "vectors", block.features, images=images)
    chosen = block.select([2, 0])
    assert np.array_equal(chosen.images, images[[2, 0]])
    assert np.array_equal(chosen.features, block.features[[2, 0]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ids": ()}, "at least one point"),
        ({"ids": ("a", "b", "a", "c")}, "'a' appears more than once"),
        ({"labels": np.zeros(3, np.int64)}, r"labels must be int64 of shape \(4,\)"),
        ({"labels": np.zeros(4, np.int32)}, "labels must be int64"),
        ({"labels": np.array([0, 0, 2, 2])}, "every code 0..2"),
        ({"labels": np.array([-1, 0, 0, 0])}, "every code"),
        ({"kind": "graphs"}, "kind must be 'vectors' or 'pairs'"),
        ({"features": np.eye(3)}, r"must have shape \(4, d\)"),
        ({"features": np.zeros((4, 0))}, "d >= 1"),
        ({"kind": "pairs"}, r"must have shape \(6, d\)"),
        ({"features": np.eye(4, dtype=np.int64)}, "float32 or float64"),
        ({"features": np.diag([1, np.nan, 1, 1])}, "row 1 is not"),
        ({"features": np.diag([1, 1, np.inf, 1])}, "row 2 is not"),
        ({"images": np.zeros((3, 2, 2), np.uint8)}, r"images must be \(4, height, width\)"),
    ],
)
def test_what_is_no_block_is_refused(change, message):
    good = {
        "name": "b",
        "ids": ("a", "b", "c", "d"),
        "labels": np.array([0, 1, 0, 1]),
        "kind": "vectors",
        "features": np.eye(4),
    }
    Block(**good)
    with pytest.raises(DataError, match=message):
        Block(**{**good, **change})


def test_a_dataset_holds_blocks_of_one_kind_and_width():
    block, other = points_block(), points_block(3, "c")
    with pytest.raises(DataError, match="block 'c' is 'vectors' with 3"):
        Dataset("s", "vectors", "file", (block, other), ("x",) * 4)
    with pytest.raises(DataError, match="at least one block"):
        Dataset("s", "vectors", "file", (), ("x",))
    with pytest.raises(DataError, match="names must be distinct"):
        Dataset("s", "vectors", "file", (block, block), ("x",) * 4)
    two = (block, points_block(4, "c"))
    with pytest.raises(DataError, match="exactly one block"):
        Dataset("s", "vectors", "file", two, ("x",) * 4, unit="cluster")


def test_counts_and_digest():
    def make(value: float) -> Dataset:
        block = pairs_block()
        features = block.features.copy()
        features[0, 0] = value
        changed = Block("b", block.ids, block.labels, "pairs", features)
        return Dataset("s", "pairs", "file", (changed,), ("x", "y"), unit="cluster")

    data = make(0.0)
    assert (data.n, data.n_clusters, data.n_pairs, data.d) == (5, 3, 10, 2)
    assert data.digest() == make(0.0).digest() != make(0.5).digest()
    assert data.with_notes("a").notes == ("a",) and data.notes == ()
