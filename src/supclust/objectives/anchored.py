"""Terms of the pair objectives anchored at the points of one ground-truth cluster.

For one step per cluster (the paper's Faces): row i of ``rows`` holds the dissimilarities of anchor
i to all points of its block. Summed over the clusters of a block, `best` and `mst` give the loss of
the block, and `all_pairs` twice that, since every unordered pair is met from both its ends.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class AnchoredRows(NamedTuple):
    """Dissimilarities of anchors to the points of their blocks.

    Attributes:
        values: (b, m, n).
        within: (b, m, n) bool, other points of the anchor's cluster; none for padding.
        across: (b, m, n) bool, points of other clusters; none for padding.
    """

    values: Tensor
    within: Tensor
    across: Tensor


def anchored_rows(values: Tensor, anchors: Tensor, labels: Tensor) -> AnchoredRows:
    """Tell the within from the across columns of ``values`` (b, m, n).

    Args:
        values: (b, m, n) dissimilarities of the anchors.
        anchors: (b, m) points, -1 in padding.
        labels: (b, n) cluster codes, -1 in padding.
    """
    own = labels.gather(1, anchors.clamp(min=0))  # (b, m)
    real = (anchors >= 0)[:, :, None] & (labels >= 0)[:, None, :]
    same = own[:, :, None] == labels[:, None, :]
    itself = anchors[:, :, None] == torch.arange(labels.shape[1], device=labels.device)
    return AnchoredRows(values, real & same & ~itself, real & ~same)


def nearest(values: Tensor, allowed: Tensor, ties: str = "one") -> tuple[Tensor, Tensor]:
    """Smallest allowed value of every row, and whether there is one: (b, m) each.

    Gradient: to the nearest alone, the lowest index among equals, or to "every" one in full.
    """
    index = values.detach().masked_fill(~allowed, torch.inf).argmin(dim=2, keepdim=True)
    found = values.gather(2, index)
    if ties == "every":
        tied = allowed & (values == found.detach())
        own = torch.where(tied, values - values.detach(), 0.0).sum(dim=2, keepdim=True)
        found = found.detach() + own
    return found[:, :, 0], allowed.any(dim=2)


def hinged(
    values: Tensor,
    counted: Tensor,
    sign: int,
    threshold: float | None,
    margin: float | None,
    reduction: str,
) -> Tensor:
    """Sum or mean of the active terms of every block, (b,).

    Within (sign 1): max(0, f - (tau - mu)); across (sign -1): max(0, (tau + mu) - f); sign * f
    where there are no tau and mu. Only ``counted`` values enter; ``mean`` divides by the number of
    active ones.
    """
    terms = sign * values
    active = counted
    if threshold is not None and margin is not None:
        terms = terms - (sign * threshold - margin)
        active = counted & (terms > 0)
    terms = torch.where(active, terms, 0.0).flatten(1)
    total = terms.sum(dim=1)
    return total / active.flatten(1).sum(dim=1).clamp(min=1) if reduction == "mean" else total


def draw_partners(
    anchors: Tensor, labels: Tensor, samples: int, generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw triplets of one block: positions in ``anchors``, within and across points, (t,) each.

    Args:
        anchors: (m,) all points of one cluster.
        labels: (n,) cluster codes of the block.
        samples: per anchor.
        generator: on the CPU.

    Returns:
        m * samples triplets; none where the cluster has one point or is the whole block.
    """
    points, m = anchors.cpu(), len(anchors)
    others = (labels.cpu() != labels[anchors[0]].cpu()).nonzero()[:, 0]
    if m < 2 or not len(others):
        empty = points[:0]
        return empty, empty, empty
    position = torch.arange(m).repeat_interleave(samples)
    # Skipping over the anchor itself keeps the draw uniform over the other points.
    partner = torch.randint(m - 1, (m * samples,), generator=generator)
    partner = partner + (partner >= position)
    rival = torch.randint(len(others), (m * samples,), generator=generator)
    return position, points[partner], others[rival]
