"""Searches by explicit vectors against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from supclust.hac.cpu.simd.argmin import argmax, argmin, argmin_beyond

LENGTHS = (*range(1, 140), 300, 2047, 2048, 2049, 5000)  # around every multiple of a vector
DTYPES = [np.float32, np.float64]


@njit
def searched(values, start, length, barrier):  # type: ignore[no-untyped-def]
    return (
        argmin(values, start, length),
        argmax(values, start, length),
        argmin_beyond(values, start, length, barrier),
    )


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
