"""Training losses: labelled dissimilarities in, a scalar out. One pure function per objective.

``*_losses`` are aliases that give one value per block. Names are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supclust._lazy import attach

if TYPE_CHECKING:
    from supclust.losses.explink import explink_loss as explink_loss
    from supclust.losses.mst import mst_loss as mst_loss
    from supclust.losses.pairs import all_pairs_loss as all_pairs_loss
    from supclust.losses.pairs import best_loss as best_loss
    from supclust.losses.per_block import all_pairs_losses as all_pairs_losses
    from supclust.losses.per_block import best_losses as best_losses
    from supclust.losses.per_block import explink_losses as explink_losses
    from supclust.losses.per_block import mst_losses as mst_losses
    from supclust.losses.per_block import triplet_losses as triplet_losses
    from supclust.losses.triplets import sample_triplets as sample_triplets
    from supclust.losses.triplets import triplet_loss as triplet_loss

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "explink": ("explink_loss",),
        "mst": ("mst_loss",),
        "pairs": ("all_pairs_loss", "best_loss"),
        "per_block": (
            "all_pairs_losses",
            "best_losses",
            "explink_losses",
            "mst_losses",
            "triplet_losses",
        ),
        "triplets": ("sample_triplets", "triplet_loss"),
    },
)
