"""`Objective`: what all eight objectives share; a subclass adds its loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from supclust.data.batch import BlockBatch
from supclust.data.datamodule import BlockDataModule
from supclust.dissimilarity.base import Dissimilarity
from supclust.hac.module import ExpLinkHAC
from supclust.losses.hinge import LossParts
from supclust.objectives.divergence import GRADIENT, LOSS, OVERFLOW, TrainingDiverged
from supclust.objectives.epoch_sums import TOTAL, EpochSums, means_by_name, parts_by_name, times
from supclust.objectives.recipe import Recipe
from supclust.objectives.split_adam import NonFiniteUpdateError, SplitAdam
from supclust.objectives.stopping import Plateau
from supclust.objectives.watch import PurityWatch

ALPHA_STREAM, TRIPLET_STREAM = 101, 102  # kinds of random numbers drawn from one seed


class Objective(PurityWatch, pl.LightningModule, ABC):
    """Trains S dissimilarities together, each as if alone.

    Every step of the optimiser takes one block (or cluster) of every split; the losses add up, so
    each split gets its own gradient, and `SplitAdam` moves only splits that have a block in the
    step and have not stopped. A split stops by `Plateau` on its dev loss (training loss where it
    has no dev blocks) and keeps its parameters from then on.

    Fit it with a `BlockDataModule` of the same splits. Logged every epoch, means over splits:
    ``train/loss`` and ``dev/loss``, their parts ``.../loss_within`` and ``.../loss_across`` (where
    the loss has such parts), and ``splits/active``; ``dev/purity`` whenever the trainer validates.

    Args:
        dissimilarity: the models, one per split.
        recipe: settings of the loss and the optimiser.
        seed: of alpha's start and of sampling.
        units: (S,) of each split's dissimilarities, in which the recipe's threshold and margin are
            given; default: 1. Losses and alpha are those of the dissimilarities all the same.

    Attributes:
        name: as in ``objective=...``.
        alpha_fixed: alpha of the linkage that the objective trains for, or of the trees it is
            watched by.
        learns_alpha: whether alpha is a parameter, (S,).
        takes_cluster_steps: whether a step may be about one ground-truth cluster.
        history: per epoch, {"train", "dev"} losses as (S,) tensors (NaN: the split had stopped).
        details: per epoch likewise, parts of the losses ("train_within", "train_across",
            "dev_within", "dev_across"; NaN also where a loss has none), "alpha" if it is learned,
            "dev_purity" if the trainer validated.
    """

    name: ClassVar[str]
    alpha_fixed: ClassVar[float] = 0.0
    learns_alpha: ClassVar[bool] = False
    takes_cluster_steps: ClassVar[bool] = False
    alpha: Tensor
    units: Tensor | None

    def __init__(
        self,
        dissimilarity: Dissimilarity,
        recipe: Recipe | None = None,
        *,
        seed: int = 0,
        units: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.dissimilarity = dissimilarity
        self.recipe = recipe or Recipe()
        self.seed = int(seed)
        self.splits = dissimilarity.splits
        given = None if units is None else torch.tensor(units, dtype=torch.float64)
        self.register_buffer("units", given, persistent=False)
        self.hac = ExpLinkHAC(0.0 if self.learns_alpha else self.alpha_fixed)
        self.stopping = Plateau(len(self.splits), self.recipe.window, self.recipe.tolerance)
        self.history: list[dict[str, Tensor]] = []
        self.details: list[dict[str, Tensor]] = []
        self._sums = EpochSums(len(self.splits))
        self._purities = [[] for _ in self.splits]
        if self.learns_alpha:
            self.alpha = nn.Parameter(self._alpha_start())
        else:
            start = torch.full((len(self.splits),), self.alpha_fixed, dtype=torch.float64)
            self.register_buffer("alpha", start, persistent=False)

    # -- what a subclass says -----------------------------------------------------------------

    @abstractmethod
    def block_losses(self, dissimilarity: Tensor, batch: BlockBatch) -> Tensor | LossParts:
        """(b,) losses of whole blocks from their (b, n, n) dissimilarities."""

    def cluster_losses(self, rows: Tensor, batch: BlockBatch) -> Tensor | LossParts:
        """(b,) losses of one cluster of each block from the (b, m, n) rows of its points."""
        raise ValueError(
            f"objective {self.name!r} looks at whole trees and takes one step per block; received "
            "a batch of clusters. Use BlockDataModule(step_unit='block')."
        )

    # -- losses -------------------------------------------------------------------------------

    def losses(self, batch: BlockBatch) -> Tensor:
        """(b,) losses of a batch under the model of each block's split."""
        return self.loss_parts(batch).total

    def loss_parts(self, batch: BlockBatch) -> LossParts:
        """`losses`, with what their within and across terms add to them."""
        values = self.dissimilarities(batch)
        if not bool(values.detach().sum().isfinite()):
            self._check(values.detach().flatten(1).isfinite().all(dim=1), batch, OVERFLOW)
        compute = self.block_losses if batch.anchors is None else self.cluster_losses
        unit = None if self.units is None else self.units[batch.split_of_block]
        found = compute(values if unit is None else values / unit[:, None, None], batch)
        losses = LossParts(found) if isinstance(found, Tensor) else found
        losses = losses if unit is None else times(losses, unit)
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
        return values

    def generator(self, batch: BlockBatch, i: int) -> torch.Generator:
        """Random numbers of block i: they depend on split, epoch and block, not on its company."""
        # Dev losses of all epochs use one draw: what is compared must not differ by chance.
        epoch = self.current_epoch if self.training else 0
        block = crc32(batch.names[i].encode())
        split = self.splits[int(batch.split_of_block[i])]
        cluster = 0 if batch.anchors is None else int(batch.anchors[i, 0]) + 1
        parts = [self.seed, TRIPLET_STREAM, split, epoch, block, cluster, int(self.training)]
        state = np.random.SeedSequence(parts).generate_state(1, np.uint64)
        return torch.Generator().manual_seed(int(state[0]))

    # -- training -----------------------------------------------------------------------------

    def configure_optimizers(self) -> SplitAdam:
        """Adam on the dissimilarity, and on alpha with a rate of its own and no decay."""
        weights = [p for p in self.dissimilarity.parameters() if p.requires_grad]
        groups: list[dict[str, Any]] = []
        if weights:
            decay = self.recipe.weight_decay
            groups.append({"params": weights, "lr": self.recipe.lr, "weight_decay": decay})
        if isinstance(self.alpha, nn.Parameter):
            groups.append({"params": [self.alpha], "lr": self.recipe.alpha_lr})
        return SplitAdam(groups)

    def on_fit_start(self) -> None:
        """Check that data and models are of the same splits, and begin in training mode."""
        data = self._data()
        if tuple(data.splits) != self.splits:
            raise ValueError(
                f"data and models must be of the same splits; received data of "
                f"{list(data.splits)} and models of {list(self.splits)}. "
                "Give both the same `splits`."
            )
        data.active = tuple(self.stopping.active.tolist())
        self.train()  # Lightning keeps the mode it is given

    def on_train_epoch_start(self) -> None:
        """Begin the sums of the epoch's losses."""
        self._sums = EpochSums(len(self.splits), self.device)

    def training_step(self, batches: Sequence[BlockBatch], batch_idx: int) -> None:
        """One step of the optimiser for every active split in the batches."""
        optimizer: Any = self.optimizers()
        optimizer.zero_grad()
        active = torch.zeros_like(self.stopping.active)
        for batch in batches:
            parts = self.loss_parts(batch)
            if parts.total.requires_grad:  # degenerate blocks may not depend on anything
                self.manual_backward(parts.total.sum())
            active[batch.split_of_block] = True
            self._sums.add(batch.split_of_block, parts)
        active &= self.stopping.active
        try:
            optimizer.step(active=active)
        except NonFiniteUpdateError as error:
            for batch in batches:
                bad = torch.isin(batch.split_of_block.cpu(), torch.tensor(error.splits))
                self._check(~bad, batch, GRADIENT)
        if self.dissimilarity.training:  # a frozen one has not been updated
            self.dissimilarity.after_step(active)

    def on_train_epoch_end(self) -> None:
        """Apply the stopping rule to every split."""
        active = self.stopping.active.clone()
        train = self._sums.read().masked_fill(~active, torch.nan)  # (3, S)
        dev = self._dev_sums().read().masked_fill(~active, torch.nan)
        watched = torch.where(self._has_dev(), dev, train)
        self._remember(train.cpu(), dev.cpu())
        self.stopping.update(watched[TOTAL])
        self._data().active = tuple(self.stopping.active.tolist())
        self.trainer.should_stop |= not bool(self.stopping.active.any())
        self._report(train, watched)

    @torch.no_grad()
    def dev_losses(self) -> Tensor:
        """(S,) sums of the losses of the dev blocks of every active split, in evaluation mode."""
        return self._dev_sums().read()[TOTAL]

    @torch.no_grad()
    def _dev_sums(self) -> EpochSums:
        sums = EpochSums(len(self.splits), self.device)
        was_training = self.training
        self.eval()
        for batch in self._data().whole("dev", only_active=True):
            sums.add(batch.split_of_block, self.loss_parts(batch))
        self.train(was_training)
        return sums

    def _remember(self, train: Tensor, dev: Tensor) -> None:
        """Add an epoch to the history and its details, from the (3, S) sums of its losses."""
        self.history.append({"train": train[TOTAL], "dev": dev[TOTAL]})
        epoch = parts_by_name("train", train) | parts_by_name("dev", dev)
        if self.learns_alpha:
            epoch["alpha"] = self.alpha.detach().double().cpu().clone()
        if self._validated_epoch == self.current_epoch:
            epoch["dev_purity"] = torch.tensor(self.purities(), dtype=torch.float64)
        self.details.append(epoch)

    def _report(self, train: Tensor, watched: Tensor) -> None:
        """Means over splits of (3, S) sums to the loggers and the bar, where there are any.

        `self.log` would take as long as a step of training, so loggers are called directly.
        """
        bar = self.trainer.progress_bar_callback is not None
        if not self.trainer.loggers and not bar:
            return
        values = {
            **means_by_name("train", train),
            **means_by_name("dev", watched),
            "splits/active": float(self.stopping.active.sum()),
        }
        for logger in self.trainer.loggers:
            logger.log_metrics(values, step=self.current_epoch)
        if bar:
            self.log_dict(values, prog_bar=True, logger=False, batch_size=1)

    # -- parts --------------------------------------------------------------------------------

    def _alpha_start(self) -> Tensor:
        rngs = [np.random.default_rng([self.seed, ALPHA_STREAM, split]) for split in self.splits]
        draws = [rng.normal(scale=self.recipe.alpha_deviation) for rng in rngs]
        start = torch.tensor(draws, dtype=torch.float64)
        return start.to(torch.get_default_dtype())

    def _data(self) -> BlockDataModule:
        data = getattr(self.trainer, "datamodule", None)
        if not isinstance(data, BlockDataModule):
            raise ValueError(
                f"an objective is fitted on a BlockDataModule; received {type(data).__name__}. "
                "Call trainer.fit(objective, datamodule=BlockDataModule(...))."
            )
        return data

    def _has_dev(self) -> Tensor:
        return torch.tensor([bool(part.dev) for part in self._data().parts], device=self.device)

    def _check(self, good: Tensor, batch: BlockBatch, cause: str) -> None:
        """Raise `TrainingDiverged` unless all blocks are good, (b,) bool."""
        if bool(good.all()):
            return
        bad = (~good).nonzero()[:, 0].tolist()
        splits = sorted({self.splits[int(batch.split_of_block[i])] for i in bad})
        names = list(dict.fromkeys(batch.names[i] for i in bad))
        raise TrainingDiverged(self.current_epoch, names, splits, cause)
