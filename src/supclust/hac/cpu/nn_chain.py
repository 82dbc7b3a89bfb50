"""The nearest-neighbour chain on one matrix, and the trees that fit the cache.

A merge rewrites one row. The other rows are brought up to date when they are read next: for every
cluster formed since, one number is copied from that cluster's row. That is a quarter of the memory
traffic of writing the column at once, and no arithmetic. When about half of the clusters are gone,
the matrix is compacted.

Matrices are flat and rows are offsets, because a slice costs Numba more than the search of a short
row. Offsets are unsigned, because a signed index is tested for being negative.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from supclust.hac.cpu.merge_rules import (
    merge_points,
    merge_rows,
    merge_with_point,
    settings,
)
from supclust.hac.cpu.prim import prim
from supclust.hac.cpu.simd.argmin import argmin_beyond
from supclust.hac.family import LINEAR, LOG
from supclust.kernels import kernel

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]

_COMPACT_FROM = 32  # clusters below which a smaller matrix gains nothing
_ALIGNED = 16  # numbers, at a multiple of which weights begin


@register_jitable(inline="always")
def numbers_needed(n: int, weighted: bool) -> int:
    """Return how many numbers the workspace of a tree of n points holds; see `split_workspace`."""
    return -(-n * n // _ALIGNED) * _ALIGNED + (n if weighted else 1) * n


@register_jitable(inline="always")
def split_workspace(workspace: Floats, n: int, weighted: bool) -> tuple[Floats, Floats]:
    """Return an (n, n) matrix of linkages and one of weights; without weights, of one row."""
    start = -(-n * n // _ALIGNED) * _ALIGNED
    rows = n if weighted else 1
    return workspace[: n * n].reshape(n, n), workspace[start : start + rows * n].reshape(rows, n)


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
        nn_chain(
            rule,
            psi,
            weight,
            alpha_in,
            centre,
            np.ones(n, np.int32),
            np.arange(n),
            pairs,
            heights,
        )


@kernel(error_model="numpy")
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
    one, far = kind.type(1.0), kind.type(np.finfo(kind).max / 4)
    barrier = np.zeros(n, kind)  # ``far`` for clusters that are gone: added before a search
    # Versions are numbers of merges.
    formed = np.zeros(n, np.int32)  # when a cluster was formed; -1 once it is gone
    row_version = np.zeros(n, np.int32)  # merges that are applied to a row of linkages
    weight_version = np.full(n, -1, np.int32)  # the same of its weights; -1 for a single point
    nearest = np.full(n, -1, np.int32)
    distance = np.empty(n, kind)
    nearest_version = np.zeros(n, np.int32)  # merges when the nearest was searched
    weight_row = np.full(n, -1, np.int32)
    free_rows = np.empty(n, np.int32)  # unused rows of weights, the next one last
    free = 0
    # Weights of two points to clusters; in columns that are gone any number but NaN.
    known = np.ones(2 * n if rule == LINEAR else 0, kind)
    chain = np.empty(n + 1, np.uint64)
    recent = np.empty(n, np.uint32)  # merged clusters in the order of their forming, some outdated
    recent_version = np.empty(n, np.int32)
    top = 0
    for i in range(n):
        psi[i * n + i] = far
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
            columns = np.flatnonzero(barrier[:width] == 0).astype(np.uint64)
            column = np.full(width, -1, np.int32)
            for c in range(alive):
                column[columns[c]] = c
            top = _drop_outdated(formed, recent, recent_version, top)
            _compact(psi, width, columns, columns)
            if rule >= LINEAR:
                used = _compact_weight_rows(weight_row, size, columns, free_rows)
                free = alive - used.size
                _compact(weight, width, used, columns)
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
                _update_row(psi, width, x, row_version[x], recent, recent_version, top)
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
            _update_row(psi, width, r, row_version[r], recent, recent_version, top)
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
                    _update_weights(
                        weight, weight_row, width, r, weight_version[r], recent, recent_version, top
                    )
            if rule == LOG or (size[u] > 1 and size[v] > 1):
                ours, theirs = np.uint64(weight_row[u]) * width, np.uint64(weight_row[v]) * width
                merge_rows(
                    rule,
                    psi,
                    into,
                    psi,
                    other,
                    weight,
                    ours,
                    weight,
                    theirs,
                    width,
                    one,
                    alpha,
                )
                free_rows[free] = weight_row[v]
                free += 1
            elif size[u] > 1 or size[v] > 1:
                p, q = (u, v) if size[u] == 1 else (v, u)
                _gather_weights(weight, weight_row, width, p, known, recent, top)
                weight_row[u] = weight_row[q]
                ours = np.uint64(weight_row[u]) * width
                merge_with_point(
                    psi, into, other, p == u, weight, ours, known, width, size, alpha, centre
                )
            else:
                _gather_weights_of_two(weight, weight_row, width, u, v, known, recent, top)
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
            top = _drop_outdated(formed, recent, recent_version, top)
        recent[top] = u
        recent_version[top] = merges + 1
        top += 1


@kernel(error_model="numpy")
def _update_row(flat, width, x, version, recent, recent_version, top):
    """Copy into row x its linkages to the clusters formed after ``version``, from their rows.

    For clusters that are gone or have merged again, it copies what is never read, or the same
    number twice.
    """
    row = x * width
    i = top
    while i > 0 and recent_version[i - 1] > version:
        i -= 1
        u = np.uint64(recent[i])
        flat[row + u] = flat[u * width + x]


@kernel(error_model="numpy")
def _update_weights(flat, weight_row, width, x, version, recent, recent_version, top):
    """As `_update_row` for the weights, whose rows are in ``weight_row``."""
    row = np.uint64(weight_row[x]) * width
    i = top
    while i > 0 and recent_version[i - 1] > version:
        i -= 1
        u = recent[i]
        flat[row + np.uint64(u)] = flat[np.uint64(weight_row[u]) * width + x]


@kernel(error_model="numpy")
def _gather_weights(flat, weight_row, width, x, known, recent, top):
    """Write the weights of x, a single point, to all merged clusters to ``known``."""
    for i in range(top):
        u = np.uint64(recent[i])
        known[u] = flat[np.uint64(weight_row[u]) * width + x]


@kernel(error_model="numpy")
def _gather_weights_of_two(flat, weight_row, width, x, z, known, recent, top):
    """As `_gather_weights`; those of z follow at ``known[width:]``."""
    for i in range(top):
        u = np.uint64(recent[i])
        row = np.uint64(weight_row[u]) * width
        known[u] = flat[row + x]
        known[width + u] = flat[row + z]


@kernel(error_model="numpy")
def _any_other(barrier, x):
    """A cluster other than x, for a row of NaN: the tree is wrong then, but the kernel ends."""
    y = 0
    while y == x or barrier[y] != 0:
        y += 1
    return y


@kernel(error_model="numpy")
def _drop_outdated(formed, recent, recent_version, top):
    """Remove clusters that are gone or have merged again; returns how many are left."""
    kept = np.uint64(0)
    for i in range(np.uint64(top)):
        u, at = recent[i], recent_version[i]
        recent[kept] = u  # always: a branch would be mispredicted every other time
        recent_version[kept] = at
        kept += np.uint64(formed[u] == at)
    return np.int64(kept)


@kernel(error_model="numpy")
def _compact(flat, width, rows, columns):
    """Keep the rows and columns listed, both ascending, in the same memory.

    Every number moves forward or stays, so none is overwritten before it is read.
    """
    m = np.uint64(columns.size)
    for r in range(np.uint64(rows.size)):
        row = rows[r] * width
        for c in range(m):
            flat[r * m + c] = flat[row + columns[c]]


@kernel(error_model="numpy")
def _compact_weight_rows(weight_row, size, columns, free_rows):
    """Return the rows of weights in use, ascending, and renumber ``weight_row`` by new columns."""
    owner = np.full(weight_row.size, -1, np.int32)
    for c in range(columns.size):
        k = columns[c]
        weight_row[c], row = -1, weight_row[k]
        if size[k] > 1:
            owner[row] = c
    used = np.empty(columns.size, np.uint64)
    count = 0
    for row in range(owner.size):
        if owner[row] >= 0:
            used[count] = row
            weight_row[owner[row]] = count
            count += 1
    for row in range(count, columns.size):
        free_rows[columns.size - 1 - row] = row
    return used[:count]
