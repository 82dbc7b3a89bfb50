"""scikit-learn estimators: learned (`SupervisedHAC`) and plain (`ExpLinkClustering`).

Names are imported on first use: `ExpLinkClustering` needs no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supclust.estimator.explink import ExpLinkClustering
    from supclust.estimator.supervised import SupervisedHAC

__all__ = ["ExpLinkClustering", "SupervisedHAC"]

_HOME = {"ExpLinkClustering": "explink", "SupervisedHAC": "supervised"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
