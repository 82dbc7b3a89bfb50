"""What every loss takes: labelled blocks, checked, and their pairs within and across clusters.

The losses on pairs look at rows of dissimilarities. For a whole block these are the rows of all its
points (`block_rows`); for a step on one ground-truth cluster, those of the points of that cluster
(`anchored_rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor

from supclust.hac.validation import as_batch, check_batch, check_lengths, pair_mask
from supclust.losses.hinge import check_choice

Labels: TypeAlias = Tensor | Sequence[int]
BlockReduction: TypeAlias = Literal["sum", "none"]
Unlabelled: TypeAlias = Literal["cluster", "other"]
"""What the label -1 means: a cluster like others, or a point of some other, unknown cluster."""


class Blocks(NamedTuple):
    """A checked batch of labelled blocks, all on one device."""

    values: Tensor
    """(b, n, n) float32 or float64, connected to the graph of the input."""
    labels: Tensor
    """(b, n) int64; values in padding are ignored."""
    lengths: Tensor
    """(b,) int64 points per block."""


class Rows(NamedTuple):
    """Dissimilarities of some points of each block to all its points."""

    values: Tensor
    """(b, m, n)."""
    within: Tensor
    """(b, m, n) bool: other points of the row's cluster; none in padding."""
    across: Tensor
    """(b, m, n) bool: points of other clusters; none in padding."""


def as_blocks(
    dissimilarity: Tensor,
    labels: Labels,
    lengths: Tensor | None,
    check: bool = True,
    strangers: Tensor | None = None,
) -> Blocks:
    """Check shapes and dtypes, and the values unless ``check`` is False.

    Args:
        dissimilarity: (n, n) or (b, n, n).
        labels: (n,) or (b, n) integers, any.
        lengths: (b,) points per block; n everywhere by default.
        check: refuse NaN, -inf and asymmetry; off for kernels that do it themselves.
        strangers: (n,) or (b, n) bool, see `with_strangers`.

    Returns:
        The batch; one matrix becomes a batch of one.
    """
    batch = as_batch(dissimilarity)
    lengths = check_lengths(lengths, batch)
    try:
        labels = torch.as_tensor(labels)
    except (TypeError, ValueError, RuntimeError) as problem:
        raise ValueError(
            f"labels must be integers; received a {type(labels).__name__} that is no tensor "
            f"({problem}). Number the clusters."
        ) from None
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
        check_batch(batch, lengths)
    labels = labels.to(device=batch.device, dtype=torch.int64).reshape(batch.shape[:2])
    blocks = Blocks(batch, labels, lengths)
    return blocks if strangers is None else with_strangers(blocks, strangers)


def strangers_of(labels: Labels, unlabelled: Unlabelled) -> Tensor | None:
    """(n,) or (b, n) bool: the points of unknown clusters; ``None`` where -1 is a cluster."""
    check_choice("unlabelled", unlabelled, ("cluster", "other"))
    return torch.as_tensor(labels) == -1 if unlabelled == "other" else None


def with_strangers(blocks: Blocks, strangers: Tensor) -> Blocks:
    """Blocks in which some points are of unknown clusters, none of the labelled ones.

    Each is a cluster of its own, so it takes part in no pure merge and competes with every labelled
    cluster. The dissimilarity of two of them is +inf, "never alike": they may belong together, so
    no term of a loss involves the pair.

    Args:
        blocks: a checked batch.
        strangers: (b, n) bool; values in padding are ignored.
    """
    values, labels, lengths = blocks
    point = torch.arange(labels.shape[1], device=labels.device)
    strangers = strangers.to(labels.device).reshape(labels.shape) & (point < lengths[:, None])
    known = torch.where(strangers, torch.iinfo(labels.dtype).min, labels)
    alone = known.amax(dim=1, keepdim=True).clamp(min=0) + 1 + point  # (b, n) not in use
    both = strangers[:, :, None] & strangers[:, None, :]
    return Blocks(
        values.masked_fill(both, torch.inf), torch.where(strangers, alone, labels), lengths
    )


def symmetric(values: Tensor) -> Tensor:
    """(D + D') / 2: either triangle gets half of the gradient."""
    return 0.5 * values + 0.5 * values.mT


def block_rows(blocks: Blocks) -> Rows:
    """(b, n, n) rows of all points of each block, symmetrised."""
    used = pair_mask(blocks.lengths, blocks.values.shape[1])
    same = blocks.labels[:, :, None] == blocks.labels[:, None, :]
    return Rows(symmetric(blocks.values), used & same, used & ~same)


def labelled_rows(
    dissimilarity: Tensor, labels: Labels, lengths: Tensor | None, unlabelled: Unlabelled
) -> Rows:
    """`block_rows` of the checked arguments of a loss."""
    strangers = strangers_of(labels, unlabelled)
    return block_rows(as_blocks(dissimilarity, labels, lengths, strangers=strangers))


def anchored_rows(values: Tensor, anchors: Tensor, labels: Tensor) -> Rows:
    """(b, m, n) rows of the anchors.

    Args:
        values: (b, m, n) dissimilarities of the anchors to the points of their blocks.
        anchors: (b, m) points, -1 in padding.
        labels: (b, n) cluster codes, -1 in padding.
    """
    own = labels.gather(1, anchors.clamp(min=0))  # (b, m)
    real = (anchors >= 0)[:, :, None] & (labels >= 0)[:, None, :]
    same = own[:, :, None] == labels[:, None, :]
    itself = anchors[:, :, None] == torch.arange(labels.shape[1], device=labels.device)
    return Rows(values, real & same & ~itself, real & ~same)


def reduce_blocks(losses: Tensor, block_reduction: BlockReduction) -> Tensor:
    """Losses (b,) of the blocks as they are ("none"), or their 0-dim sum."""
    check_choice("block_reduction", block_reduction, ("sum", "none"))
    return losses.sum() if block_reduction == "sum" else losses
