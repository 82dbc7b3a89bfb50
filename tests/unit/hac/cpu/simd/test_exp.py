"""The vectorised exponential against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from supclust.hac.cpu.simd.exp import LARGEST, exponential

LARGEST_OF = {np.float32: 80.0, np.float64: LARGEST}


@njit
def one(x):  # type: ignore[no-untyped-def]
    return exponential(x)


@njit
def row(values, out):  # type: ignore[no-untyped-def]
    for i in range(values.size):
        out[i] = exponential(values[i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_numpy_to_a_few_units_in_the_last_place(dtype: type) -> None:
    rng, largest = np.random.default_rng(0), LARGEST_OF[dtype]
    wide = rng.uniform(-largest, largest, 20_000)
    x = np.concatenate([wide, rng.normal(size=20_000), 10.0 ** rng.uniform(-18, 0, 2_000)])
    x = np.array([*x, -largest, largest], dtype)
    expected = np.exp(x.astype(np.float64))
    alone = np.array([one(value) for value in x])
    together = np.empty_like(x)
    row(x, together)
    for ours in (alone, together):
        assert np.abs(ours / expected - 1).max() < 3 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_is_one_at_zero(dtype: type) -> None:
    assert one(dtype(0.0)) == one(dtype(-0.0)) == 1.0
