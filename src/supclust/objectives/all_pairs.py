"""`all_pairs` (the paper's AP): every within pair down, every across pair up."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.losses.pairs import all_pairs_loss_parts
from supclust.losses.parts import LossParts, sum_of
from supclust.objectives.anchored import anchored_rows, hinged
from supclust.objectives.base import Objective


class AllPairs(Objective):
    """Every within pair down, every across pair up (Sec. 3.2)."""

    name: ClassVar[str] = "all_pairs"
    takes_cluster_steps: ClassVar[bool] = True

    def block_losses(self, dissimilarity: Tensor, batch: BlockBatch) -> LossParts:
        """All unordered pairs of every block."""
        return all_pairs_loss_parts(
            dissimilarity,
            batch.labels,
            lengths=batch.lengths,
            check=False,
            **self.recipe.hinges("sum"),
        )

    def cluster_losses(self, rows: Tensor, batch: BlockBatch) -> LossParts:
        """All ordered pairs that start in the cluster."""
        assert batch.anchors is not None
        pairs = anchored_rows(rows, batch.anchors, batch.labels)
        hinges = self.recipe.hinges("sum")
        down = hinged(pairs.values, pairs.within, 1, **hinges)
        return sum_of(down, hinged(pairs.values, pairs.across, -1, **hinges))
