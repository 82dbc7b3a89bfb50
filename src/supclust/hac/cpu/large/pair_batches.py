"""Batches of pairs, merged side by side, each in rows of its own.

Two clusters that are each other's nearest stay so whatever else merges, because the linkage is
reducible; so all such pairs may merge at once. Most rows are not read before they merge, because
one of their neighbour candidates is nearly always left.

The merges of a batch have the order of the list of pending merges: to a row are applied those
before its own merge, whether they have been carried out by then or not. So the numbers do not
depend on the threads, and the linkage of two new clusters is the same, bit for bit, in both rows.
"""

from __future__ import annotations

import numpy as np

from supclust.hac.cpu.large.neighbour_candidates import find_candidates, updated_nearest
from supclust.hac.cpu.large.pending_merges import copy_row, read_row
from supclust.hac.cpu.merge_rules import merge_rows
from supclust.hac.family import LINEAR
from supclust.kernels import kernel


@kernel(error_model="numpy")
def choose_pairs(clusters, pending, merges, most):
    """List up to ``most`` pairs of reciprocal nearest neighbours; returns the number of merges.

    The nearest of every cluster is up to date. At ties the nearest of x may have another nearest;
    a pair of the smallest linkage of all is always listed.
    """
    taken = np.zeros(clusters.alive.size, np.bool_)
    start = merges
    for x in range(taken.size):
        y = clusters.nearest[x]
        if not clusters.alive[x] or taken[x] or taken[y]:
            continue
        if clusters.distance[x] <= clusters.distance[y]:
            taken[x] = taken[y] = True
            pending.kept[merges], pending.gone[merges] = min(x, y), max(x, y)
            merges += 1
            if merges - start == most:
                break
    return merges


@kernel(error_model="numpy")
def record(rows, clusters, pending, start, stop, size, leaf, free_rows, pairs, heights):
    """Write down merges ``start`` to ``stop``, and choose their rows.

    Args:
        rows: Not changed.
        clusters: Updated.
        pending: Gets the shares and rows of these merges.
        start: First merge.
        stop: One past the last.
        size: Points of each cluster; updated.
        leaf: A point of each cluster.
        free_rows: Unused rows; the first entry is how many.
        pairs: Output: a point of either side of each merge.
        heights: Output.
    """
    for t in range(start, stop):
        u, v = pending.kept[t], pending.gone[t]
        pairs[t, 0], pairs[t, 1] = leaf[u], leaf[v]
        heights[t] = clusters.distance[u]
        pending.share[t] = size[v] / (size[u] + size[v])
        size[u] += size[v]
        clusters.alive[v] = False
        clusters.into[v] = u
        pending.slot[t] = max(rows.slot[u], rows.slot[v])
        if pending.slot[t] < 0:
            pending.slot[t] = free_rows[free_rows[0]]
            free_rows[0] -= 1
    # Rows that are left may be written in the next batch, but are read in this one.
    for t in range(start, stop):
        left = min(rows.slot[pending.kept[t]], rows.slot[pending.gone[t]])
        if left >= 0:
            free_rows[0] += 1
            free_rows[free_rows[0]] = left


@kernel(error_model="numpy")
def merge_pairs(rows, clusters, pending, candidates, start, stop):
    """Carry out the pending merges ``start`` to ``stop``, and find the nearest of the new clusters.

    ``pending`` has the merges of the whole batch; no other thread carries out those of this part.
    """
    n, kind = rows.slot.size, rows.psi.dtype
    wide = n if rows.rule >= LINEAR else 1
    row, weights = np.empty(n, kind), np.empty(wide, kind)
    other, other_weights = np.empty(n, kind), np.empty(wide, kind)
    for t in range(start, stop):
        u, v, r = pending.kept[t], pending.gone[t], np.int64(pending.slot[t])
        read_row(rows, u, clusters.formed[u], pending, t, row, weights)
        read_row(rows, v, clusters.formed[v], pending, t, other, other_weights)
        merge_rows(
            rows.rule, row, 0, other, 0, weights, 0, other_weights, 0, np.uint64(n),
            pending.share[t], rows.alpha,
        )  # fmt: skip
        row[u] = row[v] = rows.far
        copy_row(row, rows.psi[r][:n])
        if rows.rule >= LINEAR:
            copy_row(weights, rows.weight[r][:n])
        rows.slot[u] = r
        clusters.formed[u] = clusters.version[u] = t + 1
        clusters.nearest[u], clusters.distance[u] = find_candidates(row, 0, n, u, candidates)


@kernel(error_model="numpy")
def find_nearest(rows, clusters, pending, merges, candidates, start, stop):
    """Find the nearest of clusters ``start`` to ``stop`` where it has merged, after all merges.

    Returns:
        How many rows had to be read.
    """
    n, kind = rows.slot.size, rows.psi.dtype
    row, weights = np.empty(n, kind), np.empty(n if rows.rule >= LINEAR else 1, kind)
    read = 0
    for x in range(start, stop):
        if clusters.alive[x]:
            read += _find_nearest_of(x, rows, clusters, pending, merges, candidates, row, weights)
    return read


@kernel(error_model="numpy")
def _find_nearest_of(x, rows, clusters, pending, merges, candidates, row, weights):
    """As `find_nearest`, of one cluster; ``row``  and ``weights`` are scratch."""
    y = clusters.nearest[x]
    if clusters.alive[y] and clusters.formed[y] <= clusters.version[x]:
        return 0
    nearest, distance = updated_nearest(x, candidates, clusters.version[x], clusters, rows)
    read = nearest < 0
    if read:
        read_row(rows, x, clusters.formed[x], pending, merges, row, weights)
        nearest, distance = find_candidates(row, 0, row.size, x, candidates)
    clusters.version[x] = merges
    clusters.nearest[x], clusters.distance[x] = nearest, distance
    return int(read)


@kernel(error_model="numpy")
def follow_chain(
    rows, clusters, pending, candidates, merges, enough, size, leaf, free_rows, pairs, heights
):  # fmt: skip
    """Merge one pair after another along the nearest-neighbour chain, up to ``enough`` merges.

    It searches about three rows for a merge, whatever the data. Batches may search all rows: where
    one cluster is the nearest of all others and merges, every other one loses its nearest. Args as
    in `record` and `find_nearest`. The linkages along the chain decrease strictly, so it ends.
    """
    n, kind = rows.slot.size, rows.psi.dtype
    row, weights = np.empty(n, kind), np.empty(n if rows.rule >= LINEAR else 1, kind)
    chain = np.empty(n + 1, np.int64)
    links = first = 0
    while merges < enough:
        if links == 0:
            while not clusters.alive[first]:
                first += 1
            chain[0] = first
            links = 1
        x = chain[links - 1]
        _find_nearest_of(x, rows, clusters, pending, merges, candidates, row, weights)
        if links == 1 or clusters.distance[x] < clusters.distance[chain[links - 2]]:
            chain[links] = clusters.nearest[x]
            links += 1
            continue
        # x and its predecessor are nearest to each other (at a tie, the predecessor is preferred).
        y = chain[links - 2]
        links -= 2
        pending.kept[merges], pending.gone[merges] = min(x, y), max(x, y)
        record(rows, clusters, pending, merges, merges + 1, size, leaf, free_rows, pairs, heights)
        merge_pairs(rows, clusters, pending, candidates, merges, merges + 1)
        merges += 1
