"""The training objectives as LightningModules.

Names are imported on first use: Lightning takes seconds to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from supclust._lazy import attach
from supclust.registry import Registry

if TYPE_CHECKING:
    from supclust.objectives.all_pairs import AllPairs as AllPairs
    from supclust.objectives.base import Objective as Objective
    from supclust.objectives.baselines import RCA as RCA
    from supclust.objectives.baselines import Baseline as Baseline
    from supclust.objectives.baselines import Boosted as Boosted
    from supclust.objectives.baselines import Euclidean as Euclidean
    from supclust.objectives.baselines import Logistic as Logistic
    from supclust.objectives.best import Best as Best
    from supclust.objectives.exp_alpha import ExpAlpha as ExpAlpha
    from supclust.objectives.exp_minus import ExpMinus as ExpMinus
    from supclust.objectives.exp_plus import ExpPlus as ExpPlus
    from supclust.objectives.exp_zero import ExpZero as ExpZero
    from supclust.objectives.explink import fit_alpha as fit_alpha
    from supclust.objectives.mst import MST as MST
    from supclust.objectives.recipe import Recipe as Recipe
    from supclust.objectives.training.stopping import Plateau as Plateau
    from supclust.objectives.training.stopping import TrainingDiverged as TrainingDiverged
    from supclust.objectives.training.trainer import quiet_trainer as quiet_trainer
    from supclust.objectives.triplet import Triplet as Triplet

_MODULES = {
    "all_pairs": ("AllPairs",),
    "triplet": ("Triplet",),
    "best": ("Best",),
    "mst": ("MST",),
    "exp_minus": ("ExpMinus",),
    "exp_zero": ("ExpZero",),
    "exp_plus": ("ExpPlus",),
    "exp_alpha": ("ExpAlpha",),
    "base": ("Objective",),
    "baselines": ("Baseline", "Euclidean", "RCA", "Logistic", "Boosted"),
    "explink": ("fit_alpha",),
    "recipe": ("Recipe",),
    "training.stopping": ("Plateau", "TrainingDiverged"),
    "training.trainer": ("quiet_trainer",),
}
__getattr__, __dir__, __all__ = attach(__name__, _MODULES)
__all__ += ["BASELINES", "OBJECTIVES", "objective_class"]

BASELINES = ("euclidean", "rca", "logistic", "boosted")
"""Objectives that are computed without epochs; they come first in tables."""
OBJECTIVES = Registry("supclust.objectives", "objective", order=(*BASELINES, *_MODULES))
"""Name of an objective -> name of its class; those of other installed packages included."""


def objective_class(name: str) -> type[Objective]:
    """The class of an objective that is trained.

    >>> objective_class("mst").__name__
    'MST'
    """
    return cast("type[Objective]", OBJECTIVES.load(name))
