"""Dendrogram: padding, SciPy form, cuts against fcluster, and all that check refuses."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from scipy.cluster.hierarchy import fcluster, is_valid_linkage, linkage
from scipy.spatial.distance import squareform

import generators
from supclust.hac.dendrogram import Dendrogram

LENGTHS = [9, 1, 2, 0, 6]


def scipy_tree(n: int, seed: int = 0) -> np.ndarray:
    D, _ = generators.random(n, np.random.default_rng(seed))
    return linkage(squareform(D), "average") if n > 1 else np.empty((0, 4))


def as_block(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return Z[:, :2].astype(np.int64), Z[:, 2], Z[:, 3].astype(np.int64)


@pytest.fixture
def ragged() -> Dendrogram:
    trees = [as_block(scipy_tree(n, seed=n)) for n in LENGTHS]
    return Dendrogram.from_blocks(trees, lengths=LENGTHS, n=11)


def same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.array_equal(a[:, None] == a, b[:, None] == b))


def test_from_blocks_pads_and_to_scipy_returns_what_went_in(ragged: Dendrogram) -> None:
    assert (len(ragged), ragged.n) == (5, 11)
    assert ragged.children.shape == (5, 10, 2)
    assert ragged.valid.sum(dim=1).tolist() == [8, 0, 1, 0, 5]
    assert (ragged.children[~ragged.valid] == -1).all()
    assert (ragged.heights[~ragged.valid] == 0).all() and (ragged.sizes[~ragged.valid] == 0).all()
    for i, n in enumerate(LENGTHS):
        np.testing.assert_array_equal(ragged.to_scipy(i), scipy_tree(n, seed=n))
    assert ragged.check() is ragged
    assert repr(ragged) == "Dendrogram(blocks=5, n=11, heights=torch.float64)"


def test_default_width_is_the_longest_block_and_float32_is_kept() -> None:
    children, heights, sizes = as_block(scipy_tree(4))
    tree = Dendrogram.from_blocks([(children, heights.astype(np.float32), sizes)])
    assert tree.n == 4
    assert tree.heights.dtype == torch.float32
    assert tree.to_scipy().dtype == np.float64
    assert is_valid_linkage(tree.to_scipy())


def test_from_blocks_refuses_nothing() -> None:
    with pytest.raises(ValueError, match="at least one block"):
        Dendrogram.from_blocks([])


@pytest.mark.parametrize("height", [-1.0, 0.0, 1.0, 2.0, 100.0, float("inf")])
def test_cut_at_a_height_is_fcluster(ragged: Dendrogram, height: float) -> None:
    labels = ragged.cut(height=height)
    assert labels.shape == (5, 11) and labels.dtype == torch.int64
    for i, n in enumerate(LENGTHS):
        assert (labels[i, n:] == -1).all()
        if n > 1:
            expected = fcluster(ragged.to_scipy(i), height, "distance")
            assert same_partition(labels[i, :n].numpy(), expected)


def test_cut_exactly_at_a_merge_applies_it(ragged: Dendrogram) -> None:
    heights = ragged.heights[:, 0]
    assert [len(set(row.tolist()) - {-1}) for row in ragged.cut(height=heights)] == [8, 1, 1, 0, 5]


def test_labels_are_numbered_by_first_appearance(ragged: Dendrogram) -> None:
    for row in ragged.cut(height=1.5).tolist():
        seen = list(dict.fromkeys(label for label in row if label >= 0))
        assert seen == list(range(len(seen)))


def test_cut_into_a_number_of_clusters_per_block(ragged: Dendrogram) -> None:
    labels = ragged.cut(n_clusters=torch.tensor([4, 1, 2, 7, 6]))
    assert [len(set(row.tolist()) - {-1}) for row in labels] == [4, 1, 2, 0, 6]
    expected = fcluster(ragged.to_scipy(0), 4, "maxclust")
    assert same_partition(labels[0, :9].numpy(), expected)
    assert ragged.cut(n_clusters=1).max() == 0
    assert torch.equal(ragged.cut(n_clusters=torch.tensor(1)), ragged.cut(n_clusters=1))


def test_heights_with_gradient_cut_and_convert(ragged: Dendrogram) -> None:
    heights = ragged.heights.clone().requires_grad_(True)
    tree = dataclasses.replace(ragged, heights=heights)
    assert torch.equal(tree.cut(height=1.0), ragged.cut(height=1.0))
    np.testing.assert_array_equal(tree.to_scipy(0), ragged.to_scipy(0))
    assert tree.check().heights.requires_grad


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({}, "exactly one of height and n_clusters"),
        ({"height": 1.0, "n_clusters": 2}, "exactly one of height and n_clusters"),
        ({"n_clusters": 0}, "block 0: n_clusters must lie between 1"),
        ({"n_clusters": 2}, "block 1: n_clusters must lie between 1 and the number of points, 1"),
        ({"height": float("nan")}, "height must be a number"),
        ({"height": torch.zeros(3)}, r"height must be one number or have shape \(5,\)"),
        ({"n_clusters": torch.ones(2, 2)}, r"n_clusters must be one number or have shape \(5,\)"),
    ],
)
def test_cut_refuses(ragged: Dendrogram, wish: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ragged.cut(**wish)


def changed(tree: Dendrogram, field: str, where: tuple, value: float) -> Dendrogram:
    tensor = getattr(tree, field).clone()
    tensor[where] = value
    return dataclasses.replace(tree, **{field: tensor})


@pytest.mark.parametrize(
    ("field", "where", "value", "message"),
    [
        ("children", (0, 0, 0), 99, "block 0: children of row 0"),
        ("children", (0, 0, 1), -1, "block 0: children of row 0"),
        ("children", (4, 4, 1), 0, "block 4: every node but the root must be merged exactly once"),
        ("sizes", (0, 3), 9, "block 0: the fourth column must count"),
        ("heights", (0, 2), 50.0, "block 0: heights must not decrease"),
        ("heights", (0, 2), float("nan"), "block 0: heights must be numbers"),
        ("heights", (1, 0), 1.0, "padding must hold"),
        ("children", (0, 9, 0), 0, "padding must hold"),
        ("lengths", (0,), 12, "lengths must lie between 0 and 11"),
        ("lengths", (0,), -1, "lengths must lie between 0 and 11"),
    ],
)
def test_check_refuses(
    ragged: Dendrogram, field: str, where: tuple, value: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        changed(ragged, field, where, value).check()


def test_check_refuses_the_larger_child_first(ragged: Dendrogram) -> None:
    with pytest.raises(ValueError, match="smaller child id must come first"):
        dataclasses.replace(ragged, children=ragged.children.flip(-1)).check()


def test_check_refuses_shapes_that_do_not_fit(ragged: Dendrogram) -> None:
    with pytest.raises(ValueError, match=r"must be \(b, n-1, 2\)"):
        dataclasses.replace(ragged, sizes=ragged.sizes[:, 1:]).check()
