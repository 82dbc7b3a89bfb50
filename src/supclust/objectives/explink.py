"""The loss that the four ExpLink objectives share, and alpha fitted after training by it."""

from __future__ import annotations

from typing import ClassVar

import pytorch_lightning as pl
import torch
from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.data.datamodule import BlockDataModule
from supclust.losses.explink import explink_parts
from supclust.losses.hinge import LossParts, choose_terms
from supclust.objectives.base import Objective
from supclust.objectives.training.trainer import quiet_trainer


class ExpLinkObjective(Objective):
    """Training HAC of Sec. 4.3: pure merges down, the impure pairs they compete with up."""

    def block_losses(self, dissimilarity: Tensor, batch: BlockBatch) -> LossParts:
        """ExpLink losses at each split's alpha."""
        alpha: Tensor | float = self.alpha_fixed  # -inf, 0 or inf: the same in any unit
        if self.learns_alpha:
            alpha = self.alpha[batch.split_of_block]
            if self.units is not None:
                alpha = alpha * self.units[batch.split_of_block]
        blocks = self.labelled_blocks(dissimilarity, batch)
        terms = choose_terms(
            variant=self.recipe.variant,
            competitors=self.recipe.competitors,
            ties=self.recipe.ties,
            **self.recipe.hinges("mean"),
        )
        return explink_parts(blocks, alpha, terms)


class AlphaOnly(ExpLinkObjective):
    """`exp_alpha` with the dissimilarity frozen, in evaluation mode (averaged weights)."""

    name: ClassVar[str] = "alpha_only"
    learns_alpha: ClassVar[bool] = True

    def dissimilarities(self, batch: BlockBatch) -> Tensor:
        """Dissimilarities in evaluation mode, without a gradient."""
        self.dissimilarity.eval()
        with torch.no_grad():
            return super().dissimilarities(batch)


def fit_alpha(
    objective: Objective,
    data: BlockDataModule,
    max_epochs: int,
    *,
    trainer: pl.Trainer | None = None,
    ckpt_path: str | None = None,
) -> Tensor:
    """Fit the linkage of every split to its trained dissimilarity (the ``exp`` linkage).

    Alpha starts from N(0, 0.1) and minimises the ExpLink loss on the training blocks with the
    objective's recipe: variant, alpha's rate, stopping rule.

    Args:
        objective: trained; not changed.
        data: the blocks it was trained on; steps are per block whatever ``data.step_unit``.
        max_epochs: the cap on epochs, where no ``trainer`` is given.
        trainer: to be used instead of a quiet one.
        ckpt_path: checkpoint of an earlier call to resume from.

    Returns:
        (S,) alpha per split; the learned one, as it is, if the objective has one.
    """
    if objective.learns_alpha:
        return objective.alpha.detach().clone()
    if objective.recipe.variant == "threshold" and objective.recipe.threshold is None:
        raise ValueError(
            "fitting alpha with variant 'threshold' needs threshold and margin; received a recipe "
            "without. Give them, or use Recipe(variant='ranking')."
        )
    was_training = objective.dissimilarity.training
    trained = [p for p in objective.dissimilarity.parameters() if p.requires_grad]
    units = None if objective.units is None else objective.units.tolist()
    alone = AlphaOnly(objective.dissimilarity, objective.recipe, seed=objective.seed, units=units)
    alone.to(dtype=next(objective.parameters()).dtype)
    try:
        objective.dissimilarity.requires_grad_(False)  # so that the optimiser has alpha alone
        (trainer or quiet_trainer(max_epochs)).fit(
            alone, datamodule=data.by_block(), ckpt_path=ckpt_path, weights_only=True
        )
    finally:
        objective.dissimilarity.train(was_training)
        for parameter in trained:
            parameter.requires_grad_(True)
    return alone.alpha.detach().clone()
