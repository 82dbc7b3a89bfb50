"""Spanning trees of the ground-truth clusters down, nearest across points up (MST, Eq. 2)."""

from __future__ import annotations

import torch
from torch import Tensor

from supclust.hac.device.boruvka import spanning_edges
from supclust.losses.hinge import Hinge, LossParts, Reduction, Ties, choose_hinge, sum_of
from supclust.losses.inputs import (
    BlockReduction,
    Labels,
    Rows,
    Unlabelled,
    labelled_rows,
    reduce_blocks,
    symmetric,
)
from supclust.losses.pairs import nearest


def mst_loss(
    dissimilarity: Tensor,
    labels: Labels,
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    ties: Ties = "one",
    block_reduction: BlockReduction = "sum",
    unlabelled: Unlabelled = "cluster",
) -> Tensor:
    """Edges of each ground-truth cluster's minimum spanning tree down, nearest across points up.

    Eq. 2: sum over tree edges max(0, f - (tau - mu)) + sum over points max(0, (tau + mu) - f) with
    f the dissimilarity of the nearest point of another cluster; f and -f without threshold and
    margin.

    Args:
        dissimilarity: as for `all_pairs_loss`. A pair at +inf is an edge only where no
            finite pair connects the two parts of its cluster; it makes the loss infinite.
        labels: ground-truth clusters, (n,) or (b, n) integers.
        threshold: tau, given together with ``margin``.
        margin: mu, given together with ``threshold``.
        reduction: of the active terms of each kind, "sum" or "mean".
        lengths: points per block, (b,).
        ties: of several nearest across points "one" has the gradient, or "every" one in full, as
            for `explink_loss`.
        block_reduction: "sum" over blocks, or "none".
        unlabelled: the meaning of the label -1, as for `explink_loss`.

    Returns:
        0-dim sum of the blocks' losses, or (b,) losses.

    Complexity: O(b n^2) a round, at most log2(n) rounds (Boruvka). Gradient: in the chosen pairs,
    half in either triangle; the choice of the tree has none. Ties go to the lowest (i, j).

    >>> D = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> mst_loss(D, torch.tensor([0, 0, 1]))  # 1 - (4 + 2 + 2)
    tensor(-7.)
    """
    hinge = choose_hinge(threshold, margin, reduction)
    rows = labelled_rows(dissimilarity, labels, lengths, unlabelled)
    return reduce_blocks(mst_parts(rows, hinge, ties).total, block_reduction)


def mst_parts(
    rows: Rows, hinge: Hinge, ties: Ties = "one", anchors: Tensor | None = None
) -> LossParts:
    """`mst_loss` of the rows of whole blocks, (b,), with its parts.

    Args:
        rows: (b, n, n); with ``anchors``, the (b, m, n) rows of all points of one cluster.
        hinge: of the terms.
        ties: as in `mst_loss`.
        anchors: (b, m) points of the rows, -1 in padding.
    """
    square, within = rows.values, rows.within
    if anchors is not None:
        columns = anchors.clamp(min=0)[:, None, :].expand(-1, anchors.shape[1], -1)
        square = symmetric(rows.values.gather(2, columns))  # (b, m, m)
        within = rows.within.gather(2, columns) & (anchors >= 0)[:, None, :]
    edges, real = _tree_edges(square.detach(), within)
    pulled = hinge.pull(square.flatten(1).gather(1, edges), real)
    return sum_of(pulled, hinge.push(*nearest(rows.values, rows.across, ties)))


def _tree_edges(square: Tensor, within: Tensor) -> tuple[Tensor, Tensor]:
    """Codes i n + j of the edges of all clusters' trees, (b, n), and which of them are edges."""
    n = square.shape[1]
    largest = torch.finfo(square.dtype).max
    forest = spanning_edges(square.clamp(max=largest).masked_fill(~within, torch.inf))
    codes = forest.leaves[..., 0] * n + forest.leaves[..., 1]
    real = torch.arange(n, device=square.device) < forest.count[:, None]
    return torch.where(real, codes, 0), real
