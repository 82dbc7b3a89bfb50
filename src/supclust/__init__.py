"""Supervised hierarchical clustering with a learned dissimilarity and a learned linkage.

Public names are imported on first use, so ``import supclust`` loads neither torch nor Numba.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supclust._compiled import forget_outdated

if TYPE_CHECKING:
    from supclust import data as data
    from supclust import dissimilarity as dissimilarity
    from supclust import estimator as estimator
    from supclust import hac as hac
    from supclust import losses as losses
    from supclust import metric_learning as metric_learning
    from supclust import metrics as metrics
    from supclust import objectives as objectives
    from supclust import plot as plot
    from supclust.estimator.explink import ExpLinkClustering as ExpLinkClustering
    from supclust.estimator.supervised import SupervisedHAC as SupervisedHAC
    from supclust.hac._linkage import linkage as linkage

__version__ = "0.1.0"

forget_outdated(Path(__file__).parent)  # before anything compiled is loaded

# Adding a public name: one entry here, and the import above for type checkers.
_HOME_OF_NAME = {
    "ExpLinkClustering": "supclust.estimator.explink",
    "SupervisedHAC": "supclust.estimator.supervised",
    "linkage": "supclust.hac._linkage",
}
_SUBPACKAGES = (
    "data",
    "dissimilarity",
    "estimator",
    "hac",
    "losses",
    "metric_learning",
    "metrics",
    "objectives",
    "plot",
)

__all__ = ["__version__", *_HOME_OF_NAME, *_SUBPACKAGES]


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOME_OF_NAME:
        value = getattr(importlib.import_module(_HOME_OF_NAME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
