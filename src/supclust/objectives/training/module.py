"""`SplitModule`: S dissimilarities, and the losses and trees of their blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar
from zlib import crc32

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from supclust.data.batch import BlockBatch
from supclust.dissimilarity.base import Dissimilarity
from supclust.hac.dendrogram import Dendrogram
from supclust.hac.module import ExpLinkHAC
from supclust.losses.hinge import LossParts
from supclust.losses.inputs import Blocks, as_blocks
from supclust.objectives.recipe import Recipe
from supclust.objectives.training.stopping import LOSS, OVERFLOW, TrainingDiverged

ALPHA_STREAM, TRIPLET_STREAM = 101, 102  # kinds of random numbers drawn from one seed


class SplitModule(pl.LightningModule, ABC):
    """One dissimilarity and alpha per split, and a loss; see `Objective` for the arguments."""

    name: ClassVar[str]
    alpha_fixed: ClassVar[float] = 0.0
    learns_alpha: ClassVar[bool] = False
    alpha: Tensor
    units: Tensor | None

    def __init__(
        self, dissimilarity: Dissimilarity, recipe: Recipe, seed: int, units: Sequence[float] | None
    ) -> None:
        super().__init__()
        self.dissimilarity = dissimilarity
        self.recipe = recipe
        self.seed = seed
        self.splits = dissimilarity.splits
        for name, parameter in dissimilarity.named_parameters():
            if parameter.requires_grad and parameter.shape[:1] != (len(self.splits),):
                raise ValueError(
                    "a learned parameter of a dissimilarity must have a leading axis of length "
                    f"{len(self.splits)}, one entry per split; received {name!r} of "
                    f"{type(dissimilarity).__name__} with shape {tuple(parameter.shape)}."
                )
        given = None if units is None else torch.tensor(units, dtype=torch.float64)
        self.register_buffer("units", given, persistent=False)
        self.hac = ExpLinkHAC(0.0 if self.learns_alpha else self.alpha_fixed)
        if self.learns_alpha:
            self.alpha = nn.Parameter(self._initial_alpha())
        else:
            fixed = torch.full((len(self.splits),), self.alpha_fixed, dtype=torch.float64)
            self.register_buffer("alpha", fixed, persistent=False)

    @abstractmethod
    def block_losses(self, dissimilarity: Tensor, batch: BlockBatch) -> Tensor | LossParts:
        """(b,) losses of whole blocks from their (b, n, n) dissimilarities."""

    def cluster_losses(self, rows: Tensor, batch: BlockBatch) -> Tensor | LossParts:
        """(b,) losses of one cluster of each block from the (b, m, n) rows of its points."""
        raise ValueError(
            f"objective {self.name!r} looks at whole trees and takes one step per block; received "
            "a batch of clusters. Use BlockDataModule(step_unit='block')."
        )

    def labelled_blocks(self, dissimilarity: Tensor, batch: BlockBatch) -> Blocks:
        """Dissimilarities and labels of a batch, as the losses read them."""
        return as_blocks(
            dissimilarity, batch.labels, batch.lengths, check=False, strangers=batch.strangers
        )

    def losses(self, batch: BlockBatch) -> Tensor:
        """(b,) losses of a batch under the model of each block's split."""
        return self.loss_parts(batch).total

    def loss_parts(self, batch: BlockBatch) -> LossParts:
        """`losses`, with their within and across parts."""
        values = self.dissimilarities(batch)
        if not bool(values.detach().sum().isfinite()):
            self._check(values.detach().flatten(1).isfinite().all(dim=1), batch, OVERFLOW)
        compute = self.block_losses if batch.anchors is None else self.cluster_losses
        unit = None if self.units is None else self.units[batch.split_of_block]
        losses = compute(values if unit is None else values / unit[:, None, None], batch)
        losses = LossParts(losses) if isinstance(losses, Tensor) else losses
        received: object = type(losses).__name__
        if isinstance(losses, LossParts):
            received = tuple(losses.total.shape)
        if received != (len(batch),):
            raise ValueError(
                f"{compute.__name__} of objective {type(self).__name__} must return "
                f"({len(batch)},) losses, one per block; received {received}. Sum over the points "
                "of a block, not over blocks."
            )
        if unit is not None:
            parts = (part if part is None else part * unit for part in losses[1:])
            losses = LossParts(losses.total * unit, *parts)
        self._check(losses.total.detach().isfinite(), batch, LOSS)
        return losses

    def dissimilarities(self, batch: BlockBatch) -> Tensor:
        """(b, n, n) dissimilarities of a batch, or the (b, m, n) rows of its anchors."""
        values: Tensor = self.dissimilarity(
            batch.features,
            lengths=batch.lengths,
            split_of_block=batch.split_of_block,
            row_of_block=batch.row_of_block,
            anchors=batch.anchors,
        )
        b, n = batch.labels.shape
        rows = n if batch.anchors is None else batch.anchors.shape[1]
        if values.shape != (b, rows, n):
            raise ValueError(
                f"dissimilarity {type(self.dissimilarity).__name__} must return {(b, rows, n)}: "
                "blocks, rows, points; received "
                f"{tuple(values.shape)}. Rows are those of inputs.anchors where these are given."
            )
        return values

    @torch.no_grad()
    def trees(self, batch: BlockBatch, alpha: float | Tensor | None = None) -> Dendrogram:
        """Trees of every block; alpha is (S,) or a number, default: the objective's own."""
        given = self.alpha if alpha is None else torch.as_tensor(alpha, device=self.device)
        per_block = given[batch.split_of_block] if given.ndim else given
        trees: Dendrogram = self.hac(self.dissimilarities(batch), batch.lengths, alpha=per_block)
        return trees

    def generator(self, batch: BlockBatch, i: int) -> torch.Generator:
        """Random numbers of block i, which depend on seed, split, epoch and block only."""
        # Dev losses of all epochs use one draw, so that they differ by the parameters alone.
        epoch = self.current_epoch if self.training else 0
        block = crc32(batch.names[i].encode())
        split = self.splits[int(batch.split_of_block[i])]
        cluster = 0 if batch.anchors is None else int(batch.anchors[i, 0]) + 1
        parts = [self.seed, TRIPLET_STREAM, split, epoch, block, cluster, int(self.training)]
        state = np.random.SeedSequence(parts).generate_state(1, np.uint64)
        return torch.Generator().manual_seed(int(state[0]))

    def _initial_alpha(self) -> Tensor:
        rngs = [np.random.default_rng([self.seed, ALPHA_STREAM, split]) for split in self.splits]
        draws = [rng.normal(scale=self.recipe.alpha_deviation) for rng in rngs]
        initial = torch.tensor(draws, dtype=torch.float64)
        return initial.to(torch.get_default_dtype())

    def _check(self, good: Tensor, batch: BlockBatch, cause: str) -> None:
        """Raise `TrainingDiverged` unless all blocks are good, (b,) bool."""
        if bool(good.all()):
            return
        bad = (~good).nonzero()[:, 0].tolist()
        splits = sorted({self.splits[int(batch.split_of_block[i])] for i in bad})
        names = list(dict.fromkeys(batch.names[i] for i in bad))
        raise TrainingDiverged(self.current_epoch, names, splits, cause)
