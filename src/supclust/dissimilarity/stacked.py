"""`Stacked`: boosted trees and a linear model of pair features; fitted by `supclust.model.best`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor

from supclust.dissimilarity.base import Dissimilarity, Inputs
from supclust.dissimilarity.linear import Kind


class Stacked(Dissimilarity):
    """f = w . x + v logit(x) + b, with the log odds of a pair by LightGBM.

    Trees have no gradient: the module names the dissimilarity, `TrainedModel.distances` applies
    it without torch.

    Args:
        d: features of a pair, or of a point.
        kind: ``"pairs"``, or ``"vectors"`` for features |x - x'|.
        splits: numbers of the splits, one model each.
        seed: of the trees.
    """

    name: ClassVar[str] = "stacked"

    def __init__(
        self, d: int, kind: Kind = "pairs", splits: Sequence[int] = (0,), seed: int = 0
    ) -> None:
        super().__init__(splits, seed)
        self.d, self.kind = int(d), kind

    def score(self, inputs: Inputs) -> Tensor:
        """Refused: there is no gradient to train by."""
        raise ValueError(
            "a stacked dissimilarity is fitted in stages, not by gradient steps; received a batch. "
            "Use recipe=best, and TrainedModel.distances to apply it."
        )
