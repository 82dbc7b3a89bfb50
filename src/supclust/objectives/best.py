"""`best` (the paper's Bst): each point's nearest within point down, nearest across point up."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.losses.pairs import best_loss_parts
from supclust.losses.parts import LossParts, sum_of
from supclust.objectives.anchored import anchored_rows, hinged, nearest
from supclust.objectives.base import Objective


class Best(Objective):
    """For every point, its nearest within and its nearest across point."""

    name: ClassVar[str] = "best"
    takes_cluster_steps: ClassVar[bool] = True

    def block_losses(self, dissimilarity: Tensor, batch: BlockBatch) -> LossParts:
        """A within and an across term per point of every block."""
        return best_loss_parts(
            dissimilarity,
            batch.labels,
            lengths=batch.lengths,
            ties=self.recipe.ties,
            check=False,
            **self.recipe.hinges("sum"),
        )

    def cluster_losses(self, rows: Tensor, batch: BlockBatch) -> LossParts:
        """A within and an across term per point of the cluster."""
        assert batch.anchors is not None
        pairs = anchored_rows(rows, batch.anchors, batch.labels)
        hinges, ties = self.recipe.hinges("sum"), self.recipe.ties
        down = hinged(*nearest(pairs.values, pairs.within, ties), 1, **hinges)
        return sum_of(down, hinged(*nearest(pairs.values, pairs.across, ties), -1, **hinges))
