"""`triplet` (the paper's Trp): sampled triplets of an anchor, a within and an across point."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.losses.hinge import LossParts, choose_hinge
from supclust.losses.triplets import (
    cluster_triplet_parts,
    draw_cluster_triplets,
    draw_triplets,
    triplet_parts,
)
from supclust.objectives.base import Objective


class Triplet(Objective):
    """For every point, ``samples_per_point`` draws of one within and one across point.

    Draws depend on seed, split, epoch and block only, so that a split draws the same alone and
    beside others.
    """

    name: ClassVar[str] = "triplet"
    takes_cluster_steps: ClassVar[bool] = True

    def block_losses(self, dissimilarity: Tensor, batch: BlockBatch) -> LossParts:
        """Triplets anchored at every point of every block."""
        blocks = self.labelled_blocks(dissimilarity, batch)
        generators = [self.generator(batch, i) for i in range(len(batch))]
        drawn = draw_triplets(blocks, generators, self.recipe.samples_per_point)
        return triplet_parts(blocks, choose_hinge(**self.recipe.hinges("sum")), drawn)

    def cluster_losses(self, rows: Tensor, batch: BlockBatch) -> LossParts:
        """Triplets anchored at every point of the cluster."""
        assert batch.anchors is not None
        generators = [self.generator(batch, i) for i in range(len(batch))]
        drawn = draw_cluster_triplets(
            batch.anchors, batch.labels, self.recipe.samples_per_point, generators
        )
        return cluster_triplet_parts(rows, choose_hinge(**self.recipe.hinges("sum")), drawn)
