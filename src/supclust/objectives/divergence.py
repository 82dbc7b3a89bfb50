"""The error of a training that left the finite numbers."""

from __future__ import annotations

from collections.abc import Sequence

# Likely causes, and what helps.
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


class TrainingDiverged(ArithmeticError):  # noqa: N818 - it says what happened
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
