"""The device kernel against the replay oracle, SciPy, and itself on padded and mixed batches."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

import generators
from oracles.hac import greedy_tree, replay
from supclust.hac.device import reciprocal_pairs as rounds
from supclust.hac.device.merge_buffer import row_minima
from supclust.hac.device.reciprocal_pairs import rounds_tree

ALPHAS = [-math.inf, -50.0, -1.0, -1e-3, 0.0, 1e-3, 1.0, 50.0, math.inf]
TOLERANCE = {torch.float64: 1e-9, torch.float32: 4e-6}
SCIPY = {-math.inf: "single", 0.0: "average", math.inf: "complete"}
FAMILIES = pytest.mark.parametrize("family", generators.FAMILIES)


def problem(family: str, n: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> torch.Tensor:
    D, _ = generators.FAMILIES[family](n, np.random.default_rng(seed + n))
    return torch.tensor(D, dtype=dtype)


def assert_same_tree(Z: np.ndarray, expected: np.ndarray) -> None:
    """Equal ids; heights to the last digits, as torch's exp rounds by place in memory."""
    np.testing.assert_array_equal(Z[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-13)


def padded(matrices: list[torch.Tensor], n: int, fill: float = math.nan) -> torch.Tensor:
    batch = torch.full((len(matrices), n, n), fill, dtype=matrices[0].dtype)
    for i, D in enumerate(matrices):
        batch[i, : len(D), : len(D)] = D
    return batch


@FAMILIES
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_every_merge_is_the_lowest_of_its_time(
    family: str, alpha: float, dtype: torch.dtype
) -> None:
    """One ragged batch; padding is NaN, so anything read from there would show."""
    matrices = [problem(family, n, dtype) for n in (14, 3, 1, 2, 9)]
    batch = padded([*matrices, torch.empty(0, 0, dtype=dtype)], 16)
    before = batch.clone()
    tree = rounds_tree(batch, torch.tensor([14, 3, 1, 2, 9, 0]), alpha)
    tree.check()
    assert tree.heights.dtype == dtype
    assert tree.heights.shape == (6, 15)
    assert torch.equal(batch.nan_to_num(), before.nan_to_num())
    for i, D in enumerate(matrices):
        replay(D.double().numpy(), tree.to_scipy(i), alpha, rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("alpha", SCIPY)
@pytest.mark.parametrize("family", ["random", "chain_growing", "huge_values", "negative"])
def test_classical_linkages_are_scipys(family: str, alpha: float) -> None:
    D = problem(family, 60)
    expected = linkage(squareform(D.numpy(), checks=False), SCIPY[alpha])
    np.testing.assert_allclose(rounds_tree(D[None], None, alpha).to_scipy(), expected, rtol=1e-9)


@pytest.mark.parametrize("family", ["random", "negative", "faces_like"])
@pytest.mark.parametrize("alpha", [-1.0, 0.3])
def test_without_ties_the_tree_is_the_greedy_one(family: str, alpha: float) -> None:
    D = problem(family, 13)
    expected = greedy_tree(D.numpy(), alpha)
    np.testing.assert_allclose(rounds_tree(D[None], None, alpha).to_scipy(), expected, rtol=1e-9)


def test_alpha_per_block_equals_one_block_at_a_time() -> None:
    D = torch.stack([problem("random", 12, seed=s) for s in range(len(ALPHAS))])
    mixed = rounds_tree(D, None, torch.tensor(ALPHAS, dtype=torch.float64))
    for i, alpha in enumerate(ALPHAS):
        alone = rounds_tree(D[i : i + 1], None, alpha).to_scipy()
        assert_same_tree(mixed.to_scipy(i), alone)


@pytest.mark.parametrize("alpha", [-math.inf, -1.0, 0.0, math.inf])
def test_padding_and_neighbours_change_nothing(alpha: float) -> None:
    D = problem("with_infinite", 11)
    other = 1e6 * problem("random", 20)
    alone = rounds_tree(D[None], None, alpha).to_scipy()
    batch = rounds_tree(padded([other, D], 25), torch.tensor([20, 11]), alpha)
    assert_same_tree(batch.to_scipy(1), alone)


@pytest.mark.parametrize("alpha", [-math.inf, -2.0, 0.0, 2.0, math.inf])
def test_all_infinite_gives_infinite_heights_and_no_nan(alpha: float) -> None:
    D = torch.full((1, 5, 5), math.inf)
    tree = rounds_tree(D, None, alpha).check()
    assert tree.heights.isposinf().all()


def test_a_stand_in_beyond_float32_is_computed_in_float64() -> None:
    D = 1e36 * problem("with_infinite", 10, torch.float32)
    tree = rounds_tree(D[None], None, 0.0).check()
    assert tree.heights.dtype == torch.float32
    replay(D.double().numpy(), tree.to_scipy(), 0.0, rtol=1e-6)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("alpha", [-1e30, 1e30, -1e300, 1e300])
def test_an_alpha_beyond_the_float_range_is_the_extreme(alpha: float, dtype: torch.dtype) -> None:
    D = 1e3 * problem("random", 12, dtype)
    extreme = rounds_tree(D[None], None, math.copysign(math.inf, alpha))
    tree = rounds_tree(D[None], None, alpha).check()
    torch.testing.assert_close(tree.heights, extreme.heights)


@pytest.mark.parametrize("alpha", [-math.inf, -1.0, 0.0, math.inf])
def test_larger_tied_problems_finish_and_compact(alpha: float) -> None:
    for family in ("all_equal", "integer_grid", "chain_equal"):
        D = problem(family, 70, torch.float32)
        tree = rounds_tree(D[None], None, alpha).check()
        if alpha == -math.inf:
            expected = linkage(squareform(D.double().numpy()), "single")
            np.testing.assert_array_equal(tree.to_scipy()[:, 2], expected[:, 2])


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_means_of_equal_values_do_not_drift(alpha: float, dtype: torch.dtype) -> None:
    """A mean a rounding error below its parts would put a parent in front of its children."""
    D = problem("all_equal", 70, dtype)
    heights = rounds_tree(D[None], None, alpha).heights
    assert torch.equal(heights, torch.full_like(heights, D[0, 1].item()))


@pytest.mark.parametrize("alpha", [-3.0, 0.0, 0.5])
def test_each_round_sees_a_symmetric_and_shrinking_matrix(
    alpha: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    widths = []

    def watched(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        assert torch.equal(matrix, matrix.mT)
        widths.append(matrix.shape[1])
        return row_minima(matrix)

    monkeypatch.setattr(rounds, "row_minima", watched)
    D = torch.stack([problem("random", 80, seed=s) for s in range(2)])
    rounds_tree(D, torch.tensor([80, 50]), alpha)
    assert widths[0] == 81  # and a bin
    assert widths[-1] <= 3
    assert widths == sorted(widths, reverse=True)


def test_row_minima_take_the_lowest_index() -> None:
    low, index = row_minima(torch.tensor([[[3.0, 1.0, 1.0], [2.0, 2.0, 2.0], [5.0, 4.0, 0.0]]]))
    assert low.tolist() == [[1.0, 2.0, 0.0]]
    assert index.tolist() == [[1, 0, 2]]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("alpha", ALPHAS)
def test_cuda_equals_cpu(alpha: float) -> None:
    D = torch.stack([problem("random", 40, seed=s) for s in range(3)])
    lengths = torch.tensor([40, 7, 23])
    there = rounds_tree(D.cuda(), lengths.cuda(), alpha)
    here = rounds_tree(D, lengths, alpha)
    assert there.children.is_cuda
    assert torch.equal(there.children.cpu(), here.children)
    torch.testing.assert_close(there.heights.cpu(), here.heights)
