"""What every loss takes: one labelled block, or a padded batch of them, checked at the border."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from supclust.hac.batch_validation import as_batch, check_lengths, check_values


class Blocks(NamedTuple):
    """A checked batch of labelled blocks, all on one device."""

    values: Tensor
    """(b, n, n) float32 or float64, connected to the graph of the input."""
    labels: Tensor
    """(b, n) int64; what stands in padding is not read."""
    lengths: Tensor
    """(b,) int64 points per block."""


def as_blocks(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    lengths: Tensor | None,
    check: bool = True,
) -> Blocks:
    """Check shapes and kinds, and (unless told not to) the values.

    Args:
        dissimilarity: (n, n) or (b, n, n).
        labels: (n,) or (b, n) integers, any.
        lengths: (b,) points per block; n everywhere by default.
        check: refuse NaN, -inf and asymmetry; off for kernels that do it themselves.

    Returns:
        The batch; one matrix becomes a batch of one.
    """
    batch = as_batch(dissimilarity)
    lengths = check_lengths(lengths, batch)
    labels = torch.as_tensor(labels)
    if labels.is_floating_point() or labels.is_complex() or labels.dtype == torch.bool:
        raise ValueError(
            f"labels must be integers; received {labels.dtype}. "
            "Number the clusters, e.g. torch.unique(labels, return_inverse=True)[1]."
        )
    expected = dissimilarity.shape[:-1]
    if labels.shape != expected:
        raise ValueError(
            f"labels must have shape {tuple(expected)}, one per point; "
            f"received {tuple(labels.shape)}. Pass the labels of exactly these points."
        )
    if check:
        check_values(batch, lengths)
    labels = labels.to(device=batch.device, dtype=torch.int64).reshape(batch.shape[:2])
    return Blocks(batch, labels, lengths)


class Pairs(NamedTuple):
    """Which ordered pairs of a batch are within a ground-truth cluster and which across two."""

    within: Tensor
    """(b, n, n) bool, without the diagonal."""
    across: Tensor
    """(b, n, n) bool."""


def pair_kinds(blocks: Blocks) -> Pairs:
    """Sort the pairs of real points by whether their labels agree."""
    point = torch.arange(blocks.values.shape[1], device=blocks.values.device)
    real = point < blocks.lengths[:, None]  # (b, n)
    used = real[:, :, None] & real[:, None, :] & (point[:, None] != point)
    same = blocks.labels[:, :, None] == blocks.labels[:, None, :]
    return Pairs(used & same, used & ~same)
