"""Laws of ExpLink trees that hold for every input, whichever kernel builds them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster.hierarchy import cophenet, fcluster
from scipy.spatial.distance import squareform

from supclust.hac import ExpLinkHAC, cut_tree
from supclust.metrics import adjusted_rand

KERNELS = pytest.mark.parametrize("kernel", ["cpu", "device"])
ALPHAS = st.sampled_from([-math.inf, -50.0, -1.0, -1e-3, 0.0, 1e-3, 1.0, 50.0, math.inf])


@st.composite
def matrices(draw: st.DrawFn, distinct: bool = False) -> np.ndarray:
    """Symmetric matrices, often with ties, of 2 to 12 points."""
    n = draw(st.integers(2, 12))
    values = st.integers(-20, 20) if not distinct else st.integers(-10_000, 10_000)
    triangle = draw(arrays(np.float64, n * (n - 1) // 2, elements=values, unique=distinct))
    return np.asarray(squareform(triangle / 7, checks=False))


def tree(D: np.ndarray, alpha: float, kernel: str) -> np.ndarray:
    return ExpLinkHAC(alpha, kernel=kernel)(torch.tensor(D)).to_scipy()  # type: ignore[arg-type]


@KERNELS
@given(D=matrices(), alpha=ALPHAS)
def test_heights_never_fall_and_stay_within_the_data(
    D: np.ndarray, alpha: float, kernel: str
) -> None:
    heights = tree(D, alpha, kernel)[:, 2]
    off = squareform(D, checks=False)
    assert (np.diff(heights) >= 0).all()
    assert heights.min() == off.min()
    assert heights.max() <= off.max() + 1e-12


@KERNELS
@given(D=matrices(distinct=True), alpha=ALPHAS, seed=st.integers(0, 99))
def test_permuting_points_permutes_the_tree(
    D: np.ndarray, alpha: float, seed: int, kernel: str
) -> None:
    order = np.random.default_rng(seed).permutation(len(D))
    positive = D + 2000  # SciPy's cophenet takes no negative heights
    joined = squareform(cophenet(tree(positive, alpha, kernel)))
    moved = squareform(cophenet(tree(positive[np.ix_(order, order)], alpha, kernel)))
    np.testing.assert_allclose(moved, joined[np.ix_(order, order)], rtol=1e-9, atol=1e-9)


@KERNELS
@given(D=matrices(), alpha=ALPHAS, extra=st.integers(0, 4))
def test_padding_changes_nothing(D: np.ndarray, alpha: float, extra: int, kernel: str) -> None:
    n = len(D)
    padded = torch.full((2, n + extra, n + extra), math.nan, dtype=torch.float64)
    padded[0, :n, :n] = torch.tensor(D)
    padded[1, :2, :2] = torch.tensor(D[:2, :2])
    result = ExpLinkHAC(alpha, kernel=kernel)(padded, torch.tensor([n, 2]))  # type: ignore[arg-type]
    np.testing.assert_allclose(result.to_scipy(0), tree(D, alpha, kernel), rtol=1e-12)


@KERNELS
@given(D=matrices(distinct=True))
def test_extreme_alphas_approach_single_and_complete(D: np.ndarray, kernel: str) -> None:
    for limit in (-math.inf, math.inf):
        near = tree(D, math.copysign(1e5, limit), kernel)
        np.testing.assert_allclose(near[:, 2], tree(D, limit, kernel)[:, 2], atol=1e-3)


@KERNELS
@given(D=matrices(), alpha=ALPHAS, share=st.floats(0, 1))
def test_cuts_are_scipys(D: np.ndarray, alpha: float, share: float, kernel: str) -> None:
    Z = tree(D, alpha, kernel)
    height = float(np.quantile(Z[:, 2], share))
    near = np.isclose(Z[:, 2], height, rtol=1e-12, atol=1e-12)
    assume((Z[near, 2] == height).all())  # SciPy needs heights from 0: the shift rounds them
    ours = cut_tree(Z, height=height)
    assert (
        adjusted_rand(ours, fcluster(Z - [0, 0, Z[0, 2], 0], height - Z[0, 2], "distance")) == 1.0
    )
    k = 1 + int(share * (len(D) - 1))
    assert len(np.unique(cut_tree(Z, n_clusters=k))) == k


@KERNELS
@given(D=matrices(), alpha=ALPHAS)
def test_input_is_not_changed(D: np.ndarray, alpha: float, kernel: str) -> None:
    given_tensor = torch.tensor(D)
    ExpLinkHAC(alpha, kernel=kernel)(given_tensor)  # type: ignore[arg-type]
    assert torch.equal(given_tensor, torch.tensor(D))
