"""The metrics as torchmetrics classes: they accumulate over blocks and processes, and delegate.

``update`` takes one block or several: NumPy arrays, tensors, a list of either, a ``Dendrogram`` for
trees, or padded (b, n) labels with their lengths.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torchmetrics import Metric

from supclust.metrics.bcubed import BCubedSums, bcubed_from_sums, bcubed_sums
from supclust.metrics.pairwise import PairCounts, pair_counts, scores_from_counts
from supclust.metrics.purity import dendrogram_purity


class _BlockMetric(Metric):
    """A metric whose state is sums over blocks, so that blocks and processes simply add up."""

    is_differentiable = False
    higher_is_better = True
    full_state_update = False

    def _add_sums(self, dtype: torch.dtype, *names: str) -> None:
        for name in names:
            self.add_state(name, torch.zeros((), dtype=dtype), dist_reduce_fx="sum")


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

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._add_sums(torch.float64, "total")
        self._add_sums(torch.int64, "defined", "undefined")

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


class PairwiseF1(_BlockMetric):
    """Pairwise precision, recall and F1 with pair counts pooled over blocks.

    ``compute`` gives a dict of scalar tensors: ``precision``, ``recall``, ``f1``.

    >>> metric = PairwiseF1()
    >>> metric.update([0, 0, 1], [0, 0, 0])
    >>> metric.compute()["f1"].item()
    0.5
    """

    true: Tensor
    predicted: Tensor
    shared: Tensor

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._add_sums(torch.int64, "true", "predicted", "shared")

    def update(self, labels_true: Any, labels_pred: Any, lengths: Any = None) -> None:
        """Add one block, a list of blocks, or (b, n) padded labels with ``lengths`` (b,)."""
        for true, pred in _together(_blocks(labels_true, lengths), _blocks(labels_pred, lengths)):
            counts = pair_counts(true, pred)
            self.true += counts.true
            self.predicted += counts.predicted
            self.shared += counts.shared

    def compute(self) -> dict[str, Tensor]:
        """Scores of the pooled counts."""
        counts = PairCounts(int(self.true), int(self.predicted), int(self.shared))
        return _tensors(scores_from_counts(counts)._asdict(), self.true.device)


class BCubed(_BlockMetric):
    """B-cubed precision, recall and F1, averaged over the points of all blocks.

    ``compute`` gives a dict of scalar tensors: ``precision``, ``recall``, ``f1``.

    >>> metric = BCubed()
    >>> metric.update([0, 0, 1], [0, 0, 1])
    >>> metric.compute()["f1"].item()
    1.0
    """

    precision: Tensor
    recall: Tensor
    points: Tensor

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._add_sums(torch.float64, "precision", "recall")
        self._add_sums(torch.int64, "points")

    def update(self, labels_true: Any, labels_pred: Any, lengths: Any = None) -> None:
        """Add one block, a list of blocks, or (b, n) padded labels with ``lengths`` (b,)."""
        for true, pred in _together(_blocks(labels_true, lengths), _blocks(labels_pred, lengths)):
            sums = bcubed_sums(true, pred)
            self.precision += sums.precision
            self.recall += sums.recall
            self.points += sums.points

    def compute(self) -> dict[str, Tensor]:
        """Means over all points so far."""
        sums = BCubedSums(float(self.precision), float(self.recall), int(self.points))
        return _tensors(bcubed_from_sums(sums)._asdict(), self.points.device)


def _tensors(scores: dict[str, float], device: torch.device) -> dict[str, Tensor]:
    return {
        name: torch.tensor(value, dtype=torch.float64, device=device)
        for name, value in scores.items()
    }


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

    Where the padded ``width`` is known, a block has as many labels as points, or that many.
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
