"""Squares and condensed vectors: read, checked on the way, and the same trees of either."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import squareform

import supclust
from supclust.hac import linkages
from supclust.hac.cpu import dispatch as chain
from supclust.hac.cpu.fill import TILE, copy_checked, points_of, unfold_checked
from supclust.hac.memory import workspace

DTYPES = [np.float32, np.float64]
SIZES = (*range(2, 70), 127, 128, 129, 300)  # around every multiple of a tile
MEMBERS = [-math.inf, -1.0, 0.0, 1.0, math.inf]


def random_condensed(rng: np.random.Generator, n: int, dtype: type = np.float64) -> np.ndarray:
    return rng.normal(size=n * (n - 1) // 2).astype(dtype)


def unfolded(condensed: np.ndarray, step: int | None = None) -> tuple[np.ndarray, list]:
    """The square, whose diagonal stays NaN, in parts of ``step`` rows, and what was found."""
    n = points_of(condensed.size)
    square = np.full((n, n), np.nan, condensed.dtype)
    found = [
        unfold_checked(condensed, n, square, start, min(start + (step or n), n))
        for start in range(0, n, step or n)
    ]
    return square, found


@pytest.mark.parametrize("dtype", DTYPES)
def test_unfolds_as_scipy_does(dtype: type, rng: np.random.Generator) -> None:
    for n in SIZES:
        condensed = random_condensed(rng, n, dtype)
        expected = squareform(condensed, checks=False)
        np.fill_diagonal(expected, np.nan)
        for step in (None, TILE, 3 * TILE):
            square, found = unfolded(condensed, step)
            np.testing.assert_array_equal(square, expected)
            assert all(plain for plain, _, _ in found)
            assert min(low for _, low, _ in found) == condensed.min()
            assert max(high for _, _, high in found) == condensed.max()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 2e30, -2e30])
def test_anything_odd_is_seen_wherever_it_stands(
    dtype: type, odd: float, rng: np.random.Generator
) -> None:
    for n in (2, 5, 16, 17, 41):
        condensed = random_condensed(rng, n, dtype)
        for place in range(condensed.size):
            changed = condensed.copy()
            changed[place] = odd
            assert not unfolded(changed)[1][0][0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100])
def test_a_copy_is_checked(dtype: type, n: int, rng: np.random.Generator) -> None:
    wide = rng.normal(size=(n + 3, n + 5)).astype(dtype)
    wide[:n, :n] += wide[:n, :n].T.copy()
    copy, off_diagonal = np.empty((n, n), dtype), ~np.eye(n, dtype=bool)
    numbers = wide[:n, :n][off_diagonal]
    assert copy_checked(wide, n, copy, 0, n) == (True, numbers.min(), numbers.max())
    np.testing.assert_array_equal(copy[off_diagonal], numbers.reshape(copy[off_diagonal].shape))
    for _ in range(20):
        i, j = rng.permutation(n)[:2]
        for odd, both in ((9.5, False), (np.nan, True), (np.inf, True), (-np.inf, True)):
            spoiled = wide.copy()
            spoiled[i, j] = odd
            if both:
                spoiled[j, i] = odd
            assert not copy_checked(spoiled, n, copy, 0, n)[0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [17, 40, 100])
def test_a_copy_in_parts_in_any_order(dtype: type, n: int, rng: np.random.Generator) -> None:
    matrix = rng.normal(size=(n, n)).astype(dtype)
    matrix += matrix.T.copy()
    starts = rng.permutation(np.arange(0, n, TILE))
    for spoil in (False, True):
        copy = np.full((n, n), np.nan, dtype)
        if spoil:
            matrix[n - 1, 0] += 1
        found = [copy_checked(matrix, n, copy, a, min(a + TILE, n)) for a in starts.tolist()]
        np.testing.assert_array_equal(copy, matrix)
        assert all(plain for plain, _, _ in found) is not spoil
        if not spoil:
            numbers = matrix[~np.eye(n, dtype=bool)]
            assert min(low for _, low, _ in found) == numbers.min()
            assert max(high for _, _, high in found) == numbers.max()


@pytest.mark.parametrize("alpha", MEMBERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("small", [2000, 40], ids=["small kernel", "large kernel"])
def test_same_tree_as_of_the_square(
    alpha: float, dtype: type, small: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "SMALL", small)
    for n in (2, 3, 17, 130):
        plain = random_condensed(rng, n, dtype)
        infinite = np.where(rng.random(plain.size) < 0.3, np.inf, plain).astype(dtype)
        for given in (plain, infinite, plain * dtype(1e32)):
            kept = given.copy()
            found = supclust.linkage(given, alpha=alpha)
            square = squareform(given, checks=False)
            np.testing.assert_array_equal(found, supclust.linkage(square, alpha=alpha))
            np.testing.assert_array_equal(given, kept)


@pytest.mark.filterwarnings("error")
def test_what_was_in_memory_before_is_not_converted(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The diagonal of a workspace is undefined: a signalling NaN would warn."""
    monkeypatch.setattr(chain, "SMALL", 40)
    workspace("square", 80 * 80, np.dtype(np.float32)).view(np.uint32)[:] = 0x7FA00000
    supclust.linkage(random_condensed(rng, 80, np.float32) * np.float32(1e32), "single")


def test_alpha_beyond_float32(rng: np.random.Generator) -> None:
    condensed = random_condensed(rng, 30, np.float32)
    expected = supclust.linkage(squareform(condensed), alpha=1e39)
    np.testing.assert_array_equal(supclust.linkage(condensed, alpha=1e39), expected)


def test_any_layout(rng: np.random.Generator) -> None:
    condensed = random_condensed(rng, 30)
    wide = np.zeros(2 * condensed.size)
    wide[::2] = condensed
    expected = supclust.linkage(condensed, "average")
    np.testing.assert_array_equal(supclust.linkage(wide[::2], "average"), expected)
    np.testing.assert_array_equal(linkages([wide[::2]], "average")[0], expected)


@pytest.mark.large
@pytest.mark.parametrize("alpha", MEMBERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_blocks_of_either_form(alpha: float, dtype: type, rng: np.random.Generator) -> None:
    sizes = [1, 2, 40, 7, chain.SMALL + 100, 3]
    condensed = [random_condensed(rng, n, dtype) for n in sizes]
    condensed[3][5] = np.inf
    squares = [
        squareform(c, checks=False) if c.size else np.zeros((1, 1), dtype) for c in condensed
    ]
    expected = [supclust.linkage(square, alpha=alpha) for square in squares]
    mixed = [
        c if k % 2 else square for k, (c, square) in enumerate(zip(condensed, squares, strict=True))
    ]
    for blocks in (condensed, mixed):
        for tree, one in zip(linkages(blocks, alpha=alpha), expected, strict=True):
            np.testing.assert_array_equal(tree, one)


@pytest.mark.parametrize("n", [9, pytest.param(chain.SMALL + 100, marks=pytest.mark.large)])
def test_what_is_wrong_is_refused(n: int, rng: np.random.Generator) -> None:
    condensed = random_condensed(rng, n)
    condensed[0] = np.nan
    with pytest.raises(ValueError, match=r"neither NaN nor -inf; received nan at \[0, 1\]"):
        supclust.linkage(condensed, "average")
    with pytest.raises(ValueError, match=r"block 1: .*received nan at \[0, 1\]"):
        linkages([np.zeros(3), condensed], "average")
    with pytest.raises(ValueError, match=r"block 1: .*received 4, between 3 \(3 points\)"):
        linkages([np.zeros(3), np.zeros(4)], "average")
