"""The loss that the four ExpLink objectives share."""

from __future__ import annotations

from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.losses.explink import explink_loss_parts
from supclust.losses.parts import LossParts
from supclust.objectives.base import Objective


class ExpLinkObjective(Objective):
    """Training HAC of Sec. 4.3: pure merges down, the impure pairs they compete with up."""

    def block_losses(self, dissimilarity: Tensor, batch: BlockBatch) -> LossParts:
        """ExpLink losses at each split's alpha."""
        alpha = self.alpha[batch.split_of_block] if self.learns_alpha else self.alpha_fixed
        return explink_loss_parts(
            dissimilarity,
            batch.labels,
            alpha,
            variant=self.recipe.variant,
            competitors=self.recipe.competitors,
            lengths=batch.lengths,
            ties=self.recipe.ties,
            **self.recipe.hinges("mean"),
        )
