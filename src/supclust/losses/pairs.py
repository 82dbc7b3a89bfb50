"""Losses on pairs of points: all pairs, and each point's best ones (the paper's AP and Bst).

With tau and mu, a pair that should be close costs max(0, f - (tau - mu)), one that should be far
max(0, (tau + mu) - f). Without, the plain forms cost f and -f.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from supclust.losses.inputs import Pairs, as_blocks, pair_kinds
from supclust.losses.parts import LossParts, sum_of
from supclust.losses.terms import Reduction, Ties, check_choice, hinge_bounds

INF = float("inf")


class Hinge(NamedTuple):
    """How a pair's dissimilarity becomes a term of a loss."""

    low: float | None
    """tau - mu; None for the plain form."""
    high: float | None
    """tau + mu; None for the plain form."""
    mean: bool

    def reduce(self, terms: Tensor, active: Tensor) -> Tensor:
        """(b,) sum of the active terms of (b, ...), or that over their number; 0 without any."""
        total = torch.where(active, terms, 0.0).flatten(1).sum(dim=1)
        if not self.mean:
            return total
        return total / active.flatten(1).sum(dim=1).clamp(min=1)

    def pull(self, values: Tensor, chosen: Tensor) -> Tensor:
        """(b,) cost of chosen pairs that should be close."""
        if self.low is None:
            return self.reduce(values, chosen)
        return self.reduce(values - self.low, chosen & (values > self.low))

    def push(self, values: Tensor, chosen: Tensor) -> Tensor:
        """(b,) cost of chosen pairs that should be far; one at +inf costs nothing."""
        if self.high is None:
            return self.reduce(-values, chosen & (values < INF))
        return self.reduce(self.high - values, chosen & (values < self.high))


def choose_hinge(threshold: float | None, margin: float | None, reduction: Reduction) -> Hinge:
    """Check threshold, margin and reduction of a pair loss."""
    check_choice("reduction", reduction, ("sum", "mean"))
    if threshold is None and margin is None:
        return Hinge(None, None, reduction == "mean")
    if threshold is None or margin is None:
        raise ValueError(
            "threshold and margin come together or not at all; "
            f"received threshold={threshold} and margin={margin}. Pass both, or neither."
        )
    return Hinge(*hinge_bounds(threshold, margin), reduction == "mean")


def symmetric(values: Tensor) -> Tensor:
    """(D + D') / 2: either triangle gets half of the gradient."""
    return 0.5 * values + 0.5 * values.mT


def all_pairs_losses(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    count_both_orders: bool = False,
) -> Tensor:
    """Loss of each block over every pair of points (Sec. 3.2); arguments as `all_pairs_loss`.

    Returns:
        (b,) losses; (1,) for one matrix.

    >>> D = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> all_pairs_losses(D, [0, 0, 1], threshold=2.0, margin=1.0)
    tensor([1.])
    """
    return all_pairs_loss_parts(
        dissimilarity, labels, threshold=threshold, margin=margin, reduction=reduction,
        lengths=lengths, count_both_orders=count_both_orders,
    ).total  # fmt: skip


def all_pairs_loss_parts(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    count_both_orders: bool = False,
    check: bool = True,
) -> LossParts:
    """`all_pairs_losses` with their parts; ``check=False`` trusts the values."""
    hinge = choose_hinge(threshold, margin, reduction)
    blocks = as_blocks(dissimilarity, labels, lengths, check)
    within, across = pair_kinds(blocks)
    values = symmetric(blocks.values)
    # Both orders are summed, so a sum counts twice what a mean does not.
    once = 1.0 if hinge.mean else 0.5
    pulled = hinge.pull(values, within) * (1.0 if count_both_orders else once)
    return sum_of(pulled, hinge.push(values, across) * once)


def all_pairs_loss(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    count_both_orders: bool = False,
) -> Tensor:
    """Every pair within a cluster down, every pair across clusters up (Sec. 3.2, the paper's AP).

    sum over within pairs max(0, f - (tau - mu)) + sum over across pairs max(0, (tau + mu) - f);
    without threshold and margin, sum f - sum f.

    Args:
        dissimilarity: (n, n), or (b, n, n) for b blocks; symmetric, smaller is closer. Diagonal and
            padding are not read. An across pair at +inf costs nothing; a within pair at +inf makes
            the loss infinite.
        labels: (n,) or (b, n) integers: the ground-truth clusters.
        threshold: tau; comes with ``margin`` or not at all.
        margin: mu.
        reduction: "sum" of the active terms, or "mean" of the active within terms plus mean of the
            active across terms.
        lengths: (b,) points per block; n everywhere by default.
        count_both_orders: count a within pair in both orders, as the paper does on Faces (no
            difference to a mean).

    Returns:
        0-dim sum of the blocks' losses; `all_pairs_losses` gives them one by one.

    Complexity: O(b n^2). Gradient: in the dissimilarities, half in either triangle.

    >>> D = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> all_pairs_loss(D, torch.tensor([0, 0, 1]))
    tensor(-5.)
    """
    return all_pairs_losses(
        dissimilarity, labels, threshold=threshold, margin=margin, reduction=reduction,
        lengths=lengths, count_both_orders=count_both_orders,
    ).sum()  # fmt: skip


def nearest_values(values: Tensor, candidates: Tensor, ties: Ties = "one") -> tuple[Tensor, Tensor]:
    """Each point's smallest value among its candidates, lowest index first, and if it has any.

    Args:
        values: (b, n, n) symmetric.
        candidates: (b, n, n) bool.
        ties: whether "one" of several nearest has the gradient, or "every" one in full.

    Returns:
        (b, n) values, connected to the graph of the input, and (b, n) bool.
    """
    with torch.no_grad():
        # A candidate at +inf must still come before what is no candidate.
        seen = values.clamp(max=torch.finfo(values.dtype).max).masked_fill(~candidates, INF)
        low = seen.amin(dim=2, keepdim=True)
        index = torch.arange(values.shape[2], device=values.device)
        beyond = index.new_tensor(values.shape[2] - 1)
        nearest = torch.where(seen == low, index, beyond).amin(dim=2, keepdim=True)
    found = values.gather(2, nearest)[:, :, 0]
    if ties == "every":
        tied = (seen == low) & candidates & (values < INF)
        found = found.detach() + torch.where(tied, values - values.detach(), 0.0).sum(dim=2)
    return found, candidates.any(dim=2)


def push_nearest(hinge: Hinge, values: Tensor, pairs: Pairs, ties: Ties = "one") -> Tensor:
    """(b,) cost of each point's nearest point across clusters, one term per point."""
    return hinge.push(*nearest_values(values, pairs.across, ties))


def best_losses(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    ties: Ties = "one",
) -> Tensor:
    """Loss of each block over every point's nearest points; arguments as `best_loss`.

    Returns:
        (b,) losses; (1,) for one matrix.

    >>> D = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> best_losses(D, [0, 0, 1])  # 1 + 1 - (4 + 2 + 2)
    tensor([-6.])
    """
    return best_loss_parts(
        dissimilarity, labels, threshold=threshold, margin=margin, reduction=reduction,
        lengths=lengths, ties=ties,
    ).total  # fmt: skip


def best_loss_parts(
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
    """`best_losses` with their parts; ``check=False`` trusts the values."""
    hinge = choose_hinge(threshold, margin, reduction)
    blocks = as_blocks(dissimilarity, labels, lengths, check)
    pairs = pair_kinds(blocks)
    values = symmetric(blocks.values)
    check_choice("ties", ties, ("one", "every"))
    pulled = hinge.pull(*nearest_values(values, pairs.within, ties))
    return sum_of(pulled, push_nearest(hinge, values, pairs, ties))


def best_loss(
    dissimilarity: Tensor,
    labels: Tensor | Sequence[int],
    *,
    threshold: float | None = None,
    margin: float | None = None,
    reduction: Reduction = "sum",
    lengths: Tensor | None = None,
    ties: Ties = "one",
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
        ties: of several nearest points "one" has the gradient, or "every" one in full, as in the
            paper's time (see `explink_loss`).

    Returns:
        0-dim sum of the blocks' losses; `best_losses` gives them one by one.

    Complexity: O(b n^2). Gradient: in the chosen pairs, half in either triangle; the choice has
    none.

    >>> D = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> best_loss(D, torch.tensor([0, 0, 1]), threshold=2.0, margin=1.0)
    tensor(2.)
    """
    return best_losses(
        dissimilarity, labels, threshold=threshold, margin=margin, reduction=reduction,
        lengths=lengths, ties=ties,
    ).sum()  # fmt: skip
