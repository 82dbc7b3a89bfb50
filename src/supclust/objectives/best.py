"""`best` (the paper's Bst): each point's nearest within point down, nearest across point up."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.losses.hinge import LossParts, choose_hinge
from supclust.losses.inputs import Rows, anchored_rows, block_rows
from supclust.losses.pairs import best_parts
from supclust.objectives.base import Objective


class Best(Objective):
    """For every point, its nearest within and its nearest across point."""

    name: ClassVar[str] = "best"
    takes_cluster_steps: ClassVar[bool] = True

    def block_losses(self, dissimilarity: Tensor, batch: BlockBatch) -> LossParts:
        """A within and an across term per point of every block."""
        blocks = self.labelled_blocks(dissimilarity, batch)
        return self._losses_of_rows(block_rows(blocks))

    def cluster_losses(self, rows: Tensor, batch: BlockBatch) -> LossParts:
        """A within and an across term per point of the cluster."""
        assert batch.anchors is not None
        return self._losses_of_rows(anchored_rows(rows, batch.anchors, batch.labels))

    def _losses_of_rows(self, rows: Rows) -> LossParts:
        return best_parts(rows, choose_hinge(**self.recipe.hinges("sum")), self.recipe.ties)
