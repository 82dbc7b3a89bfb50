"""`Objective`: the training that all objectives share; a subclass adds its loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from pytorch_lightning.trainer.states import TrainerFn
from torch import Tensor, nn

from supclust.data.batch import BlockBatch
from supclust.data.datamodule import BlockDataModule
from supclust.dissimilarity.base import Dissimilarity
from supclust.metrics.purity import dendrogram_purity, mean_purity
from supclust.objectives.recipe import Recipe
from supclust.objectives.training.history import Epoch, LossSums, epoch_of, metrics_of, pack, unpack
from supclust.objectives.training.module import SplitModule
from supclust.objectives.training.optimizer import SplitAdamRows
from supclust.objectives.training.stopping import GRADIENT, Plateau


class Objective(SplitModule):
    """Trains S dissimilarities together, each as if alone.

    Every step of the optimiser takes one block (or cluster, or the mean over all blocks) of every
    split; the losses of splits add up, so each split gets its own gradient, and only splits that
    have a block in the step and have not stopped are updated (`SplitAdamRows`). A split stops by
    `Plateau` on its dev loss (training loss where it has no dev blocks) and keeps its parameters
    from then on.

    Fit it with a `BlockDataModule` of the same splits. Where the trainer does not validate after an
    epoch, the objective computes the dev losses alone, which the stopping rule needs.
    Logged every epoch, means over splits: ``train/loss`` and ``dev/loss``, their parts
    ``.../loss_within`` and ``.../loss_across`` (where the loss has such parts), ``alpha/mean`` if
    alpha is learned, ``splits/active``, and ``dev/purity`` where the trainer validates.

    Args:
        dissimilarity: the models, one per split.
        recipe: settings of the loss and the optimiser.
        seed: of alpha's initial value and of sampling.
        units: (S,) of each split's dissimilarities, in which the recipe's threshold and margin are
            given; default: 1. Losses and alpha are those of the dissimilarities all the same.

    Attributes:
        name: as in ``objective=...``.
        alpha_fixed: alpha of the linkage that the objective trains for, or of its dev trees.
        learns_alpha: whether alpha is a parameter, (S,).
        takes_cluster_steps: whether a step may be about one ground-truth cluster.
        history: (S,) tensors of every epoch (NaN: the split had stopped): losses "train" and "dev",
            their parts "train_within", "train_across", "dev_within", "dev_across", "alpha" if it
            is learned, "dev_purity" (NaN unless computed), "active" (after the epoch).
    """

    takes_cluster_steps: ClassVar[bool] = False

    def __init__(
        self,
        dissimilarity: Dissimilarity,
        recipe: Recipe | None = None,
        *,
        seed: int = 0,
        units: Sequence[float] | None = None,
    ) -> None:
        super().__init__(dissimilarity, recipe or Recipe(), int(seed), units)
        # Manual, since a step may hold several batches of blocks of similar sizes: a backward pass
        # after each frees its graph, so memory is that of one batch.
        self.automatic_optimization = False
        self.stopping = Plateau(len(self.splits), self.recipe.window, self.recipe.tolerance)
        self.history: list[Epoch] = []
        self._train_sums = self._dev_sums = LossSums(len(self.splits))
        self._purities: list[list[float]] = [[] for _ in self.splits]
        self._validated = False  # by the trainer, in this epoch
        self._random_state: Tensor | None = None

    # -- training -----------------------------------------------------------------------------

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam on the dissimilarity, and on alpha with a rate of its own and no decay."""
        weights = [p for p in self.dissimilarity.parameters() if p.requires_grad]
        groups: list[dict[str, Any]] = []
        if weights:
            decay = self.recipe.weight_decay
            groups.append({"params": weights, "lr": self.recipe.lr, "weight_decay": decay})
        if isinstance(self.alpha, nn.Parameter):
            groups.append({"params": [self.alpha], "lr": self.recipe.alpha_lr})
        self._rows = SplitAdamRows(groups)
        return self._rows.optimizer

    def on_fit_start(self) -> None:
        """Check the data, and begin in training mode."""
        data = self._data()
        if tuple(data.splits) != self.splits:
            raise ValueError(
                f"data and models must be of the same splits; received data of "
                f"{list(data.splits)} and models of {list(self.splits)}. "
                "Give both the same `splits`."
            )
        data.active = tuple(self.stopping.active.tolist())
        data.epoch = 0 if self._random_state is None else len(self.history)
        self.train()  # Lightning keeps the mode that it finds

    def on_train_start(self) -> None:
        """Resume random numbers; log the epochs before a resumption, as the loggers are new."""
        if self._random_state is not None:
            torch.set_rng_state(self._random_state)
        for number, epoch in enumerate(self.history):
            metrics = metrics_of(epoch, self._has_dev(), self.splits)
            for logger in self.trainer.loggers:
                logger.log_metrics({**metrics, "epoch": number}, step=number)

    def on_train_epoch_start(self) -> None:
        """Reset the sums of the training losses."""
        self._train_sums = LossSums(len(self.splits), self.device)
        self._validated = False

    def training_step(self, batches: Sequence[BlockBatch], batch_idx: int) -> None:
        """One step of the optimiser for every active split in the batches."""
        self.zero_grad()
        models = torch.cat([batch.split_of_block for batch in batches])
        blocks = torch.bincount(models, minlength=len(self.splits))  # (S,) in this step
        for batch in batches:
            parts = self.loss_parts(batch)
            if parts.total.requires_grad:  # degenerate blocks may not depend on any parameter
                self.manual_backward((parts.total / blocks[batch.split_of_block]).sum())
            self._train_sums.add(batch.split_of_block, parts)
        active = (blocks > 0) & self.stopping.active
        optimizer: Any = self.optimizers()
        bad = torch.tensor(self._rows.step(active, optimizer.step), dtype=torch.int64)
        for batch in batches if len(bad) else ():
            self._check(~torch.isin(batch.split_of_block.cpu(), bad), batch, GRADIENT)
        if self.dissimilarity.training:  # a frozen one has not been updated
            self.dissimilarity.after_step(active)

    def validation_step(self, batch: BlockBatch, batch_idx: int) -> None:
        """Dev losses and dendrogram purities."""
        self._dev_sums.add(batch.split_of_block, self.loss_parts(batch))
        self._add_purities(batch)

    def test_step(self, batch: BlockBatch, batch_idx: int) -> None:
        """Dendrogram purities of test blocks."""
        self._add_purities(batch)

    def on_validation_epoch_start(self) -> None:
        """Reset the sums of the dev losses and the purities."""
        self._validated = True
        self._dev_sums = LossSums(len(self.splits), self.device)
        self._purities = [[] for _ in self.splits]

    def on_test_epoch_start(self) -> None:
        """Reset the purities."""
        self._purities = [[] for _ in self.splits]

    def on_validation_epoch_end(self) -> None:
        """Log the purity outside of training; `on_train_epoch_end` logs that of an epoch."""
        if self.trainer.state.fn != TrainerFn.FITTING:
            self.log("dev/purity", mean_purity(self.purities()).mean, batch_size=1)

    def on_test_epoch_end(self) -> None:
        """Log the mean over splits of the mean over blocks."""
        self.log("test/purity", mean_purity(self.purities()).mean, batch_size=1)

    def on_train_epoch_end(self) -> None:
        """Apply the stopping rule to every split, and log the epoch."""
        if not self._validated:
            self._sum_dev_losses()
        train, dev, has_dev = self._train_sums.values, self._dev_sums.values, self._has_dev()
        epoch = epoch_of(train, dev, self.stopping.active)
        if self.learns_alpha:
            epoch["alpha"] = self.alpha.detach().double().cpu().clone()
        purities = self.purities() if self._validated else [torch.nan] * len(self.splits)
        epoch["dev_purity"] = torch.tensor(purities, dtype=torch.float64)
        active = self.stopping.update(torch.where(has_dev, dev[0], train[0]))
        epoch["active"] = active.double().cpu()
        self.history.append(epoch)
        data = self._data()
        data.active, data.epoch = tuple(active.tolist()), self.current_epoch + 1
        self.trainer.should_stop |= not bool(active.any())
        if self.trainer.loggers or self.trainer.progress_bar_callback is not None:
            self.log_dict(metrics_of(epoch, has_dev.cpu(), self.splits), batch_size=1)

    def purities(self) -> list[float]:
        """Mean purity over blocks of every split in the last validation or test; NaN: undefined."""
        return [mean_purity(values).mean for values in self._purities]

    # -- checkpoints --------------------------------------------------------------------------

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add the history and the state of torch's random numbers (dropout of an encoder)."""
        checkpoint["history"] = pack(self.history)
        checkpoint["random_state"] = torch.get_rng_state()

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Restore what `on_save_checkpoint` added; the rest is in the state of the module."""
        self.history = unpack(checkpoint["history"])
        self._random_state = checkpoint["random_state"]

    # -- helpers ------------------------------------------------------------------------------

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

    @torch.no_grad()
    def _sum_dev_losses(self) -> None:
        """Dev losses of active splits without Lightning's loop, which takes longer than they do."""
        self._dev_sums = LossSums(len(self.splits), self.device)
        self.eval()
        for batch in self._data().whole("dev", only_active=True):
            self._dev_sums.add(batch.split_of_block, self.loss_parts(batch))
        self.train()

    def _add_purities(self, batch: BlockBatch) -> None:
        trees = self.trees(batch)
        for i, n in enumerate(batch.lengths.tolist()):
            if n > 1:
                labels = batch.labels[i, :n].cpu().numpy()
                purity = dendrogram_purity(trees.to_scipy(i), labels)
                self._purities[int(batch.split_of_block[i])].append(purity)
