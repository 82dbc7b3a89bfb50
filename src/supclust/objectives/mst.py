"""`mst` (Sec. 3.3): spanning trees of the clusters down, nearest across points up."""

from __future__ import annotations

import math
from typing import ClassVar

from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.losses.mst import mst_loss_parts, mst_losses
from supclust.losses.parts import LossParts, sum_of
from supclust.objectives.anchored import anchored_rows, hinged, nearest
from supclust.objectives.base import Objective


class MST(Objective):
    """Edges of each ground-truth cluster's spanning tree down, nearest across points up (Eq. 2)."""

    name: ClassVar[str] = "mst"
    alpha_fixed: ClassVar[float] = -math.inf  # made for single linkage, and watched by it
    takes_cluster_steps: ClassVar[bool] = True

    def block_losses(self, dissimilarity: Tensor, batch: BlockBatch) -> LossParts:
        """The trees of all clusters and an across term per point of every block."""
        return mst_loss_parts(
            dissimilarity,
            batch.labels,
            lengths=batch.lengths,
            ties=self.recipe.ties,
            check=False,
            **self.recipe.hinges("sum"),
        )

    def cluster_losses(self, rows: Tensor, batch: BlockBatch) -> LossParts:
        """The tree of the cluster and an across term per point of it."""
        assert batch.anchors is not None
        pairs = anchored_rows(rows, batch.anchors, batch.labels)
        hinges = self.recipe.hinges("sum")
        columns = batch.anchors.clamp(min=0)[:, None, :].expand(-1, rows.shape[1], -1)
        inside = rows.gather(2, columns)  # (b, m, m)
        counts = (batch.anchors >= 0).sum(dim=1)
        # One label: the loss of a block that is the cluster alone is that of its tree.
        label = batch.anchors.clamp(min=-1, max=0)
        down = mst_losses(inside, label, lengths=counts, **hinges)
        return sum_of(
            down, hinged(*nearest(pairs.values, pairs.across, self.recipe.ties), -1, **hinges)
        )
