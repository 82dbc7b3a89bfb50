"""ExpLink training loss of many blocks on the host: value and gradients in one pass (Numba)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from supclust.hac.cpu.threads import over_parts
from supclust.hac.family import EXTREME
from supclust.kernels import kernel
from supclust.losses.cpu.block import (
    AVERAGE,
    CEILING,
    HIGHEST,
    LOWEST,
    SLACK,
    STAND_IN,
    Reading,
    block_facts,
    choose_linkage,
)
from supclust.losses.cpu.impure_entries import (
    ACTIVE,
    INFINITE,
    STARTS,
    TOTALS,
    VALUE,
    lay_out,
    pack_entries,
    prepare_tally,
    rounds_of,
    write_gradient,
)
from supclust.losses.cpu.impure_pairs import count_survivors, replay, unwind
from supclust.losses.cpu.pure_merges import grow_forest, order_rounds, pure_gradient
from supclust.losses.hinge import Solution, Terms
from supclust.losses.inputs import Blocks

Ints = NDArray[np.int64]

_TILE = 32


class Rules(NamedTuple):
    """Which impure terms count, and for how much."""

    ranking: bool
    adjacent: bool
    high: float  # an impure term is worth high - Psi, or (ranking, where high is 0) h - Psi
    ceiling: float  # linkages above it stand for +inf


def solve(blocks: Blocks, alphas: Tensor, terms: Terms, gradient: bool) -> Solution:
    """Compute the ExpLink losses of a padded batch, blocks in parallel.

    Args:
        blocks: batch on any device; its values are checked here.
        alphas: (b,) float64, from -inf to inf.
        terms: which terms count.
        gradient: also compute gradients.

    Returns:
        Losses and gradients on the device of the blocks; all statistics are float64.

    Complexity: O(n^2) time and memory per block, at most 12 n^2 bytes for impure pairs or
    16 n^2 for pure ones, beside the gradient.
    """
    values, labels, lengths, alpha = (t.cpu().contiguous().numpy() for t in (*blocks, alphas))
    b = len(values)
    facts = block_facts(values, lengths, alpha)
    orders = _orders(labels, lengths)
    losses, parts, in_alpha = np.zeros(b), np.zeros((2, b)), np.zeros(b)
    slopes = np.zeros_like(values) if gradient else np.zeros((b, 0, 0), values.dtype)
    over_parts(
        lambda start, stop: _solve_blocks(
            values, labels, orders, lengths, alpha, facts, terms.ranking, terms.adjacent,
            terms.mean, terms.low, terms.high, terms.every, losses, parts, in_alpha, slopes, start,
            stop,
        ),
        b,
    )  # fmt: skip
    device = blocks.values.device
    summed, pure, impure, by_alpha, by_value = (
        torch.from_numpy(result).to(device) for result in (losses, *parts, in_alpha, slopes)
    )
    return Solution(summed, pure, impure, by_alpha, by_value if gradient else None)


def _orders(labels: Ints, lengths: Ints) -> Ints:
    """(b, n) points of each block by label, then by index; padding last."""
    padding = np.arange(labels.shape[1]) >= lengths[:, None]
    # A real label may be as large, but the sort is stable and padding comes later.
    last = np.where(padding, np.iinfo(np.int64).max, labels)
    return np.argsort(last, axis=1, kind="stable")


@kernel
def _solve_blocks(
    batch, labels, orders, lengths, alphas, facts, ranking, adjacent, mean, low, high, every,
    losses, parts, in_alpha, out, start, stop,
):  # fmt: skip
    for k in range(start, stop):
        n = lengths[k]
        fact = facts[k]
        order = orders[k, :n]
        reading = Reading(fact[AVERAGE] != 0.0, fact[STAND_IN])
        starts = _cluster_starts(labels[k], order)
        if n < 2 or len(starts) == n + 1 or len(starts) == 2:
            continue  # no pure merge, or no impure pair
        linkage = choose_linkage(alphas[k], fact[LOWEST], fact[HIGHEST], fact[CEILING], n, every)
        rules = Rules(ranking, adjacent, 0.0 if ranking else high, fact[CEILING])
        losses[k], in_alpha[k] = _solve(
            batch[k, :n, :n],
            reading,
            order,
            starts,
            linkage,
            rules,
            fact[SLACK],
            low,
            mean,
            parts[:, k],
            out[k],
        )


@kernel
def _cluster_starts(labels, order):
    """Where each cluster starts in the order, and where the last one ends."""
    n = len(order)
    starts = np.empty(n + 1, np.int64)
    count = 0
    for r in range(n):
        if r == 0 or labels[order[r]] != labels[order[r - 1]]:
            starts[count] = r
            count += 1
    starts[count] = n
    return starts[: count + 1]


@kernel(error_model="numpy")
def _solve(D, reading, order, starts, linkage, rules, slack, low, mean, parts, out):
    """Loss and dJ/dalpha of one block; its parts, and dJ/df into ``out`` unless it is empty."""
    pairs, height, weights = grow_forest(D, reading, order, starts, linkage)
    pairs, height, weights = order_rounds(order, starts, pairs, height, weights)
    rounds = rounds_of(pairs, len(order))
    limit, tally = prepare_tally(height, rules, slack)
    layout, total = lay_out(starts)
    entries = pack_entries(D, reading, order, layout, total, linkage)
    live, born = replay(entries, layout, linkage, rules, rounds, height, limit, tally)
    count_survivors(entries, layout, rules, height, limit, tally, live, born)
    active = tally[TOTALS, ACTIVE]
    share = 1.0 / active if mean and active > 0.0 else 1.0
    loss, slopes = _pure_terms(rules, tally, height, low, mean, share, parts)
    if out.shape[0] == 0:
        return loss, 0.0
    in_alpha = pure_gradient(D, reading, order, linkage, pairs, height, weights, slopes, out)
    if active > 0.0:
        in_alpha += share * unwind(entries, layout, rounds, live)
        alpha = 0.0 if linkage.form == EXTREME else linkage.alpha
        write_gradient(order, layout, alpha, entries, share, out)
    _mirror(out, len(order))
    return loss, in_alpha


@kernel(error_model="numpy")
def _pure_terms(rules, tally, height, low, mean, share, parts):
    """Loss, and dJ/dh of every round (0 for an infinite one); writes the (2,) parts."""
    slopes = np.zeros(len(height))
    loss = tally[TOTALS, VALUE] * share
    if rules.ranking:
        running = 0.0
        for t in range(len(height)):
            running += tally[STARTS, t]
            slopes[t] = running * share if height[t] <= rules.ceiling else 0.0
        return (np.inf if tally[TOTALS, INFINITE] > 0.0 else loss), slopes
    total = 0.0
    active = 0
    for t in range(len(height)):
        if height[t] > rules.ceiling:
            total = np.inf
            active += 1
        elif height[t] > low:
            total += height[t] - low
            slopes[t] = 1.0
            active += 1
    scale = 1.0 / active if mean and active > 0 else 1.0
    for t in range(len(height)):
        slopes[t] *= scale
    parts[0] = total * scale
    parts[1] = loss
    return loss + total * scale, slopes


@kernel
def _mirror(out, n):
    """Share what stands in one of the two triangles equally between both."""
    for top in range(0, n, _TILE):
        for left in range(top, n, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(max(left, i + 1), min(left + _TILE, n)):
                    half = (out[i, j] + out[j, i]) / 2
                    out[i, j] = half
                    out[j, i] = half
