"""`BlockBatch`, the ragged batch of blocks that training works on, and the store it is cut from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from supclust.data.block import Block, IntArray


class Unit(NamedTuple):
    """One block of one split, or one ground-truth cluster of it."""

    split: int
    """Position of the split among those trained together, 0 to S-1."""
    block: Block
    cluster: int | None = None
    """Cluster whose points anchor the terms of a step; ``None``: the whole block."""


@dataclass(frozen=True, eq=False)
class BlockBatch:
    """Blocks of several splits, padded to the points of the largest.

    Attributes:
        features: entries the blocks are made of: (u, n, d) zero-padded points, or u tensors
            (e_i, d) of condensed pair features, views of the store. A block that several splits
            use is one entry.
        labels: (b, n) cluster codes, -1 in padding.
        lengths: (b,) points per block.
        split_of_block: (b,) position of its split.
        row_of_block: (b,) its entry in ``features``.
        names: (b,) block names, for messages.
        anchors: (b, m) points of the cluster that a step is about, -1 in padding; ``None`` where
            steps are whole blocks.
        strangers: (b, n) bool, points of unknown clusters; ``None``: no block has any.
    """

    features: Tensor | tuple[Tensor, ...]
    labels: Tensor
    lengths: Tensor
    split_of_block: Tensor
    row_of_block: Tensor
    names: tuple[str, ...]
    anchors: Tensor | None = None
    strangers: Tensor | None = None

    def __len__(self) -> int:
        return len(self.names)

    def to(self, device: torch.device | str) -> BlockBatch:
        """The same batch on a device."""
        if self.labels.device == torch.device(device):
            return self
        moved: dict[str, Any] = {
            key: value.to(device) for key, value in vars(self).items() if isinstance(value, Tensor)
        }
        if "features" not in moved:
            moved["features"] = tuple(entry.to(device) for entry in self.features)
        return replace(self, **moved)


class BlockStore:
    """Features and labels of blocks as tensors, each block once however many splits use it.

    Args:
        blocks: all blocks, repetitions allowed (the same object is the same block).
        dtype: of the features. Default: torch's.
        device: where they live.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        dtype: torch.dtype | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        if not blocks:
            raise ValueError("at least one block is needed; received none. Pass training blocks.")
        shapes = {(block.kind, block.d) for block in blocks}
        if len(shapes) > 1:
            raise ValueError(
                "blocks trained together must be of one kind and width; "
                f"received {sorted(shapes)}. Train them apart."
            )
        self.kind, self.d = blocks[0].kind, blocks[0].d
        self.device = torch.device(device)
        self._blocks = {id(block): block for block in blocks}  # also keeps the ids taken
        dtype = dtype or torch.get_default_dtype()
        self._features = {
            key: torch.as_tensor(block.features).to(self.device, dtype)
            for key, block in self._blocks.items()
        }
        self._labels = {
            key: torch.as_tensor(block.labels).to(self.device)
            for key, block in self._blocks.items()
        }
        self._recent: dict[tuple[tuple[int, int], ...], BlockBatch] = {}

    def to(self, device: torch.device | str) -> BlockStore:
        """A store of the same blocks on another device."""
        dtype = next(iter(self._features.values())).dtype
        return BlockStore(list(self._blocks.values()), dtype, device)

    def batch(self, units: Sequence[Unit]) -> BlockBatch:
        """Assemble a batch; pair features are not copied."""
        key = tuple((unit.split, id(unit.block)) for unit in units)
        whole = self._recent.get(key)
        if whole is None:
            whole = self._assemble(units)
            # Splits with one training block each ask for the same batch in every epoch.
            self._recent = {**dict(list(self._recent.items())[-15:]), key: whole}
        if all(unit.cluster is None for unit in units):
            return whole
        anchors = [torch.as_tensor(_points_of(unit)) for unit in units]
        padded = pad_sequence(anchors, batch_first=True, padding_value=-1)
        return replace(whole, anchors=padded.to(self.device))

    def _assemble(self, units: Sequence[Unit]) -> BlockBatch:
        keys = list(dict.fromkeys(id(unit.block) for unit in units))
        entries = [self._features[key] for key in keys]
        row = {key: i for i, key in enumerate(keys)}

        def numbers(values: list[int]) -> Tensor:
            return torch.tensor(values, dtype=torch.int64, device=self.device)

        return BlockBatch(
            features=(
                pad_sequence(entries, batch_first=True)
                if self.kind == "vectors"
                else tuple(entries)
            ),
            labels=pad_sequence(
                [self._labels[id(unit.block)] for unit in units],
                batch_first=True,
                padding_value=-1,
            ),
            lengths=numbers([unit.block.n for unit in units]),
            split_of_block=numbers([unit.split for unit in units]),
            row_of_block=numbers([row[id(unit.block)] for unit in units]),
            names=tuple(unit.block.name for unit in units),
            strangers=self._strangers(units),
        )

    def _strangers(self, units: Sequence[Unit]) -> Tensor | None:
        if all(unit.block.strangers is None for unit in units):
            return None
        marks = [torch.as_tensor(unit.block.known_labels == -1) for unit in units]
        return pad_sequence(marks, batch_first=True).to(self.device)


def _points_of(unit: Unit) -> IntArray:
    if unit.cluster is None:
        return np.arange(unit.block.n)
    return np.flatnonzero(unit.block.labels == unit.cluster)


# Numbers of padding that take about as long to carry along as one more batch does.
PADDING_WORTH_A_BATCH = 200_000


def grouped_by_size(units: Sequence[Unit], budget: int) -> list[list[Unit]]:
    """Units in groups of similar size, largest first.

    The padded matrices of a group hold at most ``budget`` numbers, of which at most
    `PADDING_WORTH_A_BATCH` are padding. A unit that exceeds the budget on its own is a group of
    its own.
    """
    groups: list[list[Unit]] = []
    padding = 0
    for unit in sorted(units, key=lambda unit: -unit.block.n):
        # The first of a group is its largest block, which sets the padding.
        widest = groups[-1][0].block.n ** 2 if groups else 0
        padding += widest - unit.block.n**2
        too_large = not groups or (len(groups[-1]) + 1) * widest > budget
        if too_large or padding > PADDING_WORTH_A_BATCH:
            groups.append([])
            padding = 0
        groups[-1].append(unit)
    return groups
