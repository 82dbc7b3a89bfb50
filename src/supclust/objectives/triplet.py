"""`triplet` (the paper's Trp): sampled triplets of an anchor, a within and an across point."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.losses.parts import LossParts, sum_of
from supclust.losses.triplets import triplet_loss_parts
from supclust.objectives.anchored import draw_partners, hinged
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
        return triplet_loss_parts(
            dissimilarity,
            batch.labels,
            lengths=batch.lengths,
            generator=[self.generator(batch, i) for i in range(len(batch))],
            samples_per_point=self.recipe.samples_per_point,
            check=False,
            **self.recipe.hinges("sum"),
        )

    def cluster_losses(self, rows: Tensor, batch: BlockBatch) -> LossParts:
        """Triplets anchored at every point of the cluster."""
        each = [self._cluster_loss(rows[i], batch, i) for i in range(len(batch))]
        total = torch.cat([loss.total for loss in each])
        within = [loss.within for loss in each if loss.within is not None]
        across = [loss.across for loss in each if loss.across is not None]
        if not within:
            return LossParts(total)
        return LossParts(total, torch.cat(within), torch.cat(across))

    def _cluster_loss(self, rows: Tensor, batch: BlockBatch, i: int) -> LossParts:
        assert batch.anchors is not None
        anchors = batch.anchors[i][batch.anchors[i] >= 0]
        labels = batch.labels[i, : int(batch.lengths[i])]
        draws = draw_partners(
            anchors, labels, self.recipe.samples_per_point, self.generator(batch, i)
        )
        anchor, within, across = (drawn.to(rows.device) for drawn in draws)
        down, up = rows[anchor, within][None], rows[anchor, across][None]
        counted = torch.ones_like(down, dtype=torch.bool)
        hinges = self.recipe.hinges("sum")
        if hinges["threshold"] is None:  # the plain form is the hinge of the difference
            return LossParts(hinged(down - up, down > up, 1, **hinges))
        return sum_of(hinged(down, counted, 1, **hinges), hinged(up, counted, -1, **hinges))
