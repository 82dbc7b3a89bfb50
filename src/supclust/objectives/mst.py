"""`mst` (Sec. 3.3): spanning trees of the clusters down, nearest across points up."""

from __future__ import annotations

import math
from typing import ClassVar

from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.losses.hinge import LossParts, choose_hinge
from supclust.losses.inputs import anchored_rows, block_rows
from supclust.losses.mst import mst_parts
from supclust.objectives.base import Objective


class MST(Objective):
    """Edges of each ground-truth cluster's spanning tree down, nearest across points up (Eq. 2)."""

    name: ClassVar[str] = "mst"
    alpha_fixed: ClassVar[float] = -math.inf  # the loss is that of single linkage
    takes_cluster_steps: ClassVar[bool] = True

    def block_losses(self, dissimilarity: Tensor, batch: BlockBatch) -> LossParts:
        """The trees of all clusters and an across term per point of every block."""
        blocks = self.labelled_blocks(dissimilarity, batch)
        hinge = choose_hinge(**self.recipe.hinges("sum"))
        return mst_parts(block_rows(blocks), hinge, self.recipe.ties)

    def cluster_losses(self, rows: Tensor, batch: BlockBatch) -> LossParts:
        """The tree of the cluster and an across term per point of it."""
        assert batch.anchors is not None
        anchored = anchored_rows(rows, batch.anchors, batch.labels)
        hinge = choose_hinge(**self.recipe.hinges("sum"))
        return mst_parts(anchored, hinge, self.recipe.ties, batch.anchors)
