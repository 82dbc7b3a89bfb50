"""scikit-learn estimators: learned (`SupervisedHAC`) and plain (`ExpLinkClustering`).

Names are imported on first use: `ExpLinkClustering` needs no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supclust._lazy import attach

if TYPE_CHECKING:
    from supclust.estimator.explink import ExpLinkClustering as ExpLinkClustering
    from supclust.estimator.supervised import SupervisedHAC as SupervisedHAC

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "explink": ("ExpLinkClustering",),
        "supervised": ("SupervisedHAC",),
    },
)
