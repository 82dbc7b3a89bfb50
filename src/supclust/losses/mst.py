"""Spanning trees of the ground-truth clusters down, nearest across points up (MST, Eq. 2)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from supclust.hac.device.boruvka import spanning_edges
from supclust.losses.inputs import Blocks, Pairs, as_blocks, pair_kinds
from supclust.losses.pairs import choose_hinge, push_nearest, symmetric
from supclust.losses.parts import LossParts, sum_of
from supclust.losses.terms import Reduction, Ties, check_choice

INF = float("inf")


def mst_losses(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    ties: Ties = "one",
) -> Tensor:
    """Loss of each block over the clusters' spanning trees; arguments as `mst_loss`.

    Returns:
        (b,) losses; (1,) for one matrix.

    >>> D = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> mst_losses(D, [0, 0, 0], threshold=1.0, margin=0.5)  # (1 - 0.5) + (2 - 0.5)
    tensor([2.])
    """
    return mst_loss_parts(
        dissimilarity, labels, threshold=threshold, margin=margin, reduction=reduction,
        lengths=lengths, ties=ties,
    ).total  # fmt: skip


def mst_loss_parts(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    ties: Ties = "one",
    check: bool = True,
) -> LossParts:
    """`mst_losses` with their parts; ``check=False`` trusts the values."""
    hinge = choose_hinge(threshold, margin, reduction)
    blocks = as_blocks(dissimilarity, labels, lengths, check)
    pairs = pair_kinds(blocks)
    values = symmetric(blocks.values)
    check_choice("ties", ties, ("one", "every"))
    edges, real = cluster_trees(values.detach(), blocks, pairs)
    pulled = hinge.pull(values.flatten(1).gather(1, edges), real)
    return sum_of(pulled, push_nearest(hinge, values, pairs, ties))


def mst_loss(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    ties: Ties = "one",
) -> Tensor:
    """Edges of each ground-truth cluster's minimum spanning tree down, nearest across points up.

    Eq. 2: sum over tree edges max(0, f - (tau - mu)) + sum over points max(0, (tau + mu) - f) with
    f the dissimilarity of the nearest point of another cluster; f and -f without threshold and
    margin.

    Args:
        dissimilarity: as for `all_pairs_loss`. A cluster that only +inf holds together makes the
            loss infinite.
        labels: (n,) or (b, n) integers.
        threshold: tau; comes with ``margin`` or not at all.
        margin: mu.
        reduction: "sum" or "mean" of the active terms, within and across each.
        lengths: (b,) points per block.
        ties: of several nearest points "one" has the gradient, or "every" one in full, as in the
            paper's time (see `explink_loss`).

    Returns:
        0-dim sum of the blocks' losses; `mst_losses` gives them one by one.

    Complexity: O(b n^2) a round, at most log2(n) rounds (Boruvka). Gradient: in the chosen pairs,
    half in either triangle; the choice of the tree has none. Ties go to the lowest (i, j).

    >>> D = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> mst_loss(D, torch.tensor([0, 0, 1]))  # 1 - (4 + 2 + 2)
    tensor(-7.)
    """
    return mst_losses(
        dissimilarity, labels, threshold=threshold, margin=margin, reduction=reduction,
        lengths=lengths, ties=ties,
    ).sum()  # fmt: skip


@torch.no_grad()
def cluster_trees(values: Tensor, blocks: Blocks, pairs: Pairs) -> tuple[Tensor, Tensor]:
    """Codes i n + j of the edges of all clusters' trees, (b, n), and which of them are edges.

    An infinite within pair is an edge only where nothing finite holds its cluster together.
    """
    n = values.shape[1]
    largest = torch.finfo(values.dtype).max
    forest = spanning_edges(values.clamp(max=largest).masked_fill(~pairs.within, INF))
    codes = forest.leaves[..., 0] * n + forest.leaves[..., 1]
    real = torch.arange(n, device=values.device) < forest.found[:, None]
    return torch.where(real, codes, 0), real
