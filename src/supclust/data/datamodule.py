"""`BlockDataModule`: the blocks of S splits as batches of steps, for Lightning."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

import numpy as np
import pytorch_lightning as pl
import torch

from supclust.data.batch import BlockBatch, BlockStore, Unit, grouped_by_size
from supclust.data.block import Block, Dataset
from supclust.data.splits import DatasetSplit, split_dataset

StepUnit = Literal["block", "cluster", "all"]
Part = Literal["train", "dev", "test"]
MATRIX_BUDGET = 8_000_000  # numbers in one padded batch of matrices at evaluation


class BlockDataModule(pl.LightningDataModule):
    """Batches of the blocks of S splits that are trained together.

    An epoch of a split visits each of its training units once, in an order drawn from (seed,
    split, epoch), one step of the optimiser each. Step t of the joint epoch holds the t-th unit of
    every split that still has one, so a split sees what it would see alone.

    Args:
        parts: train, dev and test blocks of every split. Dev and test may be empty.
        splits: number of each split. Default: 0 to S-1.
        seed: of the order of units.
        step_unit: ``"block"``; ``"cluster"`` for one step per ground-truth cluster; ``"all"`` for
            one step per epoch, with every block in it.
        dtype: of the features. Default: torch's.
    """

    def __init__(
        self,
        parts: Sequence[DatasetSplit],
        splits: Sequence[int] | None = None,
        *,
        seed: int = 0,
        step_unit: StepUnit = "block",
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if step_unit not in get_args(StepUnit):
            raise ValueError(
                f"step_unit must be one of {', '.join(get_args(StepUnit))}; received "
                f"{step_unit!r}. Use 'block' for one step per block."
            )
        self.parts = tuple(parts)
        self.splits = tuple(range(len(self.parts)) if splits is None else splits)
        if len(self.splits) != len(self.parts) or not self.parts:
            raise ValueError(
                f"splits must number each of the {len(self.parts)} parts (at least one); "
                f"received {list(self.splits)}."
            )
        if any(not part.train for part in self.parts):
            raise ValueError(
                "every split needs at least one training block; received a split with none."
            )
        self.seed, self.step_unit = int(seed), step_unit
        self.store = BlockStore([b for part in self.parts for p in part for b in p], dtype)
        # Set by the objective: splits that have stopped are left out of the steps.
        self.active: tuple[bool, ...] = (True,) * len(self.parts)
        self.epoch = 0  # of the next steps; Lightning's counter is behind when a fit is resumed
        self._whole: dict[tuple[Part, tuple[bool, ...]], list[BlockBatch]] = {}

    @classmethod
    def from_dataset(
        cls,
        dataset: Dataset,
        splits: Sequence[int] = (0,),
        *,
        split_seed: int = 0,
        seed: int = 0,
        step_unit: StepUnit = "block",
        dtype: torch.dtype | None = None,
    ) -> BlockDataModule:
        """The given splits of a data set; its blocks are held once for all of them."""
        parts = [split_dataset(dataset, number, split_seed) for number in splits]
        return cls(parts, splits, seed=seed, step_unit=step_unit, dtype=dtype)

    def by_block(self) -> BlockDataModule:
        """The same data with one step per block."""
        twin = copy.copy(self)
        twin.trainer, twin.step_unit = None, "block"
        twin.active, twin._whole, twin.epoch = (True,) * len(self.parts), {}, 0
        return twin

    @property
    def n_splits(self) -> int:
        """Number of splits, S."""
        return len(self.parts)

    def steps(self, epoch: int) -> Iterator[tuple[BlockBatch, ...]]:
        """Steps of one epoch of the active splits, each one or several batches of similar sizes."""
        if self.step_unit == "all":
            yield tuple(self.whole("train", only_active=True))
            return
        orders = [
            self._order(position, epoch) if active else []
            for position, active in enumerate(self.active)
        ]
        for step in range(max(len(order) for order in orders)):
            units = [order[step] for order in orders if step < len(order)]
            # A cluster has a small number of rows, so padding costs less than another batch.
            grouped = self.step_unit == "block"
            groups = grouped_by_size(units, MATRIX_BUDGET) if grouped else [units]
            yield tuple(self.store.batch(group) for group in groups)

    def whole(self, part: Part, *, only_active: bool = False) -> list[BlockBatch]:
        """All blocks of one part of every (active) split, in batches of similar sizes."""
        included = self.active if only_active else (True,) * self.n_splits
        key = (part, included)
        if key not in self._whole:
            units = [
                Unit(position, block)
                for position, split in enumerate(self.parts)
                for block in getattr(split, part)
                if included[position]
            ]
            batches = [self.store.batch(group) for group in grouped_by_size(units, MATRIX_BUDGET)]
            # Sets of active splits only shrink: an old one is not asked for again.
            self._whole = {**dict(list(self._whole.items())[-2:]), key: batches}
        return self._whole[key]

    def train_dataloader(self) -> _Steps:
        """One tuple of batches per step of the epoch."""
        self._to_device_of_trainer()
        return _Steps(lambda: self.steps(self.epoch))

    def val_dataloader(self) -> _Steps:
        """The dev blocks of every split."""
        self._to_device_of_trainer()
        return _Steps(lambda: iter(self.whole("dev")))

    def test_dataloader(self) -> _Steps:
        """The test blocks of every split."""
        self._to_device_of_trainer()
        return _Steps(lambda: iter(self.whole("test")))

    def _order(self, position: int, epoch: int) -> list[Unit]:
        units = list(self._units(position, self.parts[position].train))
        rng = np.random.default_rng([self.seed, self.splits[position], epoch])
        return [units[i] for i in rng.permutation(len(units))]

    def _units(self, position: int, blocks: Sequence[Block]) -> Iterator[Unit]:
        for block in blocks:
            if self.step_unit == "cluster":
                known = np.unique(block.known_labels[block.known_labels >= 0]).tolist()
                yield from (Unit(position, block, code) for code in known)
            else:
                yield Unit(position, block)

    def _to_device_of_trainer(self) -> None:
        """Keep the features where the model is: no copy per step."""
        device = self.trainer.strategy.root_device if self.trainer else torch.device("cpu")
        if self.store.device != device:
            self.store = self.store.to(device)
            self._whole = {}


class _Steps:
    """An iterable whose length is known only at its end, as Lightning accepts it."""

    def __init__(self, batches: Callable[[], Iterator[object]]) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[object]:
        return self._batches()
