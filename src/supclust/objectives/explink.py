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
        alpha: Tensor | float = self.alpha_fixed  # -inf, 0 or inf: the same in any unit
        if self.learns_alpha:
            alpha = self.alpha[batch.split_of_block]
            if self.units is not None:
                alpha = alpha * self.units[batch.split_of_block]
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
