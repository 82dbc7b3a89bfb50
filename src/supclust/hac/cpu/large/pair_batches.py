"""Batches of pairs, merged side by side, each in rows of its own.

Two clusters that are each other's nearest stay so whatever else merges, because the linkage is
reducible; so all such pairs may merge at once. Few rows are read before they merge: of the few
nearest clusters of each (`_few`) one is nearly always left.

The order of the merges in a batch is that of the notes: to a row are applied those before its own
merge, whether they have been carried out by then or not. So the numbers do not depend on the
threads, and the linkage of two new clusters is the same, bit for bit, in both rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from supclust.hac.cpu.large.neighbour_candidates import find_few, nearest_still
from supclust.hac.cpu.large.pending_merges import fetch_row
from supclust.hac.cpu.merge_rules import merge_rows
from supclust.hac.cpu.simd.streaming_store import settle, write_row
from supclust.hac.family import LINEAR


@njit(cache=True, nogil=True, error_model="numpy")
def choose_pairs(clusters, noted, merges, most):
    """Note up to ``most`` pairs of clusters that are nearest to each other; returns all merges.

    All nearest are known. At ties a cluster may have other nearest ones than the one that has it;
    a pair of the smallest linkage of all is always found.
    """
    taken = np.zeros(clusters.alive.size, np.bool_)
    start = merges
    for x in range(taken.size):
        y = clusters.nearest[x]
        if not clusters.alive[x] or taken[x] or taken[y]:
            continue
        if clusters.distance[x] <= clusters.distance[y]:
            taken[x] = taken[y] = True
            noted.kept[merges], noted.gone[merges] = min(x, y), max(x, y)
            merges += 1
            if merges - start == most:
                break
    noted.end[start:merges] = merges
    return merges


@njit(cache=True, nogil=True, error_model="numpy")
def record(rows, clusters, noted, start, stop, size, leaf, vacant, pairs, heights):
    """Write down merges ``start`` to ``stop``, and choose their rows.

    Args:
        rows: Not changed.
        clusters: Updated.
        noted: Gets the shares and rows of these merges.
        start: First merge.
        stop: One past the last.
        size: Points of each cluster; updated.
        leaf: A point of each cluster.
        vacant: Rows that nobody uses, behind their number.
        pairs: Output: a point of either side of each merge.
        heights: Output.
    """
    for t in range(start, stop):
        u, v = noted.kept[t], noted.gone[t]
        pairs[t, 0], pairs[t, 1] = leaf[u], leaf[v]
        heights[t] = clusters.distance[u]
        noted.share[t] = size[v] / (size[u] + size[v])
        size[u] += size[v]
        clusters.alive[v] = False
        clusters.into[v] = u
        noted.slot[t] = max(rows.slot[u], rows.slot[v])
        if noted.slot[t] < 0:
            noted.slot[t] = vacant[vacant[0]]
            vacant[0] -= 1
    # Rows that are left may be written in the next batch, but are read in this one.
    for t in range(start, stop):
        left = min(rows.slot[noted.kept[t]], rows.slot[noted.gone[t]])
        if left >= 0:
            vacant[0] += 1
            vacant[vacant[0]] = left


@njit(cache=True, nogil=True, error_model="numpy")
def merge_pairs(rows, clusters, noted, few, start, stop):
    """Carry out the noted merges ``start`` to ``stop``, and find what is nearest to their clusters.

    ``noted`` has the merges of the whole batch; those of this part are nobody else's.
    """
    n, kind = rows.slot.size, rows.psi.dtype
    wide = n if rows.form >= LINEAR else 1
    row, weights = np.empty(n, kind), np.empty(wide, kind)
    other, other_weights = np.empty(n, kind), np.empty(wide, kind)
    lists = np.empty((4, n), kind)
    for t in range(start, stop):
        u, v, r = noted.kept[t], noted.gone[t], np.int64(noted.slot[t])
        fetch_row(rows, u, clusters.born[u], noted, t, row, weights, lists)
        fetch_row(rows, v, clusters.born[v], noted, t, other, other_weights, lists)
        merge_rows(rows.form, row, weights, other, other_weights, noted.share[t], rows.alpha)
        row[u] = row[v] = rows.dead
        write_row(row, rows.psi[r], n)
        if rows.form >= LINEAR:
            write_row(weights, rows.weight[r], n)
        rows.slot[u] = r
        clusters.born[u] = clusters.found[u] = t + 1
        clusters.nearest[u], clusters.distance[u] = find_few(row, 0, n, u, few)
    settle()


@njit(cache=True, nogil=True, error_model="numpy")
def find_nearest(rows, clusters, noted, merges, few, start, stop):
    """Find the nearest of clusters ``start`` to ``stop`` where it has merged, after all merges.

    Returns:
        How many rows had to be read.
    """
    n, kind = rows.slot.size, rows.psi.dtype
    row, weights = np.empty(n, kind), np.empty(n if rows.form >= LINEAR else 1, kind)
    lists = np.empty((4, n), kind)
    read = 0
    for x in range(start, stop):
        if clusters.alive[x]:
            read += _find_nearest_of(x, rows, clusters, noted, merges, few, row, weights, lists)
    return read


@njit(cache=True, nogil=True, error_model="numpy")
def _find_nearest_of(x, rows, clusters, noted, merges, few, row, weights, lists):
    """As `find_nearest`, of one cluster; ``row``, ``weights`` and ``lists`` are scratch."""
    y = clusters.nearest[x]
    if clusters.alive[y] and clusters.born[y] <= clusters.found[x]:
        return 0
    nearest, distance = nearest_still(
        x, few, clusters.found[x], clusters.alive, clusters.into, clusters.born, rows.psi, rows.slot
    )
    read = nearest < 0
    if read:
        fetch_row(rows, x, clusters.born[x], noted, merges, row, weights, lists)
        nearest, distance = find_few(row, 0, row.size, x, few)
    clusters.found[x] = merges
    clusters.nearest[x], clusters.distance[x] = nearest, distance
    return int(read)


@njit(cache=True, nogil=True, error_model="numpy")
def chase(rows, clusters, noted, few, merges, enough, size, leaf, vacant, pairs, heights):
    """Merge one pair after another along the nearest-neighbour chain, up to ``enough`` merges.

    All in all it searches about three rows for a merge, whatever the data. After a batch it may be
    all rows: where one cluster is nearest to everybody, and merges, nobody has a nearest one left.
    Args as in `record` and `find_nearest`. The distances along the chain fall strictly, so it ends.
    """
    n, kind = rows.slot.size, rows.psi.dtype
    row, weights = np.empty(n, kind), np.empty(n if rows.form >= LINEAR else 1, kind)
    lists = np.empty((4, n), kind)
    chain = np.empty(n + 1, np.int64)
    links = first = 0
    while merges < enough:
        if links == 0:
            while not clusters.alive[first]:
                first += 1
            chain[0] = first
            links = 1
        x = chain[links - 1]
        _find_nearest_of(x, rows, clusters, noted, merges, few, row, weights, lists)
        if links == 1 or clusters.distance[x] < clusters.distance[chain[links - 2]]:
            chain[links] = clusters.nearest[x]
            links += 1
            continue
        # x and its predecessor are nearest to each other (at a tie, the predecessor is preferred).
        y = chain[links - 2]
        links -= 2
        noted.kept[merges], noted.gone[merges] = min(x, y), max(x, y)
        noted.end[merges] = merges + 1
        record(rows, clusters, noted, merges, merges + 1, size, leaf, vacant, pairs, heights)
        merge_pairs(rows, clusters, noted, few, merges, merges + 1)
        merges += 1
