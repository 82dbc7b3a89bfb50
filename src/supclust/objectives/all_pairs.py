"""`all_pairs` (the paper's AP): every within pair down, every across pair up."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.losses.hinge import LossParts, choose_hinge
from supclust.losses.inputs import anchored_rows, block_rows
from supclust.losses.pairs import all_pairs_parts
from supclust.objectives.base import Objective


class AllPairs(Objective):
    """Every within pair down, every across pair up (Sec. 3.2)."""

    name: ClassVar[str] = "all_pairs"
    takes_cluster_steps: ClassVar[bool] = True

    def block_losses(self, dissimilarity: Tensor, batch: BlockBatch) -> LossParts:
        """All unordered pairs of every block."""
        blocks = self.labelled_blocks(dissimilarity, batch)
        return all_pairs_parts(block_rows(blocks), choose_hinge(**self.recipe.hinges("sum")))

    def cluster_losses(self, rows: Tensor, batch: BlockBatch) -> LossParts:
        """All ordered pairs that start in the cluster."""
        assert batch.anchors is not None
        anchored = anchored_rows(rows, batch.anchors, batch.labels)
        hinge = choose_hinge(**self.recipe.hinges("sum"))
        return all_pairs_parts(anchored, hinge, within_weight=1.0, across_weight=1.0)
