"""When a training ends: the stopping rule of each split, and the error of a divergent one."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

# Causes of divergence, and what usually helps.
OVERFLOW = (
    "dissimilarities overflowed. Lower the learning rate, scale the features, or use float64."
)
LOSS = (
    "the loss is not finite, though the dissimilarities are. Lower the learning rate (that of "
    "alpha, where it is learned), or scale the features."
)
GRADIENT = (
    "the gradient, or the step made from it, is not finite. Lower the learning rate, or scale the "
    "features."
)


class Plateau(nn.Module):
    """Stops a split when its dev loss is near the mean of the preceding epochs.

    The rule, per split: |loss - mean| <= tolerance |mean|, mean over the ``window`` epochs before
    this one. The state consists of buffers, so a checkpoint includes it.

    Args:
        n_splits: number of splits, S.
        window: epochs in the mean.
        tolerance: relative difference; 0 switches the rule off.

    Attributes:
        active: (S,) bool, the splits that have not stopped.
        epochs: (S,) epochs until each split stopped, or so far.

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
        """Add the (S,) dev losses of an epoch; return (S,) bool, the splits that are still active.

        Losses of splits that have stopped are ignored.
        """
        losses = losses.to(self.history)
        mean = self.history.mean(dim=0)
        near = (losses - mean).abs() <= self.tolerance * mean.abs()
        stop = near & (self.epochs >= self.window) & (self.tolerance > 0)
        row = (self.epochs % self.window)[None]  # (1, S)
        kept = torch.where(self.active, losses, self.history.gather(0, row)[0])
        self.history.scatter_(0, row, kept[None])
        self.epochs += self.active
        self.active &= ~stop
        return self.active


class TrainingDiverged(ArithmeticError):  # noqa: N818 - named after the event
    """A loss, gradient or parameter became non-finite; the module keeps its last good state.

    Attributes:
        epoch: epoch in which it happened, from 0.
        blocks: names of the blocks concerned.
        splits: numbers of the splits concerned.
        cause: what became non-finite, and what usually helps.
    """

    def __init__(
        self, epoch: int, blocks: Sequence[str], splits: Sequence[int], cause: str
    ) -> None:
        self.epoch, self.blocks, self.splits = epoch, tuple(blocks), tuple(splits)
        self.cause = cause
        shown = ", ".join(repr(name) for name in self.blocks[:3])
        more = f" and {len(self.blocks) - 3} more" if len(self.blocks) > 3 else ""
        super().__init__(
            f"training diverged in epoch {epoch}, block {shown}{more}, "
            f"split {', '.join(map(str, self.splits))}: {cause} "
            "The parameters are those of the last good step."
        )
