"""Merges of rows against the arithmetic of one pair at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from supclust.hac.cpu.merge_rules import merge_points, merge_rows, merge_with_point
from supclust.hac.family import EXTREME, LINEAR, MEAN

LENGTHS = (*range(0, 40), 63, 64, 65, 127, 500)  # around every multiple of a vector
DTYPES = [np.float32, np.float64]
AT, BEHIND = 3, 5  # where rows start, what is left free behind them


@njit(error_model="numpy")
def unweighted(form, psi, into, other, length, share):  # type: ignore[no-untyped-def]
    merge_rows(form, psi, into, psi, other, psi, into, psi, other, length, share, share)


@njit(error_model="numpy")
def weighted(points, psi, into, other, weight, ours, known, theirs, n, size, alpha, centre):  # type: ignore[no-untyped-def]
    """``points``: 0 for two clusters, 1 and 2 if the second or the first is a point, 3 for both."""
    if points == 0:
        merge_rows(LINEAR, psi, into, psi, other, weight, ours, known, theirs, n, alpha, alpha)
    elif points < 3:
        merge_with_point(psi, into, other, points == 2, weight, ours, known, n, size, alpha, centre)
    else:
        merge_points(psi, into, other, weight, ours, known, n, size, alpha, centre)


def two_rows(length: int, dtype: type, rng: np.random.Generator) -> tuple[Any, slice, slice]:
    """A flat array with two rows in it, and where they stand."""
    flat = rng.normal(size=2 * (AT + length + BEHIND)).astype(dtype)
    second = 2 * AT + length + BEHIND
    return flat, slice(AT, AT + length), slice(second, second + length)


def assert_only_these_changed(after: Any, before: Any, *places: slice) -> None:
    others = np.ones(len(after), bool)
    for place in places:
        others[place] = False
    np.testing.assert_array_equal(after[others], before[others])


@pytest.mark.parametrize("dtype", DTYPES)
def test_largest_and_means(dtype: type, rng: np.random.Generator) -> None:
    for length in LENGTHS:
        flat, a, b = two_rows(length, dtype, rng)
        for into, other in ((a, b), (b, a)):
            after = flat.copy()
            unweighted(EXTREME, after, into.start, other.start, length, dtype(0))
            np.testing.assert_array_equal(after[into], np.maximum(flat[a], flat[b]))
            assert_only_these_changed(after, flat, into)
            after = flat.copy()
            unweighted(MEAN, after, into.start, other.start, length, dtype(0.25))
            expected = 0.75 * flat[into].astype(float) + 0.25 * flat[other]
            np.testing.assert_allclose(after[into], expected, atol=4 * np.finfo(dtype).eps)
            assert_only_these_changed(after, flat, into)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("points", [0, 1, 2, 3])
def test_weighted_means_and_sums(dtype: type, points: int, rng: np.random.Generator) -> None:
    alpha, centre = dtype(-1.5), dtype(0.25)
    for length in LENGTHS:
        flat, a, b = two_rows(length, dtype, rng)
        weight = rng.uniform(0.5, 2, AT + length + BEHIND).astype(dtype)
        known = rng.uniform(0.5, 2, 2 * length + BEHIND).astype(dtype)
        size = rng.integers(0, 4, length).astype(np.int32)
        ours = slice(AT, AT + length)
        for into, other in ((a, b), (b, a)):
            rows = [flat[into].astype(float), flat[other].astype(float)]
            made = [np.exp(alpha * (row - centre)) for row in rows]
            one, two = known[:length].astype(float), known[length : 2 * length].astype(float)
            mine = weight[ours].astype(float)
            weights = {
                0: [mine, one],
                1: [mine, np.where(size > 1, one, made[1])],
                2: [np.where(size > 1, one, made[0]), mine],
                3: [np.where(size > 1, one, made[0]), np.where(size > 1, two, made[1])],
            }[points]
            total = weights[0] + weights[1]
            mean = (weights[0] * rows[0] + weights[1] * rows[1]) / total
            after, sums, others = flat.copy(), weight.copy(), known.copy()
            weighted(
                points, after, into.start, other.start, sums, AT, others, 0, length, size, alpha,
                centre,
            )  # fmt: skip
            close = {"rtol": 30 * np.finfo(dtype).eps, "atol": 10 * np.finfo(dtype).eps}
            np.testing.assert_allclose(after[into], mean, **close)
            np.testing.assert_allclose(sums[ours], total, **close)
            assert_only_these_changed(after, flat, into)
            assert_only_these_changed(sums, weight, ours)
            np.testing.assert_array_equal(others, known)


@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_are_as_good_as_what_they_are_made_of(
    dtype: type, rng: np.random.Generator
) -> None:
    """alpha (f - centre) is rounded; the weight adds no more than that to the error."""
    n, alpha, centre = 4000, dtype(5), dtype(0.3)
    largest = 60 if dtype == np.float32 else 500
    flat = rng.uniform(-largest / 5, largest / 5, 2 * n).astype(dtype)
    weight, known = np.zeros(n, dtype), np.zeros(2 * n, dtype)
    exponents = (flat - centre) * alpha  # as the kernel rounds them
    made = np.exp(exponents.astype(np.longdouble)).reshape(2, n)
    one = np.ones(n, np.int32)
    weighted(3, flat, 0, n, weight, 0, known, 0, n, one, alpha, centre)
    error = np.abs(weight / made.sum(0) - 1) / np.finfo(dtype).eps
    assert (error < 3 + 0.75 * np.abs(exponents).reshape(2, n).max(0)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_mean_never_leaves_what_it_merges(dtype: type, rng: np.random.Generator) -> None:
    n = 1000
    for scale in (1e-6, 1.0, 1e6):
        flat, a, b = two_rows(n, dtype, rng)
        flat *= dtype(scale)
        flat[b] = np.where(rng.random(n) < 0.5, flat[a], np.nextafter(flat[a], dtype(np.inf)))
        low, high = np.minimum(flat[a], flat[b]), np.maximum(flat[a], flat[b])
        weight = rng.uniform(0.1, 9, n).astype(dtype)
        others = rng.uniform(0.1, 9, n).astype(dtype)
        for merged in ("means", "weighted"):
            after = flat.copy()
            if merged == "means":
                unweighted(MEAN, after, a.start, b.start, n, dtype(1 / 3))
            else:
                size, zero = np.ones(n, np.int32), dtype(0)
                weighted(0, after, a.start, b.start, weight, 0, others, 0, n, size, zero, zero)
            assert (after[a] >= low).all() and (after[a] <= high).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_small_number_is_kept_beside_a_stand_in_for_infinity(dtype: type) -> None:
    huge = dtype(np.finfo(dtype).max / 8)
    flat = np.array([huge] * 20 + [0.125] * 20, dtype)
    weight, others = np.full(20, 0, dtype), np.ones(20, dtype)
    weighted(0, flat, 0, 20, weight, 0, others, 0, 20, np.ones(20, np.int32), dtype(0), dtype(0))
    np.testing.assert_array_equal(flat[:20], 0.125)
