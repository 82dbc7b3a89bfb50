"""Sampled triplets: an anchor, a point of its cluster and a point of another (the paper's Trp)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from supclust.losses.inputs import Blocks, as_blocks
from supclust.losses.pairs import Hinge, choose_hinge
from supclust.losses.parts import LossParts, sum_of
from supclust.losses.terms import Reduction

Generators = torch.Generator | Sequence[torch.Generator] | None


def triplet_losses(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    generator: Generators = None,
    samples_per_point: int = 100,
    triplets: Tensor | None = None,
) -> Tensor:
    """Loss of each block over its triplets; arguments as `triplet_loss`.

    Returns:
        (b,) losses; (1,) for one matrix.

    >>> D = torch.tensor([[0.0, 3.0, 4.0], [3.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> triplet_losses(D, [0, 0, 1], triplets=torch.tensor([[0, 1, 2], [1, 0, 2]]))  # 0 + (3 - 2)
    tensor([1.])
    """
    return triplet_loss_parts(
        dissimilarity, labels, threshold=threshold, margin=margin, reduction=reduction,
        lengths=lengths, generator=generator, samples_per_point=samples_per_point,
        triplets=triplets,
    ).total  # fmt: skip


def triplet_loss_parts(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    generator: Generators = None,
    samples_per_point: int = 100,
    triplets: Tensor | None = None,
    check: bool = True,
) -> LossParts:
    """`triplet_losses` with their parts; the plain form, a hinge of the difference, has none."""
    hinge = choose_hinge(threshold, margin, reduction)
    blocks = as_blocks(dissimilarity, labels, lengths, check)
    if triplets is None:
        drawn = _drawn(blocks, generator, samples_per_point)
    else:
        drawn = _given(blocks, triplets, dissimilarity.ndim)
    return _loss(hinge, blocks.values, drawn)


def triplet_loss(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    generator: Generators = None,
    samples_per_point: int = 100,
    triplets: Tensor | None = None,
) -> Tensor:
    """For random triplets (a, p, q), p in the cluster of a and q not: f(a, p) down, f(a, q) up.

    sum of max(0, f(a, p) - (tau - mu)) + max(0, (tau + mu) - f(a, q)); without threshold and
    margin, sum of max(0, f(a, p) - f(a, q)). A triplet drawn twice counts twice.

    Args:
        dissimilarity: as for `all_pairs_loss`.
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

    Returns:
        0-dim sum of the blocks' losses; `triplet_losses` gives them one by one.

    Complexity: O(b n samples_per_point). Gradient: in the dissimilarities, half in either triangle.

    >>> D = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> triplet_loss(D, [0, 0, 1], threshold=2.0, margin=1.0)  # 100 times 3 - f(1, 2)
    tensor(100.)
    """
    return triplet_losses(
        dissimilarity, labels, threshold=threshold, margin=margin, reduction=reduction,
        lengths=lengths, generator=generator, samples_per_point=samples_per_point,
        triplets=triplets,
    ).sum()  # fmt: skip


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
    place = torch.empty_like(order)
    place[order] = torch.arange(n, device=labels.device)
    anchors = ((size > 1) & (size < n)).nonzero()  # (k, 1)
    size, start, place = size[anchors], start[anchors], place[anchors]
    source = labels.device if generator is None else generator.device
    shape = (2, len(anchors), samples_per_point)
    chance = torch.rand(shape, generator=generator, device=source, dtype=torch.float64)
    chance = chance.to(labels.device)
    partner = start + (chance[0] * (size - 1)).long()
    partner += partner >= place  # skip the anchor
    stranger = (chance[1] * (n - size)).long()
    stranger += torch.where(stranger >= start, size, 0)  # skip its cluster
    drawn = [anchors.expand_as(partner), order[partner], order[stranger]]
    return torch.stack(drawn, dim=-1).reshape(-1, 3)


def _drawn(blocks: Blocks, generator: Generators, samples_per_point: int) -> Tensor:
    """(b, t, 3) samples of every block, padded with -1."""
    b = len(blocks.labels)
    sources: list[torch.Generator | None]
    if generator is None or isinstance(generator, torch.Generator):
        sources = [generator] * b
    else:
        sources = list(generator)
    if len(sources) != b:
        raise ValueError(
            f"generator must be one, or one for each of the {b} blocks; received {len(sources)}. "
            "Pass a list with a generator per block."
        )
    samples = [
        sample_triplets(labels[:length], samples_per_point, source)
        for labels, length, source in zip(
            blocks.labels, blocks.lengths.tolist(), sources, strict=True
        )
    ]
    return torch.nn.utils.rnn.pad_sequence(samples, batch_first=True, padding_value=-1)


def _given(blocks: Blocks, triplets: Tensor, ndim: int) -> Tensor:
    """(b, t, 3) triplets as passed, checked."""
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


def _loss(hinge: Hinge, values: Tensor, triplets: Tensor) -> LossParts:
    real = triplets[..., 0] >= 0  # (b, t)
    anchor, partner, stranger = triplets.clamp(min=0).unbind(dim=-1)
    close, far = _value(values, anchor, partner), _value(values, anchor, stranger)
    if hinge.low is not None:
        return sum_of(hinge.pull(close, real), hinge.push(far, real))
    return LossParts(hinge.reduce(close - far, real & (close > far)))


def _value(values: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """(D_ij + D_ji) / 2 of (b, t) pairs."""
    n = values.shape[1]
    flat = values.flatten(1)
    return 0.5 * flat.gather(1, i * n + j) + 0.5 * flat.gather(1, j * n + i)
