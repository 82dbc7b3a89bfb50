"""What the kernels of the ExpLink training loss share: the choice of terms, and the result."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

from torch import Tensor

from supclust.losses.hinge import Reduction, Ties, check_choice, choose_hinge

Variant: TypeAlias = Literal["ranking", "threshold"]
Competitors: TypeAlias = Literal["all", "adjacent"]

EQUAL = 1e-12
"""Linkages that differ by less than this share of the largest dissimilarity count as equal.

The threshold variant's impure term jumps from 0 to (tau + mu) - Psi where Psi falls below the
height of the merge; without this, rounding would decide about the jump wherever the two are equal.
"""


class Terms(NamedTuple):
    """A checked choice of terms."""

    ranking: bool
    adjacent: bool
    mean: bool
    low: float
    """tau - mu: a pure merge counts above it (threshold variant)."""
    high: float
    """tau + mu: an impure pair counts below it (threshold variant)."""
    every: bool = False
    """Where a minimum or maximum is attained by several pairs, each has the whole gradient."""


class Solution(NamedTuple):
    """Losses of a batch with their gradients, as a kernel computes them."""

    losses: Tensor
    """(b,) float64."""
    pure: Tensor
    """(b,) what the pure terms add to them; zeros for ranking."""
    impure: Tensor
    """(b,) what the impure terms add to them; likewise."""
    in_alpha: Tensor
    """(b,) dJ/dalpha of each block; 0 where alpha is infinite."""
    in_values: Tensor | None
    """(b, n, n) symmetric, half of dJ/df in either triangle; None if not requested."""


def choose_terms(
    variant: Variant = "ranking",
    threshold: float | None = None,
    margin: float | None = None,
    competitors: Competitors = "all",
    reduction: Reduction = "sum",
    ties: Ties = "one",
) -> Terms:
    """Check the options of `explink_loss`.

    >>> choose_terms("threshold", 1.0, 0.25, "adjacent", "mean").high
    1.25
    """
    check_choice("variant", variant, ("ranking", "threshold"))
    check_choice("competitors", competitors, ("all", "adjacent"))
    check_choice("ties", ties, ("one", "every"))
    ranking, adjacent, every = variant == "ranking", competitors == "adjacent", ties == "every"
    if ranking:
        mean = choose_hinge(reduction=reduction).mean
        return Terms(ranking, adjacent, mean, -math.inf, math.inf, every)
    if threshold is None or margin is None:
        raise ValueError(
            "variant 'threshold' needs both threshold and margin; received "
            f"threshold={threshold} and margin={margin}. "
            "Pass both, e.g. threshold=100.0, margin=10.0, or use variant='ranking'."
        )
    low, high, mean = choose_hinge(threshold, margin, reduction)
    assert low is not None and high is not None
    return Terms(ranking, adjacent, mean, low, high, every)
