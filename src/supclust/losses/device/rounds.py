"""One round of training HAC in every block of a batch: the lowest pure merge, and its terms.

Rows of (b, n) at a time, in torch. A merged cluster stays in the slot of its smallest point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from supclust.hac.device.merge_buffer import row_minima
from supclust.hac.family import merge_log_sums
from supclust.losses.hinge import Terms

INF = float("inf")


class Step(NamedTuple):
    """Record of one round, for the backward pass."""

    u: Tensor  # (b,) slots of the merged clusters, u < v
    v: Tensor
    running: Tensor  # (b,) whether the block has this round
    others: Tensor  # (b, n) slots whose entries were merged
    share: Tensor  # (b, n) of the entry of u
    rest: Tensor  # (b, n) of the entry of v
    gap: Tensor  # (b, n) Psi(u, .) - Psi(v, .)
    counts: Tensor  # (2, b, n) violations of the pairs (u, .) and (v, .)


@dataclass
class State:
    """Batch in the middle of training HAC; a cluster has the slot of its smallest point."""

    psi: Tensor  # (b, n, n)
    weight: Tensor  # (b, n, n) log weight, or the code of the extreme pair
    pure: Tensor  # (b, n, n) bool, off the diagonal
    alpha: Tensor  # (b,)
    ceiling: Tensor  # (b,) linkages above it stand for +inf
    alive: Tensor  # (b, n) bool
    born: Tensor  # (b, n) round that made the cluster, -1 for a point
    low: Tensor  # (b, n) lowest pure linkage to a later slot, or a lower bound of it
    nearest: Tensor  # (b, n) that slot
    stale: Tensor  # (b, n) bool: a lower bound only
    block: Tensor  # (b,)
    slot: Tensor  # (n,)


@dataclass
class Tally:
    """What the rounds add up; R is the largest number of rounds."""

    terms: Terms
    slack: Tensor  # (b,)
    height: Tensor  # (b, R)
    limit: Tensor  # (b, R) an impure pair below it is violated; +inf in rounds to come
    sums: Tensor  # (b, R + 1) finite heights before each round
    starts: Tensor  # (b, R + 1) difference array of violations per round
    value: Tensor  # (b,) impure terms
    active: Tensor  # (b,) their number


def chosen_minima(rows: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """Smallest chosen value along the last axis, +inf without any, and its lowest index."""
    return row_minima(torch.where(chosen, rows, INF))


def _closest(state: State) -> Tensor:
    """(b,) row of each block's closest pure pair; rows with only a bound are searched again."""
    block, slot = state.block, state.slot
    while True:
        row = row_minima(state.low)[1]
        stale = state.stale[block, row]
        if not bool(stale.any()):
            return row
        later = state.pure[block, row] & state.alive & (slot > row[:, None])
        low, nearest = chosen_minima(state.psi[block, row], later)
        state.low[block, row] = torch.where(stale, low, state.low[block, row])
        state.nearest[block, row] = torch.where(stale, nearest, state.nearest[block, row])
        state.stale[block, row] = False


def play_round(state: State, tally: Tally, t: int, running: Tensor, keep: bool) -> Step | None:
    """Make the t-th pure merge of every block that has one."""
    block, slot = state.block, state.slot
    u = torch.where(running, _closest(state), 0)
    v = torch.where(running, state.nearest[block, u], 0)
    height = torch.where(running, state.low[block, u], INF)
    _open_round(tally, t, height, state.ceiling)
    others = state.alive & (slot != u[:, None]) & (slot != v[:, None]) & running[:, None]
    impure = others & ~state.pure[block, u]
    psi_u, psi_v = state.psi[block, u], state.psi[block, v]
    counts = torch.stack(
        [
            _count(tally, t, psi_u, impure, torch.maximum(state.born, state.born[block, u, None])),
            _count(tally, t, psi_v, impure, torch.maximum(state.born, state.born[block, v, None])),
        ]
    )
    mean, weight, share = _mixed(
        state, (psi_u, psi_v), (state.weight[block, u], state.weight[block, v])
    )
    for matrix, row in ((state.psi, mean), (state.weight, weight)):
        row = torch.where(others, row, matrix[block, u])
        matrix[block, u] = row
        matrix[block, :, u] = row
    _update_nearest(state, u, v, others & ~impure, running)
    state.born[block, u] = torch.where(running, t, state.born[block, u])
    if not keep:
        return None
    rest, gap = 1.0 - share, psi_u - psi_v
    if tally.terms.every:
        both = state.alpha.isinf()[:, None] & (gap == 0)
        share, rest = torch.where(both, 1.0, share), torch.where(both, 1.0, rest)
    return Step(u, v, running, others, share, rest, gap, counts)


def _open_round(tally: Tally, t: int, height: Tensor, ceiling: Tensor) -> None:
    finite = height <= ceiling
    tally.height[:, t] = height
    tally.sums[:, t + 1] = tally.sums[:, t] + torch.where(finite & height.isfinite(), height, 0.0)
    limit = torch.minimum(height - tally.slack, ceiling)
    tally.limit[:, t] = limit if tally.terms.ranking else limit.clamp(max=tally.terms.high)


def _count(tally: Tally, t: int | Tensor, psi: Tensor, pairs: Tensor, born: Tensor) -> Tensor:
    """Add the terms of pairs that end in round t; returns how many each has, (b, k).

    Args:
        tally: to add to.
        t: last round of the pairs, one number or (b, 1).
        psi: (b, k) linkages.
        pairs: (b, k) bool: which of them are impure pairs.
        born: (b, k) round after which each came to be.
    """
    terms = tally.terms
    last = torch.as_tensor(t, device=psi.device).expand(len(psi), 1)
    first = torch.searchsorted(tally.limit, psi.contiguous(), right=True)
    first = torch.maximum(first, last if terms.adjacent else born + 1)
    times = torch.where(pairs, (last + 1 - first).clamp(min=0), 0)
    violated = times > 0
    tally.active += times.sum(dim=1)
    if not terms.ranking:
        tally.value += torch.where(violated, times * (terms.high - psi), 0.0).sum(dim=1)
        return times.double()
    first = torch.where(violated, first, last + 1)
    value = tally.sums.gather(1, last + 1) - tally.sums.gather(1, first) - times * psi
    tally.value += torch.where(violated, value, 0.0).sum(dim=1)
    ones = violated.double()
    tally.starts.scatter_add_(1, first, ones)
    tally.starts.scatter_add_(1, last + 1, -ones.sum(dim=1, keepdim=True))
    return times.double()


def _mixed(
    state: State, psi: tuple[Tensor, Tensor], weight: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Linkage and weight of the union to the others, and the share of its first part, (b, n)."""
    endless = state.alpha.isinf()[:, None]
    gap = torch.where(state.alpha < 0, 1.0, -1.0)[:, None] * (psi[0] - psi[1])
    first = (gap < 0) | ((gap == 0) & (weight[0] < weight[1]))
    share = torch.where(endless, first.double(), torch.sigmoid(weight[0] - weight[1]))
    mean, log_sum = merge_log_sums(psi, weight)
    mean = torch.where(endless, torch.where(first, *psi), mean)
    # Infinite linkages are equal, however many finite pairs they contain.
    mean = torch.where(mean > state.ceiling[:, None], torch.maximum(*psi), mean)
    return mean, torch.where(endless, torch.where(first, *weight), log_sum), share


def _update_nearest(state: State, u: Tensor, v: Tensor, pure: Tensor, running: Tensor) -> None:
    """Bring low, nearest and stale up to date after v was merged into u.

    A linkage never falls below what it is made of, so ``low`` stays a lower bound of every row;
    a row whose nearest cluster is gone or changed is searched again when it comes up.
    """
    block, slot = state.block, state.slot
    here, gone = u[:, None], v[:, None]
    row = state.psi[block, u]
    before = pure & (slot < here)
    lost = pure & ((state.nearest == gone) | (before & (state.nearest == here)))
    state.stale |= lost
    tied = before & ~lost & (row == state.low) & (here < state.nearest)
    state.nearest = torch.where(tied, here, state.nearest)
    low, nearest = chosen_minima(row, pure & (slot > here))
    state.low[block, u] = torch.where(running, low, state.low[block, u])
    state.nearest[block, u] = torch.where(running, nearest, state.nearest[block, u])
    # Where nothing runs u and v are the same slot, which must not change.
    state.low[block, v] = torch.where(running, INF, state.low[block, v])
    state.alive[block, v] &= ~running


def count_survivors(state: State, tally: Tally, rounds: Tensor) -> Tensor:
    """(b, n, n) minus the violations of the impure pairs that outlive the last round."""
    b, n, _ = state.psi.shape
    both = state.alive[:, :, None] & state.alive[:, None, :] & ~state.pure
    once = both & (state.slot > state.slot[:, None])
    if tally.terms.adjacent or tally.limit.shape[1] == 0:
        return torch.zeros_like(state.psi)
    born = torch.maximum(state.born[:, :, None], state.born[:, None, :])
    last = rounds[:, None] - 1
    has_rounds = once.flatten(1) & (last >= 0)
    flat = state.psi.flatten(1)
    times = _count(tally, last.clamp(min=0), flat, has_rounds, born.flatten(1))
    times = times.reshape(b, n, n)
    return -(times + times.mT)
