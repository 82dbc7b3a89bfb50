"""Arguments of the wrong kind: each is refused in words of this package, not of NumPy or torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from supclust.hac import linkage, linkages
from supclust.hac.dendrogram import Dendrogram
from supclust.hac.module import ExpLinkHAC
from supclust.hac.topdown import random_tree, recursive_sparsest_cut
from supclust.hac.tree import cut_tree

PAIR = (np.array([[0, 1]]), np.array([0.5]), np.array([2]))
POINT = (np.empty((0, 2), dtype=int), np.empty(0), np.empty(0, dtype=int))
Z = np.array([[0, 1, 0.5, 2]])
D = torch.tensor([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    "height", ["x", "1.0", 1j, np.complex128(1), [1, 2], np.zeros(1), {}], ids=repr
)
def test_a_height_is_one_real_number(height: Any) -> None:
    with pytest.raises(ValueError, match=r"height must be .*; received .*; pass "):
        cut_tree(Z, height=height)
    with pytest.raises(ValueError, match=r"height must be .*; received .*; pass "):
        Dendrogram.from_blocks([PAIR]).cut(height=height)


def test_a_complex_tensor_is_no_height() -> None:
    with pytest.raises(ValueError, match="block 0: height must be one real number; received"):
        Dendrogram.from_blocks([PAIR]).cut(height=torch.tensor([1j]))


@pytest.mark.parametrize("name", ["height", "n_clusters"])
@pytest.mark.parametrize("value", [[1, 2], (1, 2), np.array([1, 2])], ids=repr)
def test_one_value_per_block_comes_as_a_tensor(name: str, value: Any) -> None:
    tree = Dendrogram.from_blocks([PAIR, PAIR])
    with pytest.raises(ValueError, match=rf"{name} must be .* \(2,\).*; received .*torch.tensor"):
        tree.cut(**{name: value})
    assert tree.cut(**{name: torch.as_tensor(value)}).shape == (2, 2)


@pytest.mark.parametrize(
    "height", [1, 1.0, np.float32(1), np.int64(1), np.array(1.0), torch.tensor(1.0), np.inf]
)
def test_heights_of_any_real_kind_are_taken(height: Any) -> None:
    assert cut_tree(Z, height=height).tolist() == [0, 0]


@pytest.mark.parametrize("n", [1, 0, -1])
def test_blocks_must_fit_the_width(n: int) -> None:
    with pytest.raises(ValueError, match=f"n must be at least .*, 2; received {n}; "):
        Dendrogram.from_blocks([PAIR], n=n)


@pytest.mark.parametrize("lengths", [[1], [3], [0], [2, 2], [-1]])
def test_lengths_must_fit_the_merges(lengths: list[int]) -> None:
    with pytest.raises(ValueError, match=r"lengths must be .*; received \[.*; leave"):
        Dendrogram.from_blocks([PAIR], lengths=lengths)


def test_a_block_without_merges_has_one_point_or_none() -> None:
    tree = Dendrogram.from_blocks([PAIR, POINT, POINT], lengths=[2, 1, 0])
    assert tree.check().lengths.tolist() == [2, 1, 0]


@pytest.mark.parametrize("n", [2.5, 2.0, "3", True, None], ids=repr)
def test_a_random_tree_has_a_whole_number_of_points(n: Any) -> None:
    with pytest.raises(ValueError, match=r"n must be an integer; received .*; pass"):
        random_tree(n)


def test_a_random_tree_takes_numpy_integers() -> None:
    np.testing.assert_array_equal(random_tree(np.int32(5)), random_tree(5))  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [D.numpy(), D.tolist(), None, 3.0], ids=lambda x: str(type(x)))
def test_the_module_takes_tensors_only(given: Any) -> None:
    kind = type(given).__name__
    with pytest.raises(ValueError, match=f"must be a torch tensor; received a {kind}.*as_tensor"):
        ExpLinkHAC(0.0)(given)


@pytest.mark.filterwarnings("error")
def test_complex_dissimilarities_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must be real numbers; received torch.complex64.*abs"):
        ExpLinkHAC(0.0)(D.to(torch.complex64))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "alpha",
    ["x", "single", 1j, torch.tensor(1j), np.array(1j), [[1.0], [1.0, 2.0]], {}],
    ids=repr,
)
def test_an_alpha_that_is_no_number_is_refused(alpha: Any) -> None:
    with pytest.raises(ValueError, match=r"alpha must be a number .*; received .*ExpLinkHAC\("):
        ExpLinkHAC(0.0)(D, alpha=alpha)


@pytest.mark.parametrize("alpha", [1, 10**30, -np.inf, [0.1], np.array([0.1]), torch.tensor([0.1])])
def test_an_alpha_of_any_real_kind_is_taken(alpha: Any) -> None:
    assert ExpLinkHAC(0.0)(D, alpha=alpha).heights.tolist() == [[1.0]]


@pytest.mark.parametrize("alpha", [-1.0, 0.0, 1.0])
def test_numbers_beyond_the_device_kernel_are_refused(alpha: float) -> None:
    rng = np.random.default_rng(0)
    half = np.triu(rng.uniform(-1, 1, (8, 8)), 1)
    values = torch.tensor(half + half.T)
    hac = ExpLinkHAC(alpha, kernel="device")
    with pytest.raises(ValueError, match=r"float32 must stay below 8\.5e\+37.*Pass float64"):
        hac((values * 3e38).float())
    tree = hac((values * 1e37).float())
    assert torch.isfinite(tree.heights).all()
    assert torch.equal(tree.children, hac(values * 1e37).children)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([[0, 1], [1]], r"received list \(.*Pass rows of one length"),
        (torch.ones(2, 2, requires_grad=True), r"received Tensor \(.*tensor.detach"),
        (torch.ones(2, 2, dtype=torch.bfloat16), r"received Tensor \(.*tensor.detach"),
        (np.ma.masked_less([[0, 1.0], [1, 0]], 0.5), r"masked entries. Fill them"),
    ],
    ids=["ragged", "grad", "bfloat16", "masked"],
)
def test_what_is_no_array_of_real_numbers(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        linkage(given, "average")
    with pytest.raises(ValueError, match=message):
        linkages([given], "average")


def test_a_masked_array_without_masked_entries_is_an_array() -> None:
    assert linkage(np.ma.array([[0, 1.0], [1, 0]]), "average").tolist() == [[0, 1, 1, 2]]


def test_alpha_of_hundreds_of_digits() -> None:
    with pytest.raises(ValueError, match="alpha must be a number from -inf to inf"):
        linkage([[0, 1], [1, 0]], alpha=10**400)


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        (np.nan, r"received nan at \[0, 2\]"),
        (9.0, r"symmetric; received 9\.0 at \[0, 2\] but 1\.0 at \[2, 0\]"),
        (np.inf, r"symmetric; received inf at \[0, 2\]"),
    ],
)
def test_sparsest_cuts_say_where_a_matrix_is_odd(odd: float, message: str) -> None:
    matrix = np.ones((4, 4))
    matrix[0, 2] = odd
    with pytest.raises(ValueError, match=message):
        recursive_sparsest_cut(matrix)
