"""The metrics as torchmetrics classes: they accumulate over blocks and processes, and delegate.

``update`` takes one block or several: NumPy arrays, tensors, a list of either, a ``Dendrogram`` for
trees, or padded (b, n) labels with their lengths.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torchmetrics import Metric

from supclust.metrics.bcubed import BCubedScores, BCubedSums, bcubed_from_sums, bcubed_sums
from supclust.metrics.pairwise import (
    PairCounts,
    PairwiseScores,
    pair_counts,
    scores_from_counts,
)
from supclust.metrics.purity import dendrogram_purity


class _BlockMetric(Metric):
    """A metric whose state is sums over blocks, so that blocks and processes add up."""

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    sums: ClassVar[dict[str, torch.dtype]]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for name, dtype in self.sums.items():
            self.add_state(name, torch.zeros((), dtype=dtype), dist_reduce_fx="sum")


class _FlatMetric(_BlockMetric):
    """Precision, recall and F1 of flat clusterings, from the sums of a subclass."""

    def update(self, labels_true: Any, labels_pred: Any, lengths: Any = None) -> None:
        """Add one block, a list of blocks, or (b, n) padded labels with ``lengths`` (b,)."""
        for true, pred in _together(_blocks(labels_true, lengths), _blocks(labels_pred, lengths)):
            for name, value in self._block_sums(true, pred)._asdict().items():
                setattr(self, name, getattr(self, name) + value)

    def compute(self) -> dict[str, Tensor]:
        """Scores of all blocks so far."""
        totals = {name: getattr(self, name) for name in self.sums}
        scores = self._scores(**{name: total.item() for name, total in totals.items()})
        device = next(iter(totals.values())).device
        return {
            name: torch.tensor(value, dtype=torch.float64, device=device)
            for name, value in scores._asdict().items()
        }

    def _block_sums(self, true: Any, pred: Any) -> PairCounts | BCubedSums:
        raise NotImplementedError

    def _scores(self, **sums: Any) -> PairwiseScores | BCubedScores:
        raise NotImplementedError


class DendrogramPurity(_BlockMetric):
    """Mean dendrogram purity over blocks; those without a same-label pair are counted instead.

    ``compute`` gives a scalar tensor, NaN while no block is defined; ``undefined`` holds the count.

    >>> metric = DendrogramPurity()
    >>> metric.update([[0, 1, 1.0, 2], [2, 3, 2.0, 3]], ["a", "a", "b"])
    >>> metric.compute().item()
    1.0
    """

    total: Tensor
    defined: Tensor
    undefined: Tensor

    sums: ClassVar = {"total": torch.float64, "defined": torch.int64, "undefined": torch.int64}

    def update(self, trees: Any, labels: Any) -> None:
        """Add blocks: a ``Dendrogram`` or one or more (n - 1, 4) trees, and their labels.

        The labels of a ``Dendrogram`` are as many as the points of each block, or padded to its n.
        """
        lengths = width = None
        if hasattr(trees, "to_scipy"):
            lengths, width = trees.lengths, trees.n
            trees = [trees.to_scipy(i) for i, length in enumerate(lengths.tolist()) if length]
        elif not _is_several(trees, axes=2):
            trees = [trees]
        for Z, block in _together(map(_to_numpy, trees), _blocks(labels, lengths, width)):
            purity = dendrogram_purity(Z, block)
            if math.isnan(purity):
                self.undefined += 1
            else:
                self.total += purity
                self.defined += 1

    def compute(self) -> Tensor:
        """Mean over the defined blocks."""
        return self.total / self.defined


class PairwiseF1(_FlatMetric):
    """Pairwise precision, recall and F1 with pair counts pooled over blocks.

    ``compute`` gives a dict of scalar tensors: ``precision``, ``recall``, ``f1``.

    >>> metric = PairwiseF1()
    >>> metric.update([0, 0, 1], [0, 0, 0])
    >>> metric.compute()["f1"].item()
    0.5
    """

    sums: ClassVar = {"true": torch.int64, "predicted": torch.int64, "shared": torch.int64}

    def _block_sums(self, true: Any, pred: Any) -> PairCounts:
        return pair_counts(true, pred)

    def _scores(self, **sums: Any) -> PairwiseScores:
        return scores_from_counts(PairCounts(**sums))


class BCubed(_FlatMetric):
    """B-cubed precision, recall and F1, averaged over the points of all blocks.

    ``compute`` gives a dict of scalar tensors: ``precision``, ``recall``, ``f1``.

    >>> metric = BCubed()
    >>> metric.update([0, 0, 1], [0, 0, 1])
    >>> metric.compute()["f1"].item()
    1.0
    """

    sums: ClassVar = {"precision": torch.float64, "recall": torch.float64, "points": torch.int64}

    def _block_sums(self, true: Any, pred: Any) -> BCubedSums:
        return bcubed_sums(true, pred)

    def _scores(self, **sums: Any) -> BCubedScores:
        return bcubed_from_sums(BCubedSums(**sums))


def _to_numpy(array: Any) -> Any:
    return array.detach().cpu().numpy() if isinstance(array, Tensor) else array


def _axes(value: Any) -> int:
    if isinstance(value, (list, tuple)):
        return 1 + (_axes(value[0]) if value else 0)
    return int(getattr(value, "ndim", 0))


def _is_several(value: Any, axes: int) -> bool:
    """Whether ``value`` is a list of things of ``axes`` axes, rather than one such thing."""
    return isinstance(value, (list, tuple)) and _axes(value) > axes


def _blocks(labels: Any, lengths: Any, width: int | None = None) -> list[Any]:
    """Labels of each block; where lengths are given, without padding and without empty blocks.

    With the padded ``width`` given, a block has as many labels as points, or that many.
    """
    several = lengths is not None or _is_several(labels, axes=1)
    blocks: list[Any] = [_to_numpy(block) for block in (labels if several else [labels])]
    if lengths is None:
        return blocks
    sizes: NDArray[Any] = np.asarray(_to_numpy(lengths))
    if sizes.ndim != 1 or (sizes.size and sizes.dtype.kind not in "iu"):
        raise ValueError(
            "lengths must be integers of shape (b,), one per block; "
            f"received {sizes.dtype} of shape {sizes.shape}; "
            "pass the number of points of each block"
        )
    pairs = list(_together(blocks, sizes.tolist()))
    for i, (block, size) in enumerate(pairs):
        _check_length(i, block, size, width)
    return [block[:size] for block, size in pairs if size]


def _check_length(i: int, block: Any, size: int, width: int | None) -> None:
    if _axes(block) < 1:
        raise ValueError(
            f"block {i}: labels must be one-dimensional; received {block}; "
            "pass (b, n) labels, one row per block"
        )
    if width is not None and len(block) not in (size, width):
        raise ValueError(
            f"block {i}: its tree needs {size} labels, or {width} with padding; "
            f"received {len(block)}; pass the labels of exactly the points that were clustered"
        )
    if not 0 <= size <= len(block):
        raise ValueError(
            f"block {i}: lengths must lie between 0 and the number of labels, {len(block)}; "
            f"received {size}; correct the lengths, or pass all the labels"
        )


def _together(first: Any, second: Any) -> Iterator[tuple[Any, Any]]:
    one, other = list(first), list(second)
    if len(one) != len(other):
        raise ValueError(
            f"both arguments must hold as many blocks; received {len(one)} and {len(other)}; "
            "pass one entry per block in each"
        )
    return zip(one, other, strict=True)
