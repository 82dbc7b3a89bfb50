"""The eight training objectives by name, as LightningModules.

Names are imported on first use: Lightning takes seconds to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supclust.objectives.all_pairs import AllPairs
    from supclust.objectives.alpha_after_training import fit_alpha
    from supclust.objectives.base import Objective
    from supclust.objectives.best import Best
    from supclust.objectives.divergence import TrainingDiverged
    from supclust.objectives.exp_alpha import ExpAlpha
    from supclust.objectives.exp_minus import ExpMinus
    from supclust.objectives.exp_plus import ExpPlus
    from supclust.objectives.exp_zero import ExpZero
    from supclust.objectives.mst import MST
    from supclust.objectives.recipe import Recipe
    from supclust.objectives.split_adam import SplitAdam
    from supclust.objectives.stopping import Plateau
    from supclust.objectives.trainer import quiet_trainer
    from supclust.objectives.triplet import Triplet

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

_HOME = {
    **{class_name: name for name, class_name in OBJECTIVES.items()},
    "Objective": "base",
    "Plateau": "stopping",
    "Recipe": "recipe",
    "SplitAdam": "split_adam",
    "TrainingDiverged": "divergence",
    "fit_alpha": "alpha_after_training",
    "quiet_trainer": "trainer",
}

__all__ = [
    "MST",
    "OBJECTIVES",
    "AllPairs",
    "Best",
    "ExpAlpha",
    "ExpMinus",
    "ExpPlus",
    "ExpZero",
    "Objective",
    "Plateau",
    "Recipe",
    "SplitAdam",
    "TrainingDiverged",
    "Triplet",
    "fit_alpha",
    "objective_class",
    "quiet_trainer",
]


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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    # Keep the object: a submodule of the same name (``fit_alpha``) would otherwise shadow it.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
