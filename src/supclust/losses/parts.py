"""The two parts of a loss, for logs: what holds clusters together and what keeps them apart."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class LossParts(NamedTuple):
    """Losses of a batch, and what they are made of.

    Parts are bookkeeping: they are detached, and the total is the same with and without them.
    A loss whose every term compares the two kinds (ranking, plain triplets) has no parts.
    """

    total: Tensor
    """(b,) losses, connected to the graph."""
    within: Tensor | None = None
    """(b,) terms of pairs or merges within clusters, reduced; None where there is no such split."""
    across: Tensor | None = None
    """(b,) terms of pairs across clusters, reduced; None likewise."""


def sum_of(within: Tensor, across: Tensor) -> LossParts:
    """The loss that is the sum of two parts, (b,) each.

    >>> import torch
    >>> sum_of(torch.tensor([1.0]), torch.tensor([2.0])).total
    tensor([3.])
    """
    return LossParts(within + across, within.detach(), across.detach())
