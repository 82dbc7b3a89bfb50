"""Which terms an ExpLink training loss adds up: the variants of Eq. 4, checked once."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

Variant = Literal["ranking", "threshold"]
Competitors = Literal["all", "adjacent"]
Reduction = Literal["sum", "mean"]
Ties = Literal["one", "every"]

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


def choose_terms(
    variant: Variant,
    threshold: float | None,
    margin: float | None,
    competitors: Competitors,
    reduction: Reduction,
    ties: Ties = "one",
) -> Terms:
    """Check the options of `explink_loss`.

    >>> choose_terms("threshold", 1.0, 0.25, "adjacent", "mean").high
    1.25
    """
    check_choice("variant", variant, ("ranking", "threshold"))
    check_choice("competitors", competitors, ("all", "adjacent"))
    check_choice("reduction", reduction, ("sum", "mean"))
    check_choice("ties", ties, ("one", "every"))
    low, high = -math.inf, math.inf
    if variant == "threshold":
        if threshold is None or margin is None:
            raise ValueError(
                "variant 'threshold' needs both threshold and margin; received "
                f"threshold={threshold} and margin={margin}. "
                "Pass both, e.g. threshold=100.0, margin=10.0, or use variant='ranking'."
            )
        low, high = hinge_bounds(threshold, margin)
    return Terms(
        variant == "ranking", competitors == "adjacent", reduction == "mean", low, high,
        ties == "every",
    )  # fmt: skip


def hinge_bounds(threshold: float, margin: float) -> tuple[float, float]:
    """Return tau - mu and tau + mu, both finite."""
    low, high = float(threshold) - float(margin), float(threshold) + float(margin)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(
            f"threshold and margin must be finite; received {threshold} and {margin}. "
            "Leave both out for the form without threshold."
        )
    return low, high


def check_choice(name: str, chosen: str, allowed: tuple[str, ...]) -> None:
    """Refuse an option that does not exist."""
    if chosen not in allowed:
        raise ValueError(
            f"{name} must be one of {', '.join(allowed)}; received {chosen!r}. "
            f"Pass {name}={allowed[0]!r} or another of these."
        )
