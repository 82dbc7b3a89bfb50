"""When each split stops: its dev loss has left off moving."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Plateau(nn.Module):
    """Stops a split when its dev loss is near the mean of those of the epochs before.

    The rule, per split: |loss - mean| <= tolerance |mean|, mean over the ``window`` epochs before
    this one. The state is made of buffers, so that a checkpoint continues where it was.

    Args:
        n_splits: number of splits, S.
        window: epochs in the mean.
        tolerance: relative difference; 0 switches the rule off.

    >>> rule = Plateau(1, window=2)
    >>> [bool(rule.update(torch.tensor([loss]))) for loss in (3.0, 1.0, 2.0)]
    [True, True, False]
    """

    active: Tensor
    epochs: Tensor
    history: Tensor

    def __init__(self, n_splits: int, window: int = 10, tolerance: float = 1e-4) -> None:
        super().__init__()
        if window < 1 or tolerance < 0:
            raise ValueError(
                "window must be >= 1 and tolerance >= 0; "
                f"received window={window}, tolerance={tolerance}."
            )
        self.window, self.tolerance = int(window), float(tolerance)
        self.register_buffer("active", torch.ones(n_splits, dtype=torch.bool))
        self.register_buffer("epochs", torch.zeros(n_splits, dtype=torch.int64))
        self.register_buffer("history", torch.zeros(window, n_splits, dtype=torch.float64))

    @torch.no_grad()
    def update(self, losses: Tensor) -> Tensor:
        """Take in the (S,) dev losses of an epoch; return (S,) bool, the splits that go on.

        Losses of splits that have stopped are not looked at.
        """
        losses = losses.to(self.history)
        mean = self.history.mean(dim=0)
        near = (losses - mean).abs() <= self.tolerance * mean.abs()
        stop = near & (self.epochs >= self.window) & (self.tolerance > 0)
        place = (self.epochs % self.window)[None]  # (1, S)
        kept = torch.where(self.active, losses, self.history.gather(0, place)[0])
        self.history.scatter_(0, place, kept[None])
        self.epochs += self.active
        self.active &= ~stop
        return self.active
