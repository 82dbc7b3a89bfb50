"""Sampled triplets: an anchor, a point of its cluster and a point of another (the paper's Trp)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from supclust.losses.hinge import Hinge, LossParts, Reduction, choose_hinge, sum_of
from supclust.losses.inputs import (
    BlockReduction,
    Blocks,
    Labels,
    Unlabelled,
    as_blocks,
    reduce_blocks,
    strangers_of,
)

Generators = torch.Generator | Sequence[torch.Generator] | None


def triplet_loss(
    dissimilarity: Tensor,
    labels: Labels,
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    generator: Generators = None,
    samples_per_point: int = 100,
    triplets: Tensor | None = None,
    block_reduction: BlockReduction = "sum",
    unlabelled: Unlabelled = "cluster",
) -> Tensor:
    """For random triplets (a, p, q), p in the cluster of a and q not: f(a, p) down, f(a, q) up.

    sum of max(0, f(a, p) - (tau - mu)) + max(0, (tau + mu) - f(a, q)); without threshold and
    margin, sum of max(0, f(a, p) - f(a, q)). A triplet drawn twice counts twice.

    Args:
        dissimilarity: (n, n) or (b, n, n), as for `all_pairs_loss`.
        labels: (n,) or (b, n) integers.
        threshold: tau; comes with ``margin`` or not at all.
        margin: mu.
        reduction: "sum" or "mean" of the active terms, within and across each.
        lengths: (b,) points per block.
        generator: source of the samples, or one for each block, which makes a block's samples
            independent of its neighbours in the batch; torch's global one by default.
        samples_per_point: triplets drawn for every anchor, with replacement; an anchor without
            a point of its own cluster, or of another, gives none.
        triplets: (t, 3), or (b, t, 3) for a batch, to use instead of drawing; rows of -1 are
            padding.
        block_reduction: "sum" over blocks, or "none" for one loss per block.
        unlabelled: the meaning of the label -1, as for `explink_loss`.

    Returns:
        0-dim sum of the blocks' losses, or (b,) losses.

    Complexity: O(b n samples_per_point). Gradient: in the dissimilarities, half in either triangle.

    >>> D = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> triplet_loss(D, [0, 0, 1], threshold=2.0, margin=1.0)  # 100 times 3 - f(1, 2)
    tensor(100.)
    """
    hinge = choose_hinge(threshold, margin, reduction)
    blocks = as_blocks(dissimilarity, labels, lengths, strangers=strangers_of(labels, unlabelled))
    if triplets is None:
        triplets = draw_triplets(blocks, generator, samples_per_point)
    else:
        triplets = _given(blocks, triplets, dissimilarity.ndim)
    return reduce_blocks(triplet_parts(blocks, hinge, triplets).total, block_reduction)


def triplet_parts(blocks: Blocks, hinge: Hinge, triplets: Tensor) -> LossParts:
    """`triplet_loss` of (b, t, 3) triplets, padded with -1: (b,) losses with their parts.

    The loss without threshold, a hinge of the difference, has no parts.
    """
    anchor, positive, negative = triplets.clamp(min=0).unbind(dim=-1)
    flat, n = blocks.values.flatten(1), blocks.values.shape[1]

    def value(j: Tensor) -> Tensor:
        return 0.5 * flat.gather(1, anchor * n + j) + 0.5 * flat.gather(1, j * n + anchor)

    return _terms(hinge, value(positive), value(negative), triplets[..., 0] >= 0)


def cluster_triplet_parts(rows: Tensor, hinge: Hinge, triplets: Tensor) -> LossParts:
    """`triplet_parts` of one cluster of each block.

    Args:
        rows: (b, m, n) dissimilarities of the points of the cluster.
        hinge: of the terms.
        triplets: (b, t, 3) row of the anchor and the two other points, padded with -1; see
            `draw_cluster_triplets`.
    """
    row, positive, negative = triplets.clamp(min=0).unbind(dim=-1)
    flat, first = rows.flatten(1), row * rows.shape[2]
    close, far = flat.gather(1, first + positive), flat.gather(1, first + negative)
    return _terms(hinge, close, far, triplets[..., 0] >= 0)


def _terms(hinge: Hinge, close: Tensor, far: Tensor, real: Tensor) -> LossParts:
    """Loss of triplets with f(a, p) = close and f(a, q) = far, (b, t) each."""
    if hinge.low is None:
        return LossParts(hinge.reduce(close - far, real & (close > far)))
    return sum_of(hinge.pull(close, real), hinge.push(far, real))


@torch.no_grad()
def sample_triplets(
    labels: Tensor, samples_per_point: int = 100, generator: torch.Generator | None = None
) -> Tensor:
    """Draw triplets of one block: every anchor ``samples_per_point`` times, the others uniformly.

    Args:
        labels: (n,) integers.
        samples_per_point: at least 1.
        generator: on the device of the labels or on the CPU.

    Returns:
        (t, 3) int64 anchor, point of the same cluster, point of another; t is
        ``samples_per_point`` times the number of anchors that have both.

    Complexity: O(n samples_per_point + n log n).

    >>> sample_triplets(torch.tensor([0, 0, 1]), 1)
    tensor([[0, 1, 2],
            [1, 0, 2]])
    """
    if samples_per_point < 1:
        raise ValueError(
            f"samples_per_point must be at least 1; received {samples_per_point}. "
            "The paper draws 100."
        )
    n = len(labels)
    _, code, sizes = torch.unique(labels, return_inverse=True, return_counts=True)
    order = code.argsort(stable=True)
    start = (sizes.cumsum(0) - sizes)[code]  # (n,) where the cluster of each point starts
    size = sizes[code]
    rank = torch.empty_like(order)
    rank[order] = torch.arange(n, device=labels.device)
    anchors = ((size > 1) & (size < n)).nonzero()  # (k, 1)
    size, start, rank = size[anchors], start[anchors], rank[anchors]
    source = labels.device if generator is None else generator.device
    shape = (2, len(anchors), samples_per_point)
    uniform = torch.rand(shape, generator=generator, device=source, dtype=torch.float64)
    uniform = uniform.to(labels.device)
    positive = start + (uniform[0] * (size - 1)).long()
    positive += positive >= rank  # skip the anchor
    negative = (uniform[1] * (n - size)).long()
    negative += torch.where(negative >= start, size, 0)  # skip its cluster
    drawn = [anchors.expand_as(positive), order[positive], order[negative]]
    return torch.stack(drawn, dim=-1).reshape(-1, 3)


def draw_triplets(blocks: Blocks, generator: Generators, samples_per_point: int) -> Tensor:
    """(b, t, 3) samples of every block, padded with -1."""
    b = len(blocks.labels)
    if generator is None or isinstance(generator, torch.Generator):
        sources: list[torch.Generator | None] = [generator] * b
    else:
        sources = list(generator)
    if len(sources) != b:
        raise ValueError(
            f"generator must be one, or one for each of the {b} blocks; received {len(sources)}. "
            "Pass a list with a generator per block."
        )
    blocks_of = zip(blocks.labels, blocks.lengths.tolist(), sources, strict=True)
    samples = [sample_triplets(y[:n], samples_per_point, source) for y, n, source in blocks_of]
    return pad_sequence(samples, batch_first=True, padding_value=-1)


def draw_cluster_triplets(
    anchors: Tensor,
    labels: Tensor,
    samples_per_point: int,
    generators: Sequence[torch.Generator],
) -> Tensor:
    """(b, t, 3) samples of one cluster of every block, padded with -1.

    Args:
        anchors: (b, m) all points of one cluster of each block, -1 in padding.
        labels: (b, n) cluster codes, -1 in padding.
        samples_per_point: per anchor.
        generators: one per block, on the CPU.

    Returns:
        Row of the anchor in ``anchors``, point of the same cluster, point of another; none where
        the cluster has one point or is the whole block.
    """
    blocks = zip(anchors.cpu(), labels.cpu(), generators, strict=True)
    drawn = [_draw(a[a >= 0], y, samples_per_point, source) for a, y, source in blocks]
    return pad_sequence(drawn, batch_first=True, padding_value=-1).to(anchors.device)


def _draw(points: Tensor, labels: Tensor, samples: int, generator: torch.Generator) -> Tensor:
    """(t, 3) samples of the cluster of ``points``, (m,); labels of padding are -1."""
    m = len(points)
    others = ((labels != labels[points[0]]) & (labels >= 0)).nonzero()[:, 0]
    if m < 2 or not len(others):
        return points.new_empty(0, 3)
    row = torch.arange(m).repeat_interleave(samples)
    # Skipping over the anchor itself keeps the draw uniform over the other points.
    positive = torch.randint(m - 1, (m * samples,), generator=generator)
    positive = positive + (positive >= row)
    negative = torch.randint(len(others), (m * samples,), generator=generator)
    return torch.stack([row, points[positive], others[negative]], dim=-1)


def _given(blocks: Blocks, triplets: Tensor, ndim: int) -> Tensor:
    """(b, t, 3) triplets that the caller passed, checked."""
    if triplets.ndim != ndim or triplets.shape[-1] != 3 or triplets.is_floating_point():
        raise ValueError(
            f"triplets must be integers of shape {'(t, 3)' if ndim == 2 else '(b, t, 3)'}; "
            f"received {triplets.dtype} of shape {tuple(triplets.shape)}. "
            "Pass anchor, within and across point in each row."
        )
    given = triplets.to(blocks.values.device, torch.int64).reshape(-1, triplets.shape[-2], 3)
    if len(given) != len(blocks.values):
        raise ValueError(
            f"triplets must come for each of the {len(blocks.values)} blocks; received "
            f"{len(given)}. Pad them with rows of -1 and stack them."
        )
    padding = (given == -1).all(dim=2, keepdim=True)
    outside = (given < 0) | (given >= blocks.lengths[:, None, None])
    if bool((outside & ~padding).any()):
        raise ValueError(
            "triplets must index points of their block, 0 to length - 1; received "
            f"{given[outside & ~padding][0].item()}. Only whole rows may be -1, as padding."
        )
    return given
