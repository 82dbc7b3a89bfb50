"""Alpha after training: the ExpLink loss minimised in alpha alone."""

from __future__ import annotations

from typing import ClassVar

import pytorch_lightning as pl
import torch
from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.data.datamodule import BlockDataModule
from supclust.objectives.base import Objective
from supclust.objectives.explink import ExpLinkObjective
from supclust.objectives.split_adam import SplitAdam
from supclust.objectives.trainer import quiet_trainer


class AlphaOnly(ExpLinkObjective):
    """`exp_alpha` with the dissimilarity frozen, in evaluation mode (averaged weights)."""

    name: ClassVar[str] = "alpha_only"
    learns_alpha: ClassVar[bool] = True

    def dissimilarities(self, batch: BlockBatch) -> Tensor:
        """Dissimilarities in evaluation mode, without a gradient."""
        self.dissimilarity.eval()
        with torch.no_grad():
            return super().dissimilarities(batch)

    def configure_optimizers(self) -> SplitAdam:
        """Adam on alpha."""
        return SplitAdam([{"params": [self.alpha], "lr": self.recipe.alpha_lr}])


def fit_alpha(
    objective: Objective,
    data: BlockDataModule,
    max_epochs: int,
    *,
    trainer: pl.Trainer | None = None,
) -> Tensor:
    """Fit the linkage of every split to its trained dissimilarity (the ``exp`` linkage).

    Alpha starts from N(0, 0.1) and minimises the ExpLink loss on the training blocks with the
    objective's recipe: variant, alpha's rate, stopping rule.

    Args:
        objective: trained; not changed.
        data: the blocks it was trained on; steps are per block whatever ``data.step_unit``.
        max_epochs: the cap on epochs, where no ``trainer`` is given.
        trainer: to be used instead of a quiet one.

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
    units = None if objective.units is None else objective.units.tolist()
    alone = AlphaOnly(objective.dissimilarity, objective.recipe, seed=objective.seed, units=units)
    alone.to(dtype=next(objective.parameters()).dtype)
    (trainer or quiet_trainer(max_epochs)).fit(alone, datamodule=data.by_block())
    objective.dissimilarity.train(was_training)
    return alone.alpha.detach().clone()
