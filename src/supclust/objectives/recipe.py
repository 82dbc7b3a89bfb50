"""`Recipe`: the settings that all objectives share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_type_hints

from supclust.schema import Count, NonNegative, Number


@dataclass(frozen=True)
class Recipe:
    """How an objective is trained.

    Attributes:
        threshold: tau; a within pair or pure merge counts above tau - mu, an across pair or impure
            merge below tau + mu. ``None``: the plain forms.
        margin: mu.
        lr: learning rate of the dissimilarity.
        weight_decay: its L2 factor, added to the gradient.
        alpha_lr: learning rate of alpha, which has no decay.
        variant: ExpLink objectives: ``threshold`` (Sec. 4.3) or ``ranking`` (Eq. 4).
        competitors: ExpLink objectives: impure pairs that count in a round.
        reduction: of the active terms of a block. ``None``: the paper's, ``sum`` for objectives on
            pairs and ``mean`` for ExpLink.
        ties: where several pairs attain a minimum or maximum, whether ``one`` of them has its
            gradient or ``every`` one in full, as in the PyTorch of the paper.
        samples_per_point: triplets drawn per point.
        window: epochs in the mean that the dev loss is compared with.
        tolerance: relative difference at which a split stops; 0: only the trainer's cap does.
        alpha_deviation: standard deviation of alpha's normal start.
    """

    threshold: Number | None = None
    margin: NonNegative | None = None
    lr: NonNegative = 1e-3
    weight_decay: NonNegative = 0.0
    alpha_lr: NonNegative = 1e-2
    variant: Literal["threshold", "ranking"] = "threshold"
    competitors: Literal["adjacent", "all"] = "adjacent"
    reduction: Literal["sum", "mean"] | None = None
    ties: Literal["one", "every"] = "one"
    samples_per_point: Count = 100
    window: Count = 10
    tolerance: NonNegative = 1e-4
    alpha_deviation: NonNegative = 0.1

    def __post_init__(self) -> None:
        """Refuse settings that contradict each other."""
        if (self.threshold is None) != (self.margin is None):
            raise ValueError(
                "threshold and margin come together or not at all; received "
                f"threshold={self.threshold}, margin={self.margin}. Give both, or neither."
            )
        if self.samples_per_point < 1:
            raise ValueError(
                f"samples_per_point must be at least 1; received {self.samples_per_point}."
            )

    def hinges(self, default_reduction: str) -> dict[str, Any]:
        """Keyword arguments that every loss takes."""
        return {
            "threshold": self.threshold,
            "margin": self.margin,
            "reduction": self.reduction or default_reduction,
        }


SETTINGS: dict[str, Any] = {
    **get_type_hints(Recipe, include_extras=True),
    "threshold": Number | Literal["auto"] | None,
    "margin": NonNegative | Literal["auto"] | None,
    "step_unit": Literal["block", "cluster", "all"],
}
"""Settings of training with their legal values; ``auto``: relative to the data, see
`supclust.model.recipe`."""
