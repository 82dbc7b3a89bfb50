"""The nearest-neighbour chain on one matrix, and the trees that fit the cache.

A merge rewrites one row. The other rows are brought up to date when they are read next
(`chain_rows`). When about half of the clusters are gone, the matrix is compacted.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from supclust.hac.cpu.chain_rows import (
    compact,
    compact_weight_rows,
    drop_outdated,
    gather_weights,
    gather_weights_of_two,
    update_row,
    update_weights,
)
from supclust.hac.cpu.merge_rules import merge_points, merge_rows, merge_with_point, settings
from supclust.hac.cpu.prim import prim
from supclust.hac.cpu.simd.argmin import argmin_beyond
from supclust.hac.family import LINEAR, LOG
from supclust.kernels import kernel

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]

_FAR_SINGLE = float(np.finfo(np.float32).max) / 4
_FAR_DOUBLE = float(np.finfo(np.float64).max) / 4
_COMPACT_FROM = 32  # clusters below which a smaller matrix gains nothing


@register_jitable(inline="always")
def merge_all(
    psi: Floats, weight: Floats, alpha: float, low: float, high: float, pairs: Ints,
    heights: Floats,
) -> None:  # fmt: skip
    """Merge the points of a matrix to the root, destroying it.

    Args:
        psi: (n, n) dissimilarities between ``low`` and ``high``, exactly symmetric, finite.
        weight: See `split_workspace`.
        alpha: Member of the family, -inf to inf, within the matrix's float type.
        low: Smallest dissimilarity.
        high: Largest.
        pairs: (n - 1, 2) output: a point of either side of each merge.
        heights: (n - 1,) output; not sorted.
    """
    if alpha == -np.inf:
        prim(psi, pairs, heights)
    else:
        n = psi.shape[0]
        rule, alpha_in, centre = settings(psi, alpha, low, high)
        size, leaf = np.ones(n, np.int32), np.arange(n)
        nn_chain(rule, psi, weight, alpha_in, centre, size, leaf, pairs, heights)


@kernel
def nn_chain(rule, psi_rows, weight_rows, alpha, centre, size, leaf, pairs, heights):
    """Build the tree of a matrix along the nearest-neighbour chain, destroying the matrix.

    Args:
        rule: Weight representation (`hac.family`).
        psi_rows: (n, n) linkages of n clusters, exactly symmetric, finite off the diagonal.
        weight_rows: (n, n) weights (`LINEAR`, `LOG`) of clusters of two points or more, or one
            row. The weights of a single point are computed when it merges, since half of all pairs
            need a weight once and the rest never. New rows reuse the row that was freed last,
            which is still in the cache.
        alpha: Of the weights.
        centre: Of the weights.
        size: (n,) int32 points of each cluster; updated.
        leaf: (n,) a point of each cluster; updated.
        pairs: (n - 1, 2) output: a point of either side of each merge.
        heights: (n - 1,) output.

    The linkages along the chain decrease strictly, so it ends, whatever the input.
    """
    n = psi_rows.shape[0]
    psi, weight = psi_rows.reshape(-1), weight_rows.reshape(-1)
    kind = psi.dtype
    one, far = kind.type(1.0), kind.type(_FAR_SINGLE if psi.itemsize == 4 else _FAR_DOUBLE)
    barrier = np.empty(n, kind)  # ``far`` for clusters that are gone: added before a search
    # Versions are numbers of merges.
    formed = np.empty(n, np.int32)  # when a cluster was formed; -1 once it is gone
    row_version = np.empty(n, np.int32)  # merges that are applied to a row of linkages
    weight_version = np.empty(n, np.int32)  # the same of its weights; -1 for a single point
    nearest = np.empty(n, np.int32)
    distance = np.empty(n, kind)
    nearest_version = np.empty(n, np.int32)  # merges when the nearest was searched
    weight_row = np.empty(n, np.int32)
    free_rows = np.empty(n, np.int32)  # unused rows of weights, the next one last
    free = 0
    # Weights of two points to clusters; in columns that are gone any number but NaN.
    known = np.empty(2 * n if rule == LINEAR else 0, kind)
    for i in range(known.size):
        known[i] = one
    chain = np.empty(n + 1, np.uint64)
    recent = np.empty(n, np.uint32)  # merged clusters in the order of their forming, some outdated
    recent_version = np.empty(n, np.int32)
    top = np.int64(0)
    for i in range(n):
        psi[i * n + i] = far
        barrier[i] = 0
        formed[i] = row_version[i] = nearest_version[i] = 0
        nearest[i] = weight_row[i] = weight_version[i] = -1
        if size[n - 1 - i] == 1:
            free_rows[free] = n - 1 - i
            free += 1
        if size[i] > 1:
            weight_row[i] = i
            weight_version[i] = 0
            recent[top] = i
            recent_version[top] = 0
            top += 1
    current = top  # how many of ``recent`` are not outdated
    links = 0
    first = np.uint64(0)
    alive = n
    width = np.uint64(n)
    for merges in range(n - 1):
        if alive >= _COMPACT_FROM and 2 * alive <= width:
            columns, column = np.empty(alive, np.uint64), np.empty(np.int64(width), np.int32)
            c = 0
            for k in range(width):
                column[k] = -1
                if barrier[k] == 0:
                    columns[c] = k
                    column[k] = c
                    c += 1
            top = drop_outdated(formed, recent, recent_version, top)
            compact(psi, width, columns, columns)
            if rule >= LINEAR:
                used = compact_weight_rows(weight_row, size, columns, free_rows)
                free = alive - used.size
                compact(weight, width, used, columns)
            for c in range(alive):
                k = columns[c]
                size[c], leaf[c], formed[c], distance[c] = size[k], leaf[k], formed[k], distance[k]
                row_version[c], weight_version[c] = row_version[k], weight_version[k]
                nearest_version[c] = nearest_version[k]
                nearest[c] = column[nearest[k]] if nearest[k] >= 0 else -1
                barrier[c] = 0
            for i in range(links):
                if column[chain[i]] < 0:
                    links = 0  # see below
                    break
                chain[i] = column[chain[i]]
            for i in range(top):
                recent[i] = column[recent[i]]
            first = np.uint64(0)
            width = np.uint64(alive)
        while True:
            if links == 0:
                while barrier[first] != 0:
                    first += np.uint64(1)
                chain[0] = first
                links = 1
            x = chain[links - 1]
            y = nearest[x]
            at = formed[max(y, 0)]
            if (y < 0) | (at < 0) | (at > nearest_version[x]):
                update_row(psi, width, x, row_version[x], recent, recent_version, top)
                row_version[x] = merges
                y = argmin_beyond(psi, x * width, width, barrier)
                if np.uint64(y) == x or barrier[y] != 0:
                    y = _any_other(barrier, x)
                nearest[x] = y
                nearest_version[x] = merges
                distance[x] = psi[x * width + np.uint64(y)]
            # Written so that it ends even with NaN: x and its predecessor are nearest to each other
            # (preferred at a tie).
            if links > 1 and not distance[x] < distance[chain[links - 2]]:
                if formed[x] >= 0 and formed[chain[links - 2]] >= 0:
                    break
                links = 0  # only an asymmetric matrix leaves a removed cluster in the chain
                continue
            chain[links] = y
            links += 1
        z = chain[links - 2]
        links -= 2
        u = max(x, z)  # the surviving column, as in SciPy and fastcluster: the same order of ties
        v = min(x, z)
        pairs[merges, 0] = leaf[u]
        pairs[merges, 1] = leaf[v]
        heights[merges] = distance[x]
        into, other = u * width, v * width
        for r in (u, v):
            update_row(psi, width, r, row_version[r], recent, recent_version, top)
        if rule < LINEAR:
            share = kind.type(size[v] / (size[u] + size[v]))
            merge_rows(rule, psi, into, psi, other, weight, into, weight, other, width, share, one)
        else:
            for r in (u, v):
                if rule == LOG and size[r] == 1:
                    free -= 1
                    weight_row[r] = free_rows[free]
                    ours = np.uint64(weight_row[r]) * width
                    for i in range(width):
                        weight[ours + i] = 0
                if rule == LOG or size[r] > 1:
                    update_weights(
                        weight, weight_row, width, r, weight_version[r], recent, recent_version, top
                    )
            if rule == LOG or (size[u] > 1 and size[v] > 1):
                ours, theirs = np.uint64(weight_row[u]) * width, np.uint64(weight_row[v]) * width
                merge_rows(
                    rule, psi, into, psi, other, weight, ours, weight, theirs, width, one, alpha
                )
                free_rows[free] = weight_row[v]
                free += 1
            elif size[u] > 1 or size[v] > 1:
                p, q = (u, v) if size[u] == 1 else (v, u)
                gather_weights(weight, weight_row, width, p, known, recent, top)
                weight_row[u] = weight_row[q]
                ours = np.uint64(weight_row[u]) * width
                merge_with_point(
                    psi, into, other, p == u, weight, ours, known, width, size, alpha, centre
                )
            else:
                gather_weights_of_two(weight, weight_row, width, u, v, known, recent, top)
                free -= 1
                weight_row[u] = free_rows[free]
                ours = np.uint64(weight_row[u]) * width
                merge_points(psi, into, other, weight, ours, known, width, size, alpha, centre)
            weight[ours + u] = weight[ours + v] = one  # of no pair, but must not become NaN
        psi[into + u] = psi[into + v] = far
        current += 1 - (size[u] > 1) - (size[v] > 1)
        size[u] += size[v]
        barrier[v] = far
        formed[v] = -1
        formed[u] = row_version[u] = weight_version[u] = merges + 1
        nearest[u] = -1
        alive -= 1
        if top >= min(n, current + current // 8 + 4):
            top = drop_outdated(formed, recent, recent_version, top)
        recent[top] = u
        recent_version[top] = merges + 1
        top += 1


@kernel
def _any_other(barrier, x):
    """A cluster other than x, for a row of NaN: the tree is wrong then, but the kernel ends."""
    y = 0
    while y == x or barrier[y] != 0:
        y += 1
    return y
