"""ExpLink training loss in torch, for tensors on any device: one round of every block at a time.

A round is a constant number of operations on (b, n) rows, so a batch takes as many sequential steps
as its largest block has pure merges. The backward pass takes the rounds in reverse with the
recursions of `losses.cpu.impure_pairs`, here for pure and impure pairs alike. Statistics are
float64.
"""

from __future__ import annotations

import torch
from torch import Tensor

from supclust.hac.family import infinite_above, infinity_stand_in
from supclust.hac.validation import pair_mask
from supclust.losses.device.rounds import (
    State,
    Step,
    Tally,
    chosen_minima,
    count_survivors,
    play_round,
)
from supclust.losses.hinge import EQUAL, Solution, Terms
from supclust.losses.inputs import Blocks

INF = float("inf")


@torch.no_grad()
def solve(blocks: Blocks, alphas: Tensor, terms: Terms, gradient: bool) -> Solution:
    """Compute the ExpLink losses of a padded batch on its device.

    Args:
        blocks: checked batch.
        alphas: (b,) float64.
        terms: which terms count.
        gradient: also compute gradients.

    Complexity: O(b n^2 log n) work in about n sequential steps; O(b n^2) memory.
    """
    state, slack = _start(blocks, alphas)
    rounds = _round_counts(state)  # (b,)
    most = int(rounds.max())
    b = len(rounds)
    tally = Tally(
        terms, slack,
        state.psi.new_full((b, most), INF), state.psi.new_full((b, most), INF),
        state.psi.new_zeros(b, most + 1), state.psi.new_zeros(b, most + 1),
        state.psi.new_zeros(b), state.psi.new_zeros(b),
    )  # fmt: skip
    tape = [play_round(state, tally, t, t < rounds, gradient) for t in range(most)]
    survivors = count_survivors(state, tally, rounds)
    share = torch.ones_like(tally.active)
    if terms.mean:
        share = 1.0 / tally.active.clamp(min=1.0)
    losses, parts, slopes = _pure_terms(state, tally, rounds, share)
    if not gradient:
        return Solution(losses, *parts, torch.zeros_like(losses), None)
    slope, moment, in_alpha = _unwind(state, tape, slopes, survivors, share)
    finite_alpha = torch.where(state.alpha.isinf(), 0.0, state.alpha)
    total = slope + finite_alpha[:, None, None] * moment
    scale = torch.where(state.pure, 0.5, 0.5 * share[:, None, None])
    return Solution(losses, *parts, in_alpha, (total * scale).to(blocks.values.dtype))


def _start(blocks: Blocks, alphas: Tensor) -> tuple[State, Tensor]:
    """Batch before the first round, and (b,) the difference up to which linkages are equal."""
    values, labels, lengths = blocks
    b, n, _ = values.shape
    slot = torch.arange(n, device=values.device)
    alive = slot < lengths[:, None]  # (b, n)
    used = pair_mask(lengths, n)
    psi = 0.5 * values.double() + 0.5 * values.double().mT
    psi = torch.where(used, psi, 0.0)
    never = psi.isinf()
    scale = psi.masked_fill(never, 0.0).abs().amax(dim=(1, 2))
    ceiling = torch.full_like(scale, INF)
    if bool(never.any()):
        limits = zip(scale.tolist(), lengths.tolist(), alphas.tolist(), strict=True)
        stand_in = [infinity_stand_in(s, n_k, 0.0 if abs(a) == INF else a) for s, n_k, a in limits]
        psi = torch.where(never, psi.new_tensor(stand_in)[:, None, None], psi)
        above = psi.new_tensor([infinite_above(s) for s in scale.tolist()])
        ceiling = torch.where(never.flatten(1).any(dim=1), above, INF)
    endless = alphas.isinf()[:, None, None]
    lower, upper = torch.minimum(slot[:, None], slot), torch.maximum(slot[:, None], slot)
    code = (lower * n + upper).double()
    spread = psi.abs().amax(dim=(1, 2)).clamp(min=1.0)
    alpha = torch.where(alphas.isinf(), 0.0, alphas)
    alpha = torch.minimum(torch.maximum(alpha, -1e300 / spread), 1e300 / spread)
    weight = torch.where(endless, code, alpha[:, None, None] * psi)
    pure = used & (labels[:, :, None] == labels[:, None, :])
    later = pure & (slot > slot[:, None])
    low, nearest = chosen_minima(psi, later)
    state = State(
        psi, weight, pure, torch.where(alphas.isinf(), alphas, alpha), ceiling, alive,
        torch.full_like(nearest, -1), low, nearest, torch.zeros_like(alive),
        torch.arange(b, device=values.device), slot,
    )  # fmt: skip
    return state, EQUAL * scale


def _round_counts(state: State) -> Tensor:
    """(b,) rounds of each block: its points less its clusters, none where it is one cluster."""
    first = ~(state.pure & (state.slot < state.slot[:, None])).any(dim=2)
    merges = (state.alive & ~first).sum(dim=1)
    return torch.where(merges == state.alive.sum(dim=1) - 1, 0, merges)


def _pure_terms(
    state: State, tally: Tally, rounds: Tensor, share: Tensor
) -> tuple[Tensor, tuple[Tensor, Tensor], Tensor]:
    """(b,) losses, (b,) parts, and (b, R) dJ/dh of every round, 0 for an infinite or absent one."""
    terms, height = tally.terms, tally.height
    present = torch.arange(height.shape[1], device=height.device) < rounds[:, None]
    endless = present & (height > state.ceiling[:, None])
    loss = tally.value * share
    if terms.ranking:
        violations = tally.starts.cumsum(dim=1)[:, :-1]
        bad = (endless & (violations > 0)).any(dim=1)
        slopes = torch.where(present & ~endless, violations, 0.0) * share[:, None]
        none = torch.zeros_like(loss)
        return torch.where(bad, INF, loss), (none, none), slopes
    active = present & (height > terms.low)
    value = torch.where(active & ~endless, height - terms.low, 0.0).sum(dim=1)
    scale = torch.ones_like(value)
    if terms.mean:
        scale = 1.0 / active.sum(dim=1).clamp(min=1).double()
    pure = torch.where(endless.any(dim=1), INF, value * scale)
    return loss + pure, (pure, loss), (active & ~endless) * scale[:, None]


def _unwind(
    state: State, tape: list[Step | None], slopes: Tensor, survivors: Tensor, share: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Slope and moment of every pair of points, (b, n, n), and dJ/dalpha, (b,)."""
    block = state.block
    slope, moment = survivors, torch.zeros_like(survivors)
    in_alpha = torch.zeros_like(share)
    for t in range(len(tape) - 1, -1, -1):
        step = tape[t]
        if step is None:
            continue
        u, v, running, others, mine, rest, gap, counts = step
        above, lever = slope[block, u], moment[block, u]
        weight = torch.where(state.pure[block, u], 1.0, share[:, None])
        part = above * (mine * gap) * (rest * gap) * weight
        in_alpha += torch.where(others, part, 0.0).sum(dim=1)
        merged = slopes[:, t]
        for at, row, tilt in (
            (u, mine * above - counts[0], mine * (lever + above * rest * gap)),
            (v, rest * above - counts[1], rest * (lever - above * mine * gap)),
        ):
            for matrix, new in ((slope, row), (moment, tilt)):
                new = torch.where(others, new, matrix[block, at])
                matrix[block, at] = new
                matrix[block, :, at] = new
        for i, j in ((u, v), (v, u)):
            slope[block, i, j] = torch.where(running, merged, slope[block, i, j])
            moment[block, i, j] = torch.where(running, 0.0, moment[block, i, j])
    return slope, moment, torch.where(state.alpha.isinf(), 0.0, in_alpha)
