"""Single linkage of data in any order, from a square or straight from a condensed vector."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist, squareform

from supclust.hac import _linkage as api
from supclust.hac import memory
from supclust.hac.cpu import dispatch as chain
from supclust.hac.cpu.condensed import is_plain_vector
from supclust.hac.cpu.prim import go_on, nothing_reached, prim, prim_in_order
from supclust.hac.cpu.simd.relax import reach

DTYPES = [np.float32, np.float64]
LENGTHS = (*range(1, 140), 300, 1000, 2049)  # around every multiple of a vector


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


@njit
def reached(values, begin, nearest, start, length):  # type: ignore[no-untyped-def]
    return reach(values, begin, nearest, start, length)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_step_finds_the_first_of_the_nearest(dtype: type, rng: np.random.Generator) -> None:
    begin, start = 5, 3
    for length in LENGTHS:
        for ties in (False, True):
            numbers = (
                rng.integers(-3, 3, 2 * length + 20) if ties else rng.normal(size=2 * length + 20)
            )
            values = numbers[: length + 10].astype(dtype)
            nearest = numbers[length + 10 :].astype(dtype)
            gone = rng.random(nearest.size) < 0.4
            gone[start + rng.integers(length)] = False
            nearest[gone] = np.inf
            values[begin : begin + length][gone[start : start + length]] = rng.choice(
                [np.nan, -np.inf, np.inf, 0.0]
            )  # as a diagonal may be
            row, known = values[begin : begin + length], nearest[start : start + length]
            expected = nearest.copy()
            expected[start : start + length] = np.where(
                known == np.inf, np.inf, np.where(row < known, row, known)
            )
            place = np.argmin(expected[start : start + length])
            assert reached(values, begin, nearest, start, length) == place
            np.testing.assert_array_equal(nearest, expected)


def on_a_line(rng: np.random.Generator, n: int, disorder: float) -> np.ndarray:
    x = np.cumsum(rng.uniform(0.5, 1.5, n)) + disorder * rng.normal(size=n)
    return pdist(np.round(x)[:, None] if rng.random() < 0.3 else x[:, None])


def no_merges(n: int, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    return np.empty((n - 1, 2), np.int64), np.empty(n - 1, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("disorder", [0.0, 0.5, 3.0, 100.0])
def test_a_condensed_vector_gives_the_tree_of_its_square(
    dtype: type, disorder: float, rng: np.random.Generator
) -> None:
    for n in (2, 3, 4, 9, 33, 70, 150):
        condensed = on_a_line(rng, n, disorder).astype(dtype)
        square = squareform(condensed, checks=False)
        expected = no_merges(n, dtype)
        prim(square, *expected)
        for patience in (n * n, 0, 1, n, 3 * n):
            found, nearest = no_merges(n, dtype), nothing_reached(n, condensed)
            done = prim_in_order(condensed, n, *found, nearest, patience)
            assert done == n - 1 or patience < n * n
            go_on(square, *found, nearest, done)
            for ours, theirs in zip(found, expected, strict=True):
                np.testing.assert_array_equal(ours, theirs)


def test_it_stops_where_too_much_has_to_be_picked(rng: np.random.Generator) -> None:
    n = 200
    for condensed, patience, most in (
        (on_a_line(rng, n, 0.0), 0, n),
        (pdist(rng.normal(size=(n, 5))), 16 * n, n // 2),
    ):
        done = prim_in_order(condensed, n, *no_merges(n), nothing_reached(n, condensed), patience)
        assert done < most and (done == n - 1) == (most == n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 2e30, -2e30])
def test_anything_odd_in_a_vector_is_seen_wherever_it_stands(
    dtype: type, odd: float, rng: np.random.Generator
) -> None:
    for size in (1, 7, 63, 500, 200_000):
        values = rng.normal(size=size).astype(dtype)
        assert is_plain_vector(values)
        for place in {0, size - 1, *rng.integers(size, size=20).tolist()}:
            kept, values[place] = values[place], odd
            assert not is_plain_vector(values)
            values[place] = kept


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ordered", [300, 150, 0])
def test_large_vectors(
    dtype: type, ordered: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In order to the end, to the middle, or not at all."""
    monkeypatch.setattr(chain, "SMALL", 40)
    finished = []
    finish = api._Begun.finish
    monkeypatch.setattr(
        api._Begun, "finish", lambda *args: finished.append(args[0].done) or finish(*args)
    )
    x = np.cumsum(rng.uniform(0.5, 1.5, 300))
    x[ordered:] = rng.permutation(x[ordered:])
    condensed = pdist(x[:, None]).astype(dtype)
    for odd in (None, np.inf, 1e31):
        if odd is not None:
            condensed[7] = odd
        found = api.linkage(condensed, "single")
        np.testing.assert_array_equal(found, api.linkage(squareform(condensed), "single"))
        assert len(finished) == (ordered < 300)
    assert not finished or (finished[0] >= ordered - 1 and finished[0] < 299)
    condensed[7] = np.nan
    with pytest.raises(ValueError, match="neither NaN"):
        api.linkage(condensed, "single")


def test_points_in_order_need_no_room_for_a_square(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**20)
    x = np.cumsum(rng.uniform(0.5, 1.5, 2100))
    condensed = pdist(x[:, None])
    assert len(api.linkage(condensed, "single")) == 2099
    wide = np.zeros(2 * condensed.size)
    wide[::2] = condensed
    with pytest.raises(ValueError, match=r"a contiguous copy of .* numbers needs"):
        api.linkage(wide[::2], "single")
    condensed = pdist(rng.permutation(x)[:, None])
    with pytest.raises(ValueError, match=r"2,100 points from a condensed vector needs"):
        api.linkage(condensed, "single")
