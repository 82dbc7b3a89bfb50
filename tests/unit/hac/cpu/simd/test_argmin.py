"""Searches by explicit vectors against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from supclust.hac.cpu.checked_copy import copy_checked, fetch_ahead
from supclust.hac.cpu.simd.argmin import argmax, argmin, argmin_beyond, larger
from supclust.hac.cpu.simd.transpose import is_mirrored

LENGTHS = (*range(1, 140), 300, 2047, 2048, 2049, 5000)  # around every multiple of a vector
DTYPES = [np.float32, np.float64]


@njit
def searched(values, start, length, barrier):  # type: ignore[no-untyped-def]
    return (
        argmin(values, start, length),
        argmax(values, start, length),
        argmin_beyond(values, start, length, barrier),
    )


@njit
def chosen(a, b):  # type: ignore[no-untyped-def]
    return larger(a, b)


@njit
def mirrored(first, second, i, j):  # type: ignore[no-untyped-def]
    return is_mirrored(first, second, i, j)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("start", [0, 3])
def test_finds_the_first_of_equal_values(dtype: type, start: int, rng: np.random.Generator) -> None:
    for length in LENGTHS:
        for values in (
            rng.normal(size=length + start),
            rng.integers(-2, 3, size=length + start).astype(float),
            np.zeros(length + start),
        ):
            values = values.astype(dtype)
            barrier = np.where(rng.random(length) < 0.5, 100, 0).astype(dtype)
            part = values[start:]
            expected = (np.argmin(part), np.argmax(part), np.argmin(part + barrier))
            assert searched(values, start, length, barrier) == expected


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_place_is_found_even_among_nan(dtype: type) -> None:
    for length in (1, 5, 16, 70, 500):
        values, barrier = np.full(length, np.nan, dtype), np.zeros(length, dtype)
        assert all(0 <= place < length for place in searched(values, 0, length, barrier))


@pytest.mark.parametrize("dtype", DTYPES)
def test_larger(dtype: type) -> None:
    assert chosen(dtype(1), dtype(2)) == 2
    assert chosen(dtype(2), dtype(-3)) == 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_number_spoils_a_mirrored_tile(dtype: type, rng: np.random.Generator) -> None:
    side = 64 // np.dtype(dtype).itemsize
    values = rng.normal(size=(3 * side, 3 * side)).astype(dtype)
    values += values.T
    assert mirrored(values, values, side, 2 * side)
    for i in range(side):
        for j in range(side):
            spoiled = values.copy()
            spoiled[side + i, 2 * side + j] = np.nan if i == j else 9
            assert not mirrored(spoiled, spoiled, side, 2 * side)
            assert mirrored(spoiled, spoiled, 0, side)


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
    side = 64 // np.dtype(dtype).itemsize
    matrix = rng.normal(size=(n, n)).astype(dtype)
    matrix += matrix.T.copy()
    starts = rng.permutation(np.arange(0, n, side))
    for spoil in (False, True):
        copy = np.full((n, n), np.nan, dtype)
        if spoil:
            matrix[n - 1, 0] += 1
        found = [copy_checked(matrix, n, copy, a, min(a + side, n)) for a in starts.tolist()]
        np.testing.assert_array_equal(copy, matrix)
        assert all(plain for plain, _, _ in found) is not spoil
        if not spoil:
            numbers = matrix[~np.eye(n, dtype=bool)]
            assert min(low for _, low, _ in found) == numbers.min()
            assert max(high for _, _, high in found) == numbers.max()


def test_fetching_ahead_goes_on_behind_what_it_asked_for() -> None:
    for address in (0, 64, 2**40 + 8, 2**64 - 128):  # even where there is no memory
        assert fetch_ahead(np.uint64(address), 3) == (address + 3 * 64) % 2**64
    assert fetch_ahead(np.uint64(640), 0) == 640
