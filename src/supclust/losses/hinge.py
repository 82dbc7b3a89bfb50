"""Terms of a loss: the hinge with threshold tau and margin mu, and the two parts they add up to.

A pair that should be close costs max(0, f - (tau - mu)), one that should be far
max(0, (tau + mu) - f). Without tau and mu they cost f and -f.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor

Reduction: TypeAlias = Literal["sum", "mean"]
Ties: TypeAlias = Literal["one", "every"]
Variant: TypeAlias = Literal["ranking", "threshold"]
Competitors: TypeAlias = Literal["all", "adjacent"]

EQUAL = 1e-12
"""Linkages that differ by less than this share of the largest dissimilarity count as equal.

The threshold variant's impure term jumps from 0 to (tau + mu) - Psi where Psi falls below the
height of the merge; without this, rounding would decide about the jump wherever the two are equal.
"""


class LossParts(NamedTuple):
    """Losses of a batch, and the parts they are the sum of.

    The parts are for logs and detached. A loss whose every term compares pairs of both kinds
    (ranking, triplets without a threshold) has none.
    """

    total: Tensor
    """(b,) losses, connected to the graph."""
    within: Tensor | None = None
    """(b,) terms of pairs or merges within clusters, reduced."""
    across: Tensor | None = None
    """(b,) terms of pairs across clusters, reduced."""


def sum_of(within: Tensor, across: Tensor) -> LossParts:
    """The loss that is the sum of two parts, (b,) each.

    >>> sum_of(torch.tensor([1.0]), torch.tensor([2.0])).total
    tensor([3.])
    """
    return LossParts(within + across, within.detach(), across.detach())


class Hinge(NamedTuple):
    """How dissimilarities become the terms of a loss; made by `choose_hinge`."""

    low: float | None
    """tau - mu; None without threshold and margin."""
    high: float | None
    """tau + mu; None likewise."""
    mean: bool
    """Divide a sum of terms by the number of active ones."""

    def reduce(self, terms: Tensor, active: Tensor) -> Tensor:
        """(b,) sum or mean of the active terms of (b, ...); 0 if there are none."""
        total = torch.where(active, terms, 0.0).flatten(1).sum(dim=1)
        if not self.mean:
            return total
        return total / active.flatten(1).sum(dim=1).clamp(min=1)

    def pull(self, values: Tensor, chosen: Tensor) -> Tensor:
        """(b,) cost of the chosen pairs, which should be close."""
        if self.low is None:
            return self.reduce(values, chosen)
        return self.reduce(values - self.low, chosen & (values > self.low))

    def push(self, values: Tensor, chosen: Tensor) -> Tensor:
        """(b,) cost of the chosen pairs, which should be far; one at +inf costs nothing."""
        if self.high is None:
            return self.reduce(-values, chosen & (values < torch.inf))
        return self.reduce(self.high - values, chosen & (values < self.high))


def choose_hinge(
    threshold: float | None = None, margin: float | None = None, reduction: Reduction = "sum"
) -> Hinge:
    """Check the options of a loss and return its hinge.

    >>> choose_hinge(threshold=1.0, margin=0.25)
    Hinge(low=0.75, high=1.25, mean=False)
    """
    check_choice("reduction", reduction, ("sum", "mean"))
    if threshold is None and margin is None:
        return Hinge(None, None, reduction == "mean")
    if threshold is None or margin is None:
        raise ValueError(
            "threshold and margin come together or not at all; "
            f"received threshold={threshold} and margin={margin}. Pass both, or neither."
        )
    low, high = float(threshold) - float(margin), float(threshold) + float(margin)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(
            f"threshold and margin must be finite; received {threshold} and {margin}. "
            "Leave both out for the loss without threshold."
        )
    return Hinge(low, high, reduction == "mean")


def check_choice(name: str, chosen: str, allowed: tuple[str, ...]) -> None:
    """Refuse an option that does not exist."""
    if chosen not in allowed:
        raise ValueError(
            f"{name} must be one of {', '.join(allowed)}; received {chosen!r}. "
            f"Pass {name}={allowed[0]!r} or another of these."
        )


class Terms(NamedTuple):
    """A checked choice of the terms of the ExpLink loss."""

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
