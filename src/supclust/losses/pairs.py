"""Losses on pairs of points: all pairs, and each point's nearest ones (the paper's AP and Bst)."""

from __future__ import annotations

import torch
from torch import Tensor

from supclust.losses.hinge import (
    Hinge,
    LossParts,
    Reduction,
    Ties,
    check_choice,
    choose_hinge,
    sum_of,
)
from supclust.losses.inputs import (
    BlockReduction,
    Labels,
    Rows,
    Unlabelled,
    labelled_rows,
    reduce_blocks,
)


def all_pairs_loss(
    dissimilarity: Tensor,
    labels: Labels,
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    count_both_orders: bool = False,
    block_reduction: BlockReduction = "sum",
    unlabelled: Unlabelled = "cluster",
) -> Tensor:
    """Every pair within a cluster down, every pair across clusters up (Sec. 3.2, the paper's AP).

    sum over within pairs max(0, f - (tau - mu)) + sum over across pairs max(0, (tau + mu) - f);
    without threshold and margin, sum f - sum f.

    Args:
        dissimilarity: (n, n), or (b, n, n) for b blocks; symmetric, smaller is closer. Diagonal and
            padding are ignored. An across pair at +inf costs nothing; a within pair at +inf makes
            the loss infinite.
        labels: (n,) or (b, n) integers: the ground-truth clusters.
        threshold: tau; comes with ``margin`` or not at all.
        margin: mu.
        reduction: "sum" of the active terms, or "mean" of the active within terms plus mean of the
            active across terms.
        lengths: (b,) points per block; n everywhere by default.
        count_both_orders: count a within pair in both orders, as the paper does on Faces (no
            difference to a mean).
        block_reduction: "sum" over blocks, or "none" for one loss per block.
        unlabelled: the meaning of the label -1, as for `explink_loss`.

    Returns:
        0-dim sum of the blocks' losses, or (b,) losses; (1,) for one matrix.

    Complexity: O(b n^2). Gradient: in the dissimilarities, half in either triangle.

    >>> D = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> all_pairs_loss(D, torch.tensor([0, 0, 1]))
    tensor(-5.)
    """
    hinge = choose_hinge(threshold, margin, reduction)
    rows = labelled_rows(dissimilarity, labels, lengths, unlabelled)
    parts = all_pairs_parts(rows, hinge, within_weight=1.0 if count_both_orders else 0.5)
    return reduce_blocks(parts.total, block_reduction)


def all_pairs_parts(
    rows: Rows, hinge: Hinge, within_weight: float = 0.5, across_weight: float = 0.5
) -> LossParts:
    """`all_pairs_loss` of rows, (b,), with its parts.

    Weights are those of an ordered pair in a sum: 1/2 for the rows of a whole block, which hold
    every pair in both orders. A mean does not depend on them.
    """
    within, across = hinge.pull(rows.values, rows.within), hinge.push(rows.values, rows.across)
    if hinge.mean:
        return sum_of(within, across)
    return sum_of(within * within_weight, across * across_weight)


def best_loss(
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
    """Every point's nearest within point down and nearest across point up (the paper's Bst).

    One term per point, so a pair that is nearest from both its ends counts twice; ties go to the
    lowest index. A point without within (across) points gives no within (across) term.

    Args:
        dissimilarity: as for `all_pairs_loss`; +inf is the nearest only where all are infinite.
        labels: (n,) or (b, n) integers.
        threshold: tau; comes with ``margin`` or not at all (then f and -f).
        margin: mu.
        reduction: "sum" or "mean" of the active terms, within and across each.
        lengths: (b,) points per block.
        ties: of several nearest points "one" has the gradient, or "every" one in full, as for
            `explink_loss`.
        block_reduction: "sum" over blocks, or "none".
        unlabelled: the meaning of the label -1, as for `explink_loss`.

    Returns:
        0-dim sum of the blocks' losses, or (b,) losses.

    Complexity: O(b n^2). Gradient: in the chosen pairs, half in either triangle; the choice has
    none.

    >>> D = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> best_loss(D, torch.tensor([0, 0, 1]), threshold=2.0, margin=1.0)
    tensor(2.)
    """
    hinge = choose_hinge(threshold, margin, reduction)
    rows = labelled_rows(dissimilarity, labels, lengths, unlabelled)
    return reduce_blocks(best_parts(rows, hinge, ties).total, block_reduction)


def best_parts(rows: Rows, hinge: Hinge, ties: Ties = "one") -> LossParts:
    """`best_loss` of rows, (b,), with its parts."""
    within = hinge.pull(*nearest(rows.values, rows.within, ties))
    return sum_of(within, hinge.push(*nearest(rows.values, rows.across, ties)))


def nearest(values: Tensor, candidates: Tensor, ties: Ties = "one") -> tuple[Tensor, Tensor]:
    """Smallest candidate of every row, lowest index first, and whether there is one.

    Args:
        values: (b, m, n).
        candidates: (b, m, n) bool.
        ties: whether "one" of several nearest has the gradient, or "every" one in full.

    Returns:
        (b, m) values, connected to the graph of the input, and (b, m) bool.
    """
    check_choice("ties", ties, ("one", "every"))
    # A candidate at +inf still has to precede every entry that is not a candidate.
    finite = values.detach().clamp(max=torch.finfo(values.dtype).max)
    index = finite.masked_fill(~candidates, torch.inf).argmin(dim=2, keepdim=True)
    smallest = values.gather(2, index)
    if ties == "every":
        tied = candidates & (values == smallest.detach()) & (values < torch.inf)
        change = torch.where(tied, values - values.detach(), 0.0).sum(dim=2, keepdim=True)
        smallest = smallest.detach() + change
    return smallest[:, :, 0], candidates.any(dim=2)
