"""Dendrogram purity of dev and test blocks, for the objectives to log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytorch_lightning as pl
import torch
from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.hac.dendrogram import Dendrogram
from supclust.hac.module import ExpLinkHAC
from supclust.metrics.purity import dendrogram_purity, mean_purity

if TYPE_CHECKING:
    Base = pl.LightningModule
else:
    Base = object


class PurityWatch(Base):
    """The part of an objective that builds trees and scores them.

    Expects the attributes ``hac``, ``splits``, ``alpha`` (S,) and the method ``dissimilarities``.
    """

    hac: ExpLinkHAC
    splits: tuple[int, ...]
    alpha: Tensor
    _purities: list[list[float]]
    _validated_epoch: int | None = None

    def dissimilarities(self, batch: BlockBatch) -> Tensor:
        """(b, n, n) dissimilarities of a batch."""
        raise TypeError(f"{type(self).__name__} must define dissimilarities()")

    @torch.no_grad()
    def trees(self, batch: BlockBatch, alpha: float | Tensor | None = None) -> Dendrogram:
        """Trees of every block; alpha is (S,) or a number, default: the objective's own."""
        given = self.alpha if alpha is None else torch.as_tensor(alpha, device=self.device)
        per_block = given[batch.split_of_block] if given.ndim else given
        trees: Dendrogram = self.hac(self.dissimilarities(batch), batch.lengths, alpha=per_block)
        return trees

    def purities(self) -> list[float]:
        """Mean purity over blocks of every split in the last validation or test; NaN: undefined."""
        return [mean_purity(values).mean for values in self._purities]

    def validation_step(self, batch: BlockBatch, batch_idx: int) -> None:
        """Dendrogram purity of dev blocks."""
        self._score(batch)

    def test_step(self, batch: BlockBatch, batch_idx: int) -> None:
        """Dendrogram purity of test blocks."""
        self._score(batch)

    def on_validation_epoch_start(self) -> None:
        """Begin a list of purities per split."""
        self._purities = [[] for _ in self.splits]

    def on_test_epoch_start(self) -> None:
        """Begin a list of purities per split."""
        self._purities = [[] for _ in self.splits]

    def on_validation_epoch_end(self) -> None:
        """Log the mean over splits of the mean over blocks."""
        self._validated_epoch = self.current_epoch
        self.log("dev/purity", mean_purity(self.purities()).mean, batch_size=1)

    def on_test_epoch_end(self) -> None:
        """Log the mean over splits of the mean over blocks."""
        self.log("test/purity", mean_purity(self.purities()).mean, batch_size=1)

    def _score(self, batch: BlockBatch) -> None:
        trees = self.trees(batch)
        for i, n in enumerate(batch.lengths.tolist()):
            if n > 1:
                labels = batch.labels[i, :n].cpu().numpy()
                purity = dendrogram_purity(trees.to_scipy(i), labels)
                self._purities[int(batch.split_of_block[i])].append(purity)
