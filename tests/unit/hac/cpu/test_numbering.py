"""The order of merges, against NumPy's stable sort."""

from __future__ import annotations

import numpy as np
import pytest

from supclust.hac.cpu.numbering import order_of

COUNTS = (0, 1, 2, 3, 31, 32, 33, 64, 177, 399, 400, 401, 1000)  # around steps, and where it sorts


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["random", "ascending", "descending", "few values", "one pair"])
def test_order_is_that_of_a_stable_sort(dtype: type, kind: str, rng: np.random.Generator) -> None:
    for count in COUNTS:
        heights = rng.normal(size=count).astype(dtype)
        if kind == "ascending":
            heights.sort()
        elif kind == "descending":
            heights = -np.sort(heights)
        elif kind == "few values":
            heights = rng.integers(0, 5, count).astype(dtype)
        elif kind == "one pair" and count > 1:
            heights[0] = heights[-1]
        np.testing.assert_array_equal(order_of(heights), np.argsort(heights, kind="stable"))


def test_numbers_that_are_none_have_some_order() -> None:
    heights = np.array([1.0, np.nan, np.inf, np.nan, -np.inf])
    assert sorted(order_of(heights).tolist()) == list(range(5))
