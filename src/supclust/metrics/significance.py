"""Mean scores over splits: deviation, confidence interval, paired t-test, marks of tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation (k - 1) of the values.

    >>> mean_and_deviation([1.0, 3.0])
    (2.0, 1.4142135623730951)
    """
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, math.nan
    return mean, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))


def interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Confidence interval of the mean: mean +- t s / sqrt(k), t with k - 1 degrees of freedom.

    It assumes independent splits. They share their data, so it is rather too narrow.

    Args:
        values: (k,) scores, one per split.
        level: of confidence.

    Returns:
        Both ends; NaN with fewer than two values.

    >>> low, high = interval([0.8, 0.9, 1.0])
    >>> round(low, 4), round(high, 4)
    (0.6516, 1.1484)
    """
    k = len(values)
    if k < 2:
        return math.nan, math.nan
    from scipy.stats import t as student

    mean, deviation = mean_and_deviation(values)
    half = float(student.ppf(0.5 + level / 2, k - 1)) * deviation / math.sqrt(k)
    return mean - half, mean + half


class PairedTest(NamedTuple):
    """Result of a paired t-test."""

    t: float
    p: float
    """Two-sided; NaN with fewer than two pairs."""
    k: int
    """Number of pairs."""


def paired_t_test(first: Sequence[float], second: Sequence[float]) -> PairedTest:
    """Test whether the mean difference over splits is zero (the paper's resampled t-test).

    t = mean(d) sqrt(k) / s(d) for the k differences d, with k - 1 degrees of freedom.

    Args:
        first: (k,) scores of one method, one per split.
        second: (k,) scores of the other on the same splits.

    Returns:
        t, two-sided p, k. Equal differences: p = 1 if they are zero, else 0.

    >>> paired_t_test([0.9, 0.8, 0.7], [0.8, 0.6, 0.4]).k
    3
    """
    if len(first) != len(second):
        raise ValueError(
            "a paired test needs one score of either method per split; received "
            f"{len(first)} and {len(second)}. Keep the splits that both have."
        )
    k = len(first)
    if k < 2:
        return PairedTest(math.nan, math.nan, k)
    mean, deviation = mean_and_deviation([a - b for a, b in zip(first, second, strict=True)])
    scale = max(abs(value) for value in (*first, *second))
    if deviation <= 1e-14 * scale:  # rounding of equal differences
        same = abs(mean) <= 1e-14 * scale
        return PairedTest(0.0 if same else math.copysign(math.inf, mean), float(same), k)
    from scipy.stats import t as student

    t = mean * math.sqrt(k) / deviation
    return PairedTest(t, float(2 * student.sf(abs(t), k - 1)), k)


def marks(scores: Mapping[str, Mapping[int, float]]) -> dict[str, str]:
    """Mark the best method of a column, and those that are significantly below it.

    Args:
        scores: per method, its score on each split.

    Returns:
        ``"best"`` for the highest mean (several where it is the same) over the splits that all
        methods have, or over its own where there are none; ``"p<0.01"``, ``"p<0.05"`` or ``""`` for
        the others, tested on the splits they share with it. No marks for one method only.

    >>> marks({"a": {0: 0.9, 1: 0.8, 2: 0.9}, "b": {0: 0.1, 1: 0.1, 2: 0.2}})
    {'a': 'best', 'b': 'p<0.01'}
    """
    marked = dict.fromkeys(scores, "")
    known = {name: splits for name, splits in scores.items() if splits}
    if len(known) < 2:
        return marked
    common = set.intersection(*(set(splits) for splits in known.values()))
    means = {}
    for name, splits in known.items():
        counted = [value for split, value in splits.items() if split in common or not common]
        means[name] = math.fsum(counted) / len(counted)
    best = max(means, key=lambda name: means[name])
    for name, splits in known.items():
        shared = sorted(splits.keys() & known[best].keys())
        if means[name] == means[best]:
            marked[name] = "best"
        elif shared:
            p = paired_t_test([known[best][s] for s in shared], [splits[s] for s in shared]).p
            marked[name] = "p<0.01" if p < 0.01 else "p<0.05" if p < 0.05 else ""
    return marked
