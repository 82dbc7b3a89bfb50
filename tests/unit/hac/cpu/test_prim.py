"""Single linkage of data in any order, from a square or a condensed vector."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist, squareform

from supclust.hac import _linkage as api
from supclust.hac import memory
from supclust.hac.cpu import dispatch as chain

DTYPES = [np.float32, np.float64]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["ascending", "descending", "inside out", "outside in", "random"])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 33, 150])
def test_the_order_of_points_on_a_line_does_not_matter(
    n: int, order: str, dtype: type, rng: np.random.Generator
) -> None:
    x = np.cumsum(rng.uniform(0.5, 1.5, n))
    if order == "descending":
        x = x[::-1]
    elif order == "random":
        x = rng.permutation(x)
    elif order != "ascending":
        from_centre = np.argsort(np.abs(np.arange(n) - n // 2), kind="stable")
        x = x[from_centre if order == "inside out" else from_centre[::-1]]
    condensed = pdist(x[:, None])
    D = squareform(condensed).astype(dtype)
    np.fill_diagonal(D, np.nan)
    children, heights, sizes = chain.build_tree(D, -np.inf, 0.0, 0.0)
    expected = scipy_linkage(condensed, "single")
    np.testing.assert_allclose(heights, expected[:, 2], rtol=1e-4)
    np.testing.assert_array_equal(children, np.sort(expected[:, :2], axis=1))
    np.testing.assert_array_equal(sizes, expected[:, 3])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ordered", [300, 150, 0])
def test_a_condensed_vector_gives_the_tree_of_its_square(
    dtype: type, ordered: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "SMALL", 40)
    x = np.cumsum(rng.uniform(0.5, 1.5, 300))
    x[ordered:] = rng.permutation(x[ordered:])
    condensed = pdist(x[:, None]).astype(dtype)
    for odd in (None, np.inf, 1e31):
        if odd is not None:
            condensed[7] = odd
        tree = api.linkage(condensed, "single")
        np.testing.assert_array_equal(tree, api.linkage(squareform(condensed), "single"))
    condensed[7] = np.nan
    with pytest.raises(ValueError, match="neither NaN"):
        api.linkage(condensed, "single")


def test_too_little_memory_is_refused(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**20)
    monkeypatch.setattr(chain, "SMALL", 40)
    condensed = pdist(rng.normal(size=(2100, 1)))
    with pytest.raises(ValueError, match=r"2,100 points from a condensed vector needs"):
        api.linkage(condensed, "single")
