"""The vectorised exponential against NumPy's."""

from __future__ import annotations

import numpy as np

from supclust.hac._exponential import LARGEST, exponential


def test_agrees_with_numpy_to_a_few_units_in_the_last_place() -> None:
    rng = np.random.default_rng(0)
    wide = rng.uniform(-LARGEST, LARGEST, 20_000)
    x = np.concatenate([wide, rng.normal(size=20_000), 10.0 ** rng.uniform(-18, 0, 2_000)])
    ours = np.array([exponential(value) for value in (*x, -LARGEST, LARGEST)])
    expected = np.exp(np.array([*x, -LARGEST, LARGEST]))
    assert np.abs(ours / expected - 1).max() < 3 * np.finfo(float).eps


def test_is_one_at_zero() -> None:
    assert exponential(0.0) == exponential(-0.0) == 1.0
