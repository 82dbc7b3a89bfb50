"""The eight training objectives by name, as LightningModules.

Names are imported on first use: Lightning takes seconds to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from supclust._lazy import attach

if TYPE_CHECKING:
    from supclust.objectives.all_pairs import AllPairs as AllPairs
    from supclust.objectives.alpha_after_training import fit_alpha as fit_alpha
    from supclust.objectives.base import Objective as Objective
    from supclust.objectives.best import Best as Best
    from supclust.objectives.divergence import TrainingDiverged as TrainingDiverged
    from supclust.objectives.exp_alpha import ExpAlpha as ExpAlpha
    from supclust.objectives.exp_minus import ExpMinus as ExpMinus
    from supclust.objectives.exp_plus import ExpPlus as ExpPlus
    from supclust.objectives.exp_zero import ExpZero as ExpZero
    from supclust.objectives.mst import MST as MST
    from supclust.objectives.recipe import Recipe as Recipe
    from supclust.objectives.split_adam import SplitAdam as SplitAdam
    from supclust.objectives.stopping import Plateau as Plateau
    from supclust.objectives.trainer import quiet_trainer as quiet_trainer
    from supclust.objectives.triplet import Triplet as Triplet

OBJECTIVES = {
    "all_pairs": "AllPairs",
    "triplet": "Triplet",
    "best": "Best",
    "mst": "MST",
    "exp_minus": "ExpMinus",
    "exp_zero": "ExpZero",
    "exp_plus": "ExpPlus",
    "exp_alpha": "ExpAlpha",
}
"""Name of an objective -> name of its class."""

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        **{name: (class_name,) for name, class_name in OBJECTIVES.items()},
        "alpha_after_training": ("fit_alpha",),
        "base": ("Objective",),
        "divergence": ("TrainingDiverged",),
        "recipe": ("Recipe",),
        "split_adam": ("SplitAdam",),
        "stopping": ("Plateau",),
        "trainer": ("quiet_trainer",),
    },
)
__all__ += ["OBJECTIVES", "objective_class"]


def objective_class(name: str) -> type[Objective]:
    """The class of an objective.

    >>> objective_class("mst").__name__
    'MST'
    """
    if name not in OBJECTIVES:
        raise ValueError(
            f"objective must be one of {', '.join(OBJECTIVES)}; received {name!r}. "
            "Names are those of the paper's objectives in snake case."
        )
    found: type[Objective] = getattr(import_module(f"{__name__}.{name}"), OBJECTIVES[name])
    return found
