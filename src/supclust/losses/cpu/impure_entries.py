"""The entries of impure pairs: their columns, their layout and their initial values (Numba)."""

from __future__ import annotations

import numpy as np

from supclust.hac.cpu.merge_rules import point_weight
from supclust.hac.family import LINEAR
from supclust.kernels import kernel
from supclust.losses.cpu.block import leaf_weight, value_of

# Columns of the entry of a pair of clusters, of the record of a merge, and of the backward pass.
PSI, WEIGHT = 0, 1
GAP, SHARE, COUNTS = 0, 1, 2
MOMENT, SLOPE = 0, 1

# Special value of SHARE: either part gets the whole gradient of the union.
BOTH = -1.0

# Two counts in one float64, exact below 2^26 rounds each: large blocks are bound by memory.
COUNT_UNIT = 2.0**26

# Columns of a round: it merges positions U < V, made in rounds BORN_U and BORN_V (-1: a point).
U, V, BORN_U, BORN_V = 0, 1, 2, 3
# Columns of the layout: entry [r, c] is number layout[r, BASE] + c, for c from layout[r, END] on.
BASE, END = 0, 1
# Rows of the tally, (3, R + 1): sums of the heights before each round; a difference array of how
# many pairs violate each round; three totals: the value, the active terms, the infinite ones.
SUMS, STARTS, TOTALS = 0, 1, 2
VALUE, ACTIVE, INFINITE = 0, 1, 2


@kernel
def lay_out(starts):
    """Layout (n, 2) of the entries of all impure pairs of points, and their number."""
    n = starts[-1]
    layout = np.empty((n, 2), np.int64)
    total = 0
    for k in range(len(starts) - 1):
        for r in range(starts[k], starts[k + 1]):
            layout[r, BASE] = total - starts[k + 1]
            layout[r, END] = starts[k + 1]
            total += n - starts[k + 1]
    return layout, total


@kernel
def pack_entries(D, reading, order, layout, total, linkage):
    """Entries (e, 3) of all impure pairs of points."""
    n = len(order)
    entries = np.empty((total, 3))
    psi = np.empty(n)
    weight = np.empty(n)
    e = 0
    for r in range(n):
        i = order[r]
        columns = order[layout[r, END] :]
        for k in range(len(columns)):
            psi[k] = value_of(D, reading, i, columns[k])
        if linkage.form == LINEAR:
            for k in range(len(columns)):  # vectorised
                weight[k] = point_weight(LINEAR, psi[k], linkage.alpha, linkage.centre)
        else:
            for k in range(len(columns)):
                weight[k] = leaf_weight(linkage, psi[k], i, columns[k], n)
        for k in range(len(columns)):
            entries[e + k, PSI] = psi[k]
            entries[e + k, WEIGHT] = weight[k]
        e += len(columns)
    return entries


@kernel
def rounds_of(pairs, n):
    """Rounds (R, 4) of the merges ``pairs`` of positions."""
    born = np.full(n, -1)
    rounds = np.empty((len(pairs), 4), np.int64)
    for t in range(len(pairs)):
        u = pairs[t, 0]
        v = pairs[t, 1]
        rounds[t, U] = u
        rounds[t, V] = v
        rounds[t, BORN_U] = born[u]
        rounds[t, BORN_V] = born[v]
        born[u] = t
    return rounds


@kernel
def prepare_tally(height, rules, slack):
    """Limit below which an impure linkage is violated in each round, and an empty tally."""
    count = len(height)
    limit = np.empty(count)
    tally = np.zeros((3, max(count + 1, 3)))
    for t in range(count):
        limit[t] = min(height[t] - slack, rules.ceiling)
        if not rules.ranking:
            limit[t] = min(limit[t], rules.high)
        finite = height[t] <= rules.ceiling
        tally[SUMS, t + 1] = tally[SUMS, t] + (height[t] if finite else 0.0)
    return limit, tally


@kernel(inline="always")
def first_below(limit, psi, born, end):
    """First round after ``born`` with psi < limit, ``end`` if there is none; limit never falls."""
    first = end
    below = born
    while first - below > 1:
        middle = (first + below) // 2
        if psi < limit[middle]:
            first = middle
        else:
            below = middle
    return first


@kernel
def write_gradient(order, layout, alpha, entries, share, out):
    """Write dJ/df of all impure pairs of points, times ``share``, into one triangle of ``out``."""
    for r in range(len(order)):
        base = layout[r, BASE]
        i = order[r]
        for c in range(layout[r, END], len(order)):
            out[i, order[c]] = share * (
                entries[base + c, SLOPE] + alpha * entries[base + c, MOMENT]
            )
