"""Aliases that give one loss per block: those with ``block_reduction="none"``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from torch import Tensor

from supclust.losses.explink import explink_loss
from supclust.losses.mst import mst_loss
from supclust.losses.pairs import all_pairs_loss, best_loss
from supclust.losses.triplets import triplet_loss

P = ParamSpec("P")


def _per_block(loss: Callable[P, Tensor]) -> Callable[P, Tensor]:
    """The loss with ``block_reduction="none"``."""

    @wraps(loss)
    def losses(*args: P.args, **kwargs: P.kwargs) -> Tensor:
        kwargs["block_reduction"] = "none"
        return loss(*args, **kwargs)

    return losses


all_pairs_losses = _per_block(all_pairs_loss)
best_losses = _per_block(best_loss)
explink_losses = _per_block(explink_loss)
mst_losses = _per_block(mst_loss)
triplet_losses = _per_block(triplet_loss)
