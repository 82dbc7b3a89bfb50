"""The loss that the four ExpLink objectives share."""

from __future__ import annotations

from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.losses.explink import explink_parts
from supclust.losses.hinge import LossParts
from supclust.losses.inputs import as_blocks
from supclust.losses.terms import choose_terms
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
        blocks = as_blocks(dissimilarity, batch.labels, batch.lengths, check=False)
        terms = choose_terms(
            variant=self.recipe.variant,
            competitors=self.recipe.competitors,
            ties=self.recipe.ties,
            **self.recipe.hinges("mean"),
        )
        return explink_parts(blocks, alpha, terms)
