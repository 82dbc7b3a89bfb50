"""Merges of rows in explicit vectors, against the arithmetic of one pair at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from supclust.hac.cpu.simd.merge_rows import (
    merge_clusters,
    merge_largest,
    merge_means,
    merge_point,
    merge_points,
)

LENGTHS = (*range(0, 40), 63, 64, 65, 127, 500)  # around every multiple of a vector
DTYPES = [np.float32, np.float64]
AT, BEHIND = 3, 5  # where rows start, what is left free behind them


@njit
def largest(psi, into, other, length):  # type: ignore[no-untyped-def]
    merge_largest(psi, into, other, length)


@njit
def means(psi, into, other, length, share):  # type: ignore[no-untyped-def]
    merge_means(psi, into, other, length, share)


@njit
def weighted(points, psi, into, a, b, weight, ours, others, theirs, n, size, alpha, centre):  # type: ignore[no-untyped-def]
    if points == 0:
        merge_clusters(psi, into, a, b, weight, ours, others, theirs, n)
    elif points == 1:
        merge_point(psi, into, a, b, weight, ours, others, theirs, n, size, alpha, centre)
    else:
        merge_points(psi, into, a, b, weight, ours, others, theirs, n, size, alpha, centre)


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
            largest(after, into.start, other.start, length)
            np.testing.assert_array_equal(after[into], np.maximum(flat[a], flat[b]))
            assert_only_these_changed(after, flat, into)
            after = flat.copy()
            means(after, into.start, other.start, length, dtype(0.25))
            expected = 0.75 * flat[into].astype(float) + 0.25 * flat[other]
            np.testing.assert_allclose(after[into], expected, atol=4 * np.finfo(dtype).eps)
            assert_only_these_changed(after, flat, into)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("points", [0, 1, 2])
def test_weighted_means_and_sums(dtype: type, points: int, rng: np.random.Generator) -> None:
    alpha, centre = dtype(-1.5), dtype(0.25)
    for length in LENGTHS:
        flat, a, b = two_rows(length, dtype, rng)
        weight = rng.uniform(0.5, 2, AT + length + BEHIND).astype(dtype)
        others = rng.uniform(0.5, 2, AT + 2 * length + BEHIND).astype(dtype)
        size = rng.integers(0, 4, length).astype(np.int32)
        ours = slice(AT, AT + length)

        known = [weight[ours].astype(float), others[ours].astype(float)]
        if points == 2:
            known[0] = others[AT + length : AT + 2 * length].astype(float)
        rows = [flat[a].astype(float), flat[b].astype(float)]
        for i in range(2 - points, 2):
            made = np.exp(alpha * (rows[i] - centre))
            known[i] = np.where(size > 1, known[i], made)
        total = known[0] + known[1]
        mean = (known[0] * rows[0] + known[1] * rows[1]) / total

        for into in (a, b):
            after, sums, theirs = flat.copy(), weight.copy(), others.copy()
            weighted(
                points, after, into.start, a.start, b.start, sums, AT, theirs, AT, length, size,
                alpha, centre,
            )  # fmt: skip
            close = {"rtol": 30 * np.finfo(dtype).eps, "atol": 10 * np.finfo(dtype).eps}
            np.testing.assert_allclose(after[into], mean, **close)
            np.testing.assert_allclose(sums[ours], total, **close)
            assert_only_these_changed(after, flat, into)
            assert_only_these_changed(sums, weight, ours)
            np.testing.assert_array_equal(theirs, others)


@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_are_as_good_as_what_they_are_made_of(
    dtype: type, rng: np.random.Generator
) -> None:
    """alpha (f - centre) is rounded; the weight adds no more than that to the error."""
    n, alpha, centre = 4000, dtype(5), dtype(0.3)
    reach = 60 if dtype == np.float32 else 500
    flat = rng.uniform(-reach / 5, reach / 5, 2 * n).astype(dtype)
    weight, known = np.zeros(n, dtype), np.zeros(2 * n, dtype)
    exponents = (flat - centre) * alpha  # as the kernel rounds them
    made = np.exp(exponents.astype(np.longdouble)).reshape(2, n)
    one = np.ones(n, np.int32)
    weighted(2, flat, 0, 0, n, weight, 0, known, 0, n, one, alpha, centre)
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
                means(after, a.start, b.start, n, dtype(1 / 3))
            else:
                size, zero = np.ones(n, np.int32), dtype(0)
                weighted(0, after, a.start, a.start, b.start, weight, 0, others, 0, n, size, zero,
                         zero)  # fmt: skip
            assert (after[a] >= low).all() and (after[a] <= high).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_small_number_is_kept_beside_a_stand_in_for_infinity(dtype: type) -> None:
    huge = dtype(np.finfo(dtype).max / 8)
    flat = np.array([huge] * 20 + [0.125] * 20, dtype)
    weight, others = np.full(20, 0, dtype), np.ones(20, dtype)
    weighted(0, flat, 0, 0, 20, weight, 0, others, 0, 20, np.ones(20, np.int32), dtype(0), dtype(0))
    np.testing.assert_array_equal(flat[:20], 0.125)
