"""The nearest-neighbour chain for a matrix that stays in the processor's cache.

There, writing a column is cheap, so rows are kept up to date at once, and the last cluster moves
into the place of the one that died: the matrix is always compact.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from supclust.hac._rows import LINEAR, merge_rows, row_argmin, weigh_row


@njit(cache=True, nogil=True, error_model="numpy")
def _fold(psi, u, v, last, dead):
    """Spread the merged row u to its column, and move cluster ``last`` into the place of v."""
    row_u = psi[u, : last + 1]
    row_v = psi[v, : last + 1]
    row_v[:] = psi[last, : last + 1]
    row_v[u] = row_u[last]
    row_u[v] = row_u[last]
    row_u[u] = dead
    row_v[v] = dead
    for k in range(last):
        psi[k, u] = row_u[k]
        psi[k, v] = row_v[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _weigh_point(form, psi, weight, x, count, alpha, centre, merged, scratch):
    """Write the weights of a single point x, put off until it merges.

    Only merged clusters keep a row of weights, so half of all pairs are weighed once, the rest
    never.
    """
    weigh_row(form, psi[x, :count], alpha, centre, weight[x, :count], scratch[:count])
    for k in merged:
        weight[x, k] = weight[k, x]


@njit(cache=True, nogil=True, error_model="numpy")
def _fold_weights(weight, u, v, last, last_merged, merged):
    """Do to the weights what `_fold` does to the linkages, for the merged clusters."""
    weight_u = weight[u]
    for k in merged:
        weight[k, u] = weight_u[k]
        weight[k, v] = weight[k, last]
    if last_merged:
        weight[v, :last] = weight[last, :last]
        weight[v, u] = weight_u[last]
    weight_u[v] = weight_u[last]


@njit(cache=True, nogil=True, error_model="numpy")
def _update_merged(merged, count, u, v, last):
    """List u as a merged cluster, drop v, and rename ``last`` to v; returns how many there are."""
    kept = 0
    for i in range(count):
        k = merged[i]
        if k != u and k != v:
            merged[kept] = v if k == last else k
            kept += 1
    merged[kept] = u
    return kept + 1


@njit(cache=True, nogil=True, error_model="numpy")
def chain_in_cache(form, psi, weight, alpha, centre, size, leaf, pairs, heights):
    """Build the tree of a small matrix, destroying it.

    Args:
        form: How linkages merge (`_rows`).
        psi: (n, n) linkages of n clusters, exactly symmetric, finite off the diagonal.
        weight: (n, n) weights (`LINEAR`, `LOG`) of clusters of two points or more, or one row.
        alpha: Of the weights.
        centre: Of the weights.
        size: (n,) int32 points of each cluster; updated.
        leaf: (n,) a point of each cluster; updated.
        pairs: (n - 1, 2) output: a point of either side of each merge.
        heights: (n - 1,) output.

    The distances along the chain fall strictly, so it ends, whatever the input.
    """
    n = psi.shape[0]
    kind = psi.dtype
    dead = kind.type(np.finfo(kind).max / 4)
    scratch = np.empty(n, kind)
    merged = np.empty(n, np.int32)  # the clusters of two points or more
    rows = 0
    for i in range(n):
        psi[i, i] = dead
        if size[i] > 1:
            merged[rows] = i
            rows += 1
    unknown = np.int32(-1)
    nearest = np.full(n, unknown, np.int32)
    distance = np.empty(n, kind)
    chain = np.empty(n + 1, np.int32)
    link_of = np.full(n, -1, np.int32)  # where a cluster stands in the chain
    links = 0
    for merges in range(n - 1):
        last = np.int32(n - 1 - merges)
        while True:
            if links == 0:
                chain[0] = 0
                link_of[0] = 0
                links = 1
            x = chain[links - 1]
            if nearest[x] < 0:
                nearest[x] = row_argmin(psi[x], last + 1)
                distance[x] = psi[x, nearest[x]]
            if links > 1 and distance[x] >= distance[chain[links - 2]]:
                break  # x and its predecessor are nearest to each other (preferred at a tie)
            chain[links] = nearest[x]
            link_of[nearest[x]] = links
            links += 1
        y = chain[links - 2]
        links -= 2
        u = np.int32(min(x, y))
        v = np.int32(max(x, y))
        pairs[merges, 0] = leaf[u]
        pairs[merges, 1] = leaf[v]
        heights[merges] = distance[x]
        count = last + 1
        weighted = form >= LINEAR
        if weighted:
            for r in (u, v):
                if size[r] == 1:
                    _weigh_point(form, psi, weight, r, count, alpha, centre, merged[:rows], scratch)
        weight_u = weight[u if weighted else 0, :count]
        weight_v = weight[v if weighted else 0, :count]
        share = kind.type(size[v] / (size[u] + size[v]))
        merge_rows(form, psi[u, :count], weight_u, psi[v, :count], weight_v, share, alpha)
        _fold(psi, u, v, last, dead)
        if weighted:
            _fold_weights(weight, u, v, last, size[last] > 1, merged[:rows])
            rows = _update_merged(merged, rows, u, v, last)
        size[u] += size[v]
        size[v] = size[last]
        leaf[v] = leaf[last]
        nearest[v] = nearest[last]
        distance[v] = distance[last]
        for k in range(last):
            near = nearest[k]
            near = unknown if near == u else near
            near = unknown if near == v else near
            nearest[k] = v if near == last else near
        nearest[u] = -1
        link_of[u] = -1
        link_of[v] = -1
        if v != last and 0 <= link_of[last] < links and chain[link_of[last]] == last:
            chain[link_of[last]] = v
            link_of[v] = link_of[last]
