"""Trees in SciPy form, of any shape: random, chains, balanced."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def tree_from_choices(choices: Sequence[tuple[int, int]], heights: Sequence[float]) -> np.ndarray:
    """Z whose merge k joins the live nodes at the two (distinct) positions in choices[k]."""
    n = len(choices) + 1
    live = list(range(n))
    sizes = [1] * n
    rows = []
    for (first, second), height in zip(choices, heights, strict=True):
        left, right = sorted((live[first], live[second]))
        live = [node for node in live if node not in (left, right)] + [len(sizes)]
        sizes.append(sizes[left] + sizes[right])
        rows.append((left, right, height, sizes[-1]))
    return np.array(rows, dtype=np.float64).reshape(n - 1, 4)


def random_tree(n: int, rng: np.random.Generator, levels: int | None = None) -> np.ndarray:
    """Random merges at sorted random heights; with `levels`, few distinct ones, so with ties."""
    choices = [tuple(rng.choice(n - k, size=2, replace=False)) for k in range(n - 1)]
    heights = rng.normal(size=n - 1) if levels is None else rng.integers(-2, levels - 2, n - 1)
    return tree_from_choices(choices, np.sort(heights))


def chain_tree(n: int) -> np.ndarray:
    """Point k + 1 joins the points before it in merge k, at height k."""
    return tree_from_choices([(0, 1)] + [(0, n - k - 1) for k in range(1, n - 1)], range(n - 1))


def balanced_tree(n: int) -> np.ndarray:
    """The two oldest live nodes merge each time: depth log2(n) for a power of two."""
    return tree_from_choices([(0, 1)] * (n - 1), range(n - 1))
