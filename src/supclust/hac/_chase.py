"""The nearest-neighbour chain over a matrix whose rows are brought up to date when they are read.

A merge of u and v rewrites row u and is otherwise only noted: writing column u into every other
row would touch one cache line per row. Whoever reads a row next applies, inside that one row, the
merges it has not seen. A row's nearest neighbour, once found, stays nearest until that neighbour
merges, because the linkage is reducible; so most rows are never searched twice.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from supclust.hac._rows import LINEAR, LOG, MAX, MEAN, merge_entry, merge_rows
from supclust.hac._vector import argmin


@njit(cache=True, nogil=True, error_model="numpy")
def refresh_row(form, psi_row, weight_row, seen, until, kept, gone, share, alpha, dead):
    """Apply merges ``seen`` to ``until`` (v = gone into u = kept) to the columns of one row."""
    one = psi_row.dtype.type(1.0)
    if form == MAX:
        for t in range(seen, until):
            psi_row[kept[t]], _ = merge_entry(
                MAX, psi_row[kept[t]], one, psi_row[gone[t]], one, one, one, one
            )
    elif form == MEAN:
        for t in range(seen, until):
            psi_row[kept[t]], _ = merge_entry(
                MEAN, psi_row[kept[t]], one, psi_row[gone[t]], one, share[t], one, one
            )
    elif form == LINEAR:
        for t in range(seen, until):
            u = kept[t]
            v = gone[t]
            psi_row[u], weight_row[u] = merge_entry(
                LINEAR, psi_row[u], weight_row[u], psi_row[v], weight_row[v], one, one, one
            )
    else:
        for t in range(seen, until):
            u = kept[t]
            v = gone[t]
            psi_row[u], weight_row[u] = merge_entry(
                LOG, psi_row[u], weight_row[u], psi_row[v], weight_row[v], one, alpha, one
            )
    for t in range(seen, until):
        psi_row[gone[t]] = dead


@njit(cache=True, nogil=True, error_model="numpy")
def chase(
    form, alpha, psi, weight, slot, size, leaf, alive, seen, nearest, distance, kept, gone, share,
    stop, dead, pairs, heights, done,
):  # fmt: skip
    """Merge reciprocal nearest neighbours along a chain until ``stop`` clusters are left.

    Args:
        form: How linkages merge (`_rows`).
        alpha: Of the family.
        psi: Linkage matrix, row ``slot[r]`` for cluster r, columns by cluster; dead columns and the
            diagonal hold ``dead``, a number above every linkage.
        weight: Weights of the same layout (`LINEAR`, `LOG`), or anything 2-d.
        slot: Matrix row of each cluster.
        size: Points per cluster; updated.
        leaf: A point of each cluster.
        alive: All true on entry; updated.
        seen: Zeros on entry; on return, how many of the merges each row has seen.
        nearest: A nearest neighbour of each cluster on entry, or -1 where it is not known.
        distance: Linkage to it.
        kept: Room for the merges: the surviving column u.
        gone: The column v that died.
        share: |v| / (|u| + |v|).
        stop: Number of clusters to stop at.
        dead: See ``psi``.
        pairs: Merges so far, in order of creation, as a point of either side; appended to.
        heights: Their heights; appended to.
        done: How many merges ``pairs`` already holds.

    Returns:
        How many merges were made here. The distances along the chain fall strictly, so it always
        ends.
    """
    n = slot.size
    chain = np.empty(n, np.int32)
    found_at = np.zeros(n, np.int32)  # number of merges when a row's nearest was found
    born = np.zeros(n, np.int32)  # number of merges when a cluster got its present form
    links = 0
    first = 0
    merges = 0
    while n - merges > stop:
        if links == 0:
            while not alive[first]:
                first += 1
            chain[0] = first
            links = 1
        x = chain[links - 1]
        y = nearest[x]
        if y < 0 or not alive[y] or born[y] > found_at[x]:
            row = psi[slot[x], :n]
            weights = weight[slot[x] if form >= LINEAR else 0]
            refresh_row(form, row, weights, seen[x], merges, kept, gone, share, alpha, dead)
            seen[x] = merges
            y = argmin(row, 0, n)
            nearest[x] = y
            distance[x] = row[y]
            found_at[x] = merges
        if links == 1 or distance[x] < distance[chain[links - 2]]:
            chain[links] = y
            links += 1
            continue
        # x and its predecessor are nearest to each other (at a tie, the predecessor is preferred).
        y = chain[links - 2]
        links -= 2
        u = min(x, y)
        v = max(x, y)
        for r in (u, v):
            weights = weight[slot[r] if form >= LINEAR else 0]
            refresh_row(
                form, psi[slot[r], :n], weights, seen[r], merges, kept, gone, share, alpha, dead
            )
        kept[merges] = u
        gone[merges] = v
        share[merges] = size[v] / (size[u] + size[v])
        a = slot[u] if form >= LINEAR else 0
        b = slot[v] if form >= LINEAR else 0
        merge_rows(
            form,
            psi[slot[u], :n],
            weight[a, :n],
            psi[slot[v], :n],
            weight[b, :n],
            share[merges],
            alpha,
        )
        psi[slot[u], u] = dead
        psi[slot[u], v] = dead
        pairs[done + merges, 0] = leaf[u]
        pairs[done + merges, 1] = leaf[v]
        heights[done + merges] = distance[x]
        size[u] += size[v]
        alive[v] = False
        merges += 1
        seen[u] = merges
        born[u] = merges
        nearest[u] = -1
    return merges
