"""Families of clustering problems: (n, rng) -> (D, labels), easy, tied, and ill-scaled.

D is float64, exactly symmetric, zero on the diagonal; labels are int64. Every family works from
n = 1. `FAMILIES` names them all; `TIED` names those in which equal linkages are certain or
likely (several trees are right), `INFINITE` those with +inf entries.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Problem = tuple[np.ndarray, np.ndarray]
Family = Callable[[int, np.random.Generator], Problem]


def euclidean(points: np.ndarray) -> np.ndarray:
    """Distances between the rows of (n, d) points; exactly symmetric, zero diagonal."""
    difference = points[:, None, :] - points[None, :, :]
    return np.sqrt((difference**2).sum(axis=-1))


def symmetric(values: np.ndarray) -> np.ndarray:
    """Matrix whose two triangles are the upper triangle of `values`; zero diagonal."""
    upper = np.triu(values, 1)
    return upper + upper.T


def random_labels(n: int, rng: np.random.Generator) -> np.ndarray:
    """About four points a label, in no order."""
    return rng.integers(0, max(1, (n + 3) // 4), size=n)


def segment_labels(n: int) -> np.ndarray:
    """Runs of four neighbours."""
    return np.arange(n) // 4


def random(n: int, rng: np.random.Generator) -> Problem:
    """Distances of 4-d Gaussians, labels unrelated to them."""
    return euclidean(rng.normal(size=(n, 4))), random_labels(n, rng)


def separated(n: int, rng: np.random.Generator) -> Problem:
    """Blobs a hundred times further apart than they are wide: purity 1 under every alpha."""
    labels = random_labels(n, rng)
    centres = np.zeros((int(labels.max()) + 1, 2))
    centres[:, 0] = 100.0 * np.arange(len(centres))
    return euclidean(centres[labels] + rng.uniform(-0.35, 0.35, size=(n, 2))), labels


def all_equal(n: int, rng: np.random.Generator) -> Problem:
    """One value everywhere, not a sum of few powers of two, so that rounding shows."""
    return symmetric(np.full((n, n), 0.7)), random_labels(n, rng)


def integer_grid(n: int, rng: np.random.Generator) -> Problem:
    """City-block distances on a small integer grid: many ties, exact arithmetic."""
    points = rng.integers(0, 4, size=(n, 2)).astype(np.float64)
    return np.abs(points[:, None] - points[None]).sum(axis=-1), random_labels(n, rng)


def duplicated(n: int, rng: np.random.Generator) -> Problem:
    """Every point appears about three times: zero distances and equal rows."""
    points = rng.normal(size=((n + 2) // 3, 3))
    return euclidean(points[rng.permutation(np.arange(n) // 3)]), random_labels(n, rng)


def chain_growing(n: int, rng: np.random.Generator) -> Problem:
    """Points on a line, each gap 10% wider: single linkage grows one cluster from the left."""
    gaps = 1.1 ** np.arange(n)
    return euclidean(np.cumsum(gaps)[:, None]), segment_labels(n)


def chain_equal(n: int, rng: np.random.Generator) -> Problem:
    """Points on a line at equal gaps: a chain in which everything ties."""
    return euclidean(np.arange(n, dtype=np.float64)[:, None]), segment_labels(n)


def single_outlier(n: int, rng: np.random.Generator) -> Problem:
    """Gaussians and one point a thousand deviations away, with a random partner's label."""
    points = rng.normal(size=(n, 4))
    points[rng.integers(n)] += 500.0
    return euclidean(points), random_labels(n, rng)


def tiny_values(n: int, rng: np.random.Generator) -> Problem:
    """Distances around 1e-6."""
    D, labels = random(n, rng)
    return D * 1e-6, labels


def huge_values(n: int, rng: np.random.Generator) -> Problem:
    """Distances around 1e6."""
    D, labels = random(n, rng)
    return D * 1e6, labels


def negative(n: int, rng: np.random.Generator) -> Problem:
    """Standard normal dissimilarities: no metric, half of them below zero."""
    return symmetric(rng.normal(size=(n, n))), random_labels(n, rng)


def faces_like(n: int, rng: np.random.Generator) -> Problem:
    """Distances near 3,000 in 20 dimensions with some cluster structure; naive exp overflows."""
    labels = random_labels(n, rng)
    centres = rng.normal(scale=300.0, size=(int(labels.max()) + 1, 20))
    return euclidean(centres[labels] + rng.normal(scale=370.0, size=(n, 20))), labels


def with_infinite(n: int, rng: np.random.Generator) -> Problem:
    """A third of the pairs are "never alike"."""
    D, labels = random(n, rng)
    never = symmetric((rng.random((n, n)) < 1 / 3).astype(np.float64)) > 0
    return np.where(never, np.inf, D), labels


FAMILIES: dict[str, Family] = {
    family.__name__: family
    for family in (
        random,
        separated,
        all_equal,
        integer_grid,
        duplicated,
        chain_growing,
        chain_equal,
        single_outlier,
        tiny_values,
        huge_values,
        negative,
        faces_like,
        with_infinite,
    )
}
TIED = frozenset({"all_equal", "integer_grid", "duplicated", "chain_equal"})
INFINITE = frozenset({"with_infinite"})
