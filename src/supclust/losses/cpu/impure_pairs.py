"""Linkages of impure pairs, forward and backward through all rounds, in O(n^2) (Numba).

Positions are sorted by ground-truth cluster, and the entry [r, c] of an impure pair is kept for c
in a later cluster than r, packed row after row. A merge of rows is one pass over two rows. A merge
of columns would access every row, so the column merges of a row are applied when it is next read.

When two entries merge, one of them becomes free. It keeps the record of the merge (share and
difference of the two linkages, and how often each was violated), which is all that the backward
pass needs. There the same entries hold, for their pair of clusters P and its ancestors Q = P, ...,
with g = dJ/dPsi and S the weights,

    slope = sum g_Q S_P / S_Q,     moment = sum g_Q S_P / S_Q (Psi_P - Psi_Q),

so that at the leaves dJ/df = slope + alpha moment, and dJ/dalpha is the sum of
slope share (1 - share) difference^2 over merges. Only differences of linkages enter, and no
exponential.

Arrays are passed one by one, and no function that takes arrays is called per entry: Numba counts
references at every call, which would cost more than the arithmetic.
"""

from __future__ import annotations

import numpy as np

from supclust.kernels import kernel
from supclust.losses.cpu.block import merge, place_of
from supclust.losses.cpu.impure_entries import (
    ACTIVE,
    BASE,
    BORN_U,
    BORN_V,
    BOTH,
    COUNT_UNIT,
    COUNTS,
    END,
    GAP,
    INFINITE,
    MOMENT,
    PSI,
    SHARE,
    SLOPE,
    STARTS,
    SUMS,
    TOTALS,
    VALUE,
    WEIGHT,
    U,
    V,
    first_below,
)


@kernel(error_model="numpy")
def _merge_listed(entries, linkage, rules, height, limit, tally, work, count):
    """Merge entry V into entry U for the first ``count`` rows of ``work``; V keeps the record.

    A row of work: the two entries, the rounds that made them, the round of the merge. A pair is
    violated in round t if Psi < limit[t]. The limit does not fall with t, so these are the last
    rounds in which the pair exists. Adjacent competitors count in the round of their merge only.
    """
    value = 0.0
    active = 0.0
    simple = rules.adjacent and not rules.ranking
    for k in range(count):
        u = work[k, 0]
        v = work[k, 1]
        t = work[k, 4]
        psi_u = entries[u, PSI]
        psi_v = entries[v, PSI]
        bar = limit[t]
        # Branchless: which pairs are violated is hard to predict.
        count_u = 1.0 if psi_u < bar else 0.0
        count_v = 1.0 if psi_v < bar else 0.0
        if not simple and count_u + count_v > 0.0:
            for side in range(2):
                psi = psi_v if side else psi_u
                if psi >= bar:
                    continue
                first = t
                if not rules.adjacent:
                    first = first_below(limit, psi, work[k, 2 + side], t)
                times = float(t + 1 - first)
                if side:
                    count_v = times
                else:
                    count_u = times
                if rules.ranking:
                    value += tally[SUMS, t + 1] - tally[SUMS, first]
                    tally[STARTS, first] += 1.0
                    tally[STARTS, t + 1] -= 1.0
                    if height[t] > rules.ceiling:
                        tally[TOTALS, INFINITE] += 1.0
        value += count_u * (rules.high - psi_u) + count_v * (rules.high - psi_v)
        active += count_u + count_v
        psi, weight, share = merge(linkage, psi_u, entries[u, WEIGHT], psi_v, entries[v, WEIGHT])
        entries[u, PSI] = psi
        entries[u, WEIGHT] = weight
        entries[v, GAP] = psi_u - psi_v
        entries[v, SHARE] = BOTH if linkage.every and psi_u == psi_v else share
        entries[v, COUNTS] = count_u + COUNT_UNIT * count_v
    tally[TOTALS, VALUE] += value
    tally[TOTALS, ACTIVE] += active


@kernel
def _list_columns(rounds, base, end, born, since, until, work):
    """List the column merges of rounds ``since`` to ``until`` for one row; returns their number."""
    count = 0
    for t in range(since, until):
        work[count, 0] = base + rounds[t, U]
        work[count, 1] = base + rounds[t, V]
        work[count, 2] = max(born, rounds[t, BORN_U])
        work[count, 3] = max(born, rounds[t, BORN_V])
        work[count, 4] = t
        count += rounds[t, U] >= end
    return count


@kernel
def _list_rows(rounds, layout, live, alive, born, t, work):
    """List the merges of the two rows of round t over the live columns; returns their number."""
    u = rounds[t, U]
    v = rounds[t, V]
    start = place_of(live, alive, layout[u, END])
    for at in range(start, alive):
        c = live[at]
        k = at - start
        work[k, 0] = layout[u, BASE] + c
        work[k, 1] = layout[v, BASE] + c
        work[k, 2] = max(born[u], born[c])
        work[k, 3] = max(born[v], born[c])
        work[k, 4] = t
    return alive - start


@kernel
def replay(entries, layout, linkage, rules, rounds, height, limit, tally):
    """Run all rounds and add up the impure terms; returns the live positions and their rounds."""
    n = len(layout)
    last = len(rounds)
    alive = n
    live = np.arange(n)
    born = np.full(n, -1)
    fresh = np.zeros(n, np.int64)  # rounds already applied to a row
    work = np.empty((n + 1, 5), np.int64)
    for t in range(last):
        u = rounds[t, U]
        v = rounds[t, V]
        for row in (u, v):
            base, end = layout[row, BASE], layout[row, END]
            count = _list_columns(rounds, base, end, born[row], fresh[row], t, work)
            _merge_listed(entries, linkage, rules, height, limit, tally, work, count)
        count = _list_rows(rounds, layout, live, alive, born, t, work)
        _merge_listed(entries, linkage, rules, height, limit, tally, work, count)
        born[u] = t
        fresh[u] = t + 1
        place = place_of(live, alive, v)
        alive -= 1
        for at in range(place, alive):
            live[at] = live[at + 1]
    for at in range(alive):
        row = live[at]
        base, end = layout[row, BASE], layout[row, END]
        count = _list_columns(rounds, base, end, born[row], fresh[row], last, work)
        _merge_listed(entries, linkage, rules, height, limit, tally, work, count)
    return live[:alive], born


@kernel
def count_survivors(entries, layout, rules, height, limit, tally, live, born):
    """Count the pairs left after the last round, and initialise their entries for `unwind`."""
    last = len(height) - 1
    for row in range(len(live)):
        for column in range(row + 1, len(live)):
            r = live[row]
            c = live[column]
            e = layout[r, BASE] + c
            psi = entries[e, PSI]
            first = first_below(limit, psi, max(born[r], born[c]), last + 1)
            times = 0.0 if rules.adjacent else float(last + 1 - first)
            entries[e, SLOPE] = -times
            entries[e, MOMENT] = 0.0
            if times == 0.0:
                continue
            tally[TOTALS, ACTIVE] += times
            tally[TOTALS, VALUE] += times * (rules.high - psi)
            if rules.ranking:
                tally[TOTALS, VALUE] += tally[SUMS, last + 1] - tally[SUMS, first]
                tally[STARTS, first] += 1.0
                tally[STARTS, last + 1] -= 1.0
                if height[last] > rules.ceiling:
                    tally[TOTALS, INFINITE] += 1.0


@kernel
def _split_listed(entries, work, count):
    """Undo `_merge_listed`, last row first; returns the part of dJ/dalpha."""
    in_alpha = 0.0
    for k in range(count - 1, -1, -1):
        u = work[k, 0]
        v = work[k, 1]
        share = entries[v, SHARE]
        gap = entries[v, GAP]
        slope = entries[u, SLOPE]
        moment = entries[u, MOMENT]
        other = 1.0 if share == BOTH else 1.0 - share
        share = 1.0 if share == BOTH else share
        count_v = np.floor(entries[v, COUNTS] / COUNT_UNIT)
        count_u = entries[v, COUNTS] - COUNT_UNIT * count_v
        entries[u, SLOPE] = share * slope - count_u
        entries[v, SLOPE] = other * slope - count_v
        entries[u, MOMENT] = share * (moment + slope * other * gap)
        entries[v, MOMENT] = other * (moment - slope * share * gap)
        in_alpha += slope * (share * gap) * (other * gap)
    return in_alpha


@kernel
def unwind(entries, layout, rounds, survivors):
    """Backward pass to SLOPE and MOMENT of all pairs of points; returns dJ/dalpha."""
    n = len(layout)
    live = np.empty(n, np.int64)
    alive = len(survivors)
    for at in range(alive):
        live[at] = survivors[at]
    born = np.full(n, -1)  # not used in the backward pass
    fresh = np.full(n, len(rounds))
    work = np.empty((n + 1, 5), np.int64)
    in_alpha = 0.0
    for t in range(len(rounds) - 1, -1, -1):
        u = rounds[t, U]
        v = rounds[t, V]
        base, end = layout[u, BASE], layout[u, END]
        count = _list_columns(rounds, base, end, -1, t + 1, fresh[u], work)
        in_alpha += _split_listed(entries, work, count)
        count = _list_rows(rounds, layout, live, alive, born, t, work)
        in_alpha += _split_listed(entries, work, count)
        fresh[u] = t
        fresh[v] = t
        place = place_of(live, alive, v)
        for at in range(alive, place, -1):
            live[at] = live[at - 1]
        live[place] = v
        alive += 1
    for row in range(n):
        base, end = layout[row, BASE], layout[row, END]
        count = _list_columns(rounds, base, end, -1, 0, fresh[row], work)
        in_alpha += _split_listed(entries, work, count)
    return in_alpha
