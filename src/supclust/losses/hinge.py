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
