"""Supervised hierarchical clustering with a learned dissimilarity and a learned linkage.

Public names are imported on first use, so ``import supclust`` loads neither torch nor Numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supclust._lazy import attach

if TYPE_CHECKING:
    from supclust import cluster as cluster
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
    from supclust.store.entity_store import EntityStore as EntityStore

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "estimator.explink": ("ExpLinkClustering",),
        "estimator.supervised": ("SupervisedHAC",),
        "hac._linkage": ("linkage",),
        "store.entity_store": ("EntityStore",),
    },
    submodules=(
        "cluster",
        "data",
        "dissimilarity",
        "estimator",
        "hac",
        "losses",
        "metric_learning",
        "metrics",
        "objectives",
        "plot",
    ),
)
__all__ += ["__version__"]
