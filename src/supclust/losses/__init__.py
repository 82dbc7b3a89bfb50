"""Training losses: labelled dissimilarities in, a scalar out. One pure function per objective.

``*_losses`` give one value per block; ``*_loss`` their sum. Names are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supclust.losses.explink import explink_loss, explink_losses
    from supclust.losses.mst import mst_loss, mst_losses
    from supclust.losses.pairs import all_pairs_loss, all_pairs_losses, best_loss, best_losses
    from supclust.losses.triplets import sample_triplets, triplet_loss, triplet_losses

__all__ = [
    "all_pairs_loss",
    "all_pairs_losses",
    "best_loss",
    "best_losses",
    "explink_loss",
    "explink_losses",
    "mst_loss",
    "mst_losses",
    "sample_triplets",
    "triplet_loss",
    "triplet_losses",
]

_NAMES_BY_MODULE = {
    "explink": ("explink_loss", "explink_losses"),
    "mst": ("mst_loss", "mst_losses"),
    "pairs": ("all_pairs_loss", "all_pairs_losses", "best_loss", "best_losses"),
    "triplets": ("sample_triplets", "triplet_loss", "triplet_losses"),
}
_HOME = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
