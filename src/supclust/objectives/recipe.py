"""`Recipe`: the settings that all objectives share, their defaults, and the automatic threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_type_hints

from supclust.data.block import Block, Kind
from supclust.schema import Count, NonNegative, Number, check


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
"""Settings of training with their legal values; ``auto``: relative to the data."""

AUTO_MARGIN = 0.1
"""Margin of an automatic threshold, as a share of it."""

DEFAULTS: dict[Kind, dict[str, Any]] = {
    "vectors": {
        "max_epochs": 500,
        "lr": 0.01,
        "weight_decay": 0.01,
        "alpha_lr": 0.01,
        "threshold": "auto",
        "margin": "auto",
        "step_unit": "block",
        "ties": "one",
    },
    "pairs": {
        "max_epochs": 200,
        "lr": 0.01,
        "weight_decay": 0.001,
        "alpha_lr": 0.01,
        "threshold": 0,
        "margin": 2,
        "step_unit": "block",
        "ties": "one",
    },
}
"""Per kind of data; conf/recipes.yaml refers to it. All other settings are those of `Recipe`."""

CLOSED_FORM = ("mahalanobis", "linear", "stacked")
"""Dissimilarities with a start in closed form, which ``recipe=best`` needs."""
BEST: dict[str, Any] = {
    "max_epochs": 60,
    "lr": 0.02,
    "weight_decay": 0.6,
    "alpha_lr": 0.02,
    "threshold": "auto",
    "margin": "auto",
    "step_unit": "all",
    "ties": "one",
    "tolerance": 0.0,
}
"""Of ``recipe=best``, see `supclust.model.best`. The weights are offsets from a start in closed
form, so weight decay w is a penalty w/2 |offset|^2; ``auto`` is the cut of the start for points
(with a tenth of it as the margin), 0 and 0.5 for pairs."""


def complete_recipe(
    kind: Kind, given: Mapping[str, Any], recipe: Literal["paper", "best"] = "paper"
) -> dict[str, Any]:
    """The default recipe of a kind of data with the given settings instead of its own.

    Args:
        kind: ``vectors`` or ``pairs``.
        given: settings by name; ``None`` stands for the default, except for ``threshold`` and
            ``margin``, where it means a loss without hinges.
        recipe: whose defaults they are.

    Returns:
        Every setting of `Recipe`, ``max_epochs`` and ``step_unit``, checked.

    >>> complete_recipe("pairs", {"lr": 0.1, "alpha_lr": None})["alpha_lr"]
    0.01
    """
    values = {field.name: field.default for field in fields(Recipe)}
    values |= BEST if recipe == "best" else DEFAULTS[kind]
    unknown = [name for name in given if name not in values]
    if unknown:
        raise ValueError(
            f"a recipe has the settings {', '.join(values)}; received {', '.join(unknown)}. "
            "Leave it out, or correct its name."
        )
    # No threshold and no margin is a choice: the losses without hinges.
    values |= {
        name: value
        for name, value in given.items()
        if value is not None or name in ("threshold", "margin")
    }
    for name, value in values.items():
        check(name, Count if name == "max_epochs" else SETTINGS[name], value)
    if (values["threshold"] == "auto") != (values["margin"] == "auto"):
        raise ValueError(
            "threshold and margin of a recipe are both 'auto' or both numbers; received "
            f"{values['threshold']} and {values['margin']}. Give both."
        )
    return values


def make_recipe(settings: Mapping[str, Any]) -> Recipe:
    """The `Recipe` of complete settings, with ``auto`` in units of `starting_distance`."""
    known = {field.name for field in fields(Recipe)}
    values = {key: value for key, value in settings.items() if key in known}
    if values["threshold"] == "auto":
        values |= {"threshold": 1.0, "margin": AUTO_MARGIN}
    return Recipe(**values)


def starting_distance(blocks: Sequence[Block]) -> float:
    """Root mean square distance of two points of a block under an untrained Mahalanobis model.

    It is the automatic threshold. Only training blocks may be given: a threshold must not depend
    on test blocks.

    Entries of A are uniform on +-1/sqrt(d), so E |A x|^2 = |x|^2 / 3.
    """
    spreads = [float(block.features.var(axis=0, dtype="f8").sum()) for block in blocks]
    n = sum(block.n for block in blocks)
    mean = sum(2 * s * block.n for s, block in zip(spreads, blocks, strict=True)) / n
    return float((mean / 3) ** 0.5) or 1.0
