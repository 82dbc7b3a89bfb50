"""Rows that do not know of later merges, and the notes from which they learn of them.

A merge of u and v writes one new row and is otherwise only noted: writing column u into every other
row would touch one cache line per row. Whoever reads a row applies to a copy of it the merges that
came after it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from supclust.hac.cpu.merge_rules import merge_lists, weigh
from supclust.hac.family import LINEAR


class Rows(NamedTuple):
    """Where the rows of n clusters stand.

    Attributes:
        form: How linkages merge (`_rows`).
        alpha: Of the family.
        centre: Of the weights.
        dead: A number above every linkage, for the diagonal and for columns that are gone.
        base: (n, >= n) linkages before any merge; the diagonal may be anything. Only read.
        base_weight: Their weights (`LINEAR`, `LOG`); (0, 0) for single points, which get them when
            they are read.
        psi: (rows, >= n) linkages of clusters that have merged since.
        weight: Their weights, or anything 2-d.
        slot: (n,) int32 where those stand, -1 for clusters as they were.
    """

    form: Any
    alpha: Any
    centre: Any
    dead: Any
    base: Any
    base_weight: Any
    psi: Any
    weight: Any
    slot: Any


class Noted(NamedTuple):
    """Merges that most rows do not know of: v = gone into u = kept.

    Attributes:
        kept: (n,) uint32 the surviving columns u.
        gone: (n,) uint32 the columns v that died.
        share: (n,) |v| / (|u| + |v|).
        end: (n,) int32 where the batch of each merge ends.
        slot: (n,) int32 row of the new cluster.
    """

    kept: Any
    gone: Any
    share: Any
    end: Any
    slot: Any


class Clusters(NamedTuple):
    """The clusters of a matrix; numbers of merges count from when it was made.

    Attributes:
        alive: (n,) bool which are still there.
        into: (n,) int32 what those that are not merged into.
        born: (n,) int32 number of merges when each got its present form, and its row.
        found: (n,) int32 number of merges that its few nearest know of.
        nearest: (n,) int32 the nearest.
        distance: (n,) linkage to it.
    """

    alive: Any
    into: Any
    born: Any
    found: Any
    nearest: Any
    distance: Any


def all_alive(nearest: Any, distance: Any) -> Clusters:
    """Return the clusters of a new matrix."""
    into, born, found = np.zeros((3, len(nearest)), np.int32)
    return Clusters(np.ones(len(nearest), np.bool_), into, born, found, nearest, distance)


def nothing_noted(n: int, kind: np.dtype[np.generic]) -> Noted:
    """Return room for the merges of n clusters."""
    kept, gone = np.empty((2, n), np.uint32)
    end, slot = np.empty((2, n), np.int32)
    return Noted(kept, gone, np.empty(n, kind), end, slot)


@njit(cache=True, nogil=True, error_model="numpy")
def fetch_row(rows, x, since, noted, until, row, weights, lists):
    """Copy the row of cluster x and apply the noted merges ``since`` to ``until`` to its columns.

    Merges of a batch have no column in common: they are listed, and lists merge by vectors.

    Args:
        rows: See there.
        x: The cluster.
        since: First merge after its row was written.
        noted: See there.
        until: One past the last merge to apply.
        row: (n,) output.
        weights: (n,) output, or anything 1-d.
        lists: Scratch of the row's type, (4, at least n / 2).
    """
    form, n = rows.form, row.size
    r = np.int64(rows.slot[x])
    source = rows.base[x] if r < 0 else rows.psi[r]
    for i in range(n):
        row[i] = source[i]
    if form >= LINEAR and r < 0 and rows.base_weight.size == 0:
        row[x] = rows.centre
        weigh(form, row, 0, weights, 0, n, rows.alpha, rows.centre)
    elif form >= LINEAR:
        source = rows.base_weight[x] if r < 0 else rows.weight[r]
        for i in range(n):
            weights[i] = source[i]
    row[x] = rows.dead
    start = since
    while start < until:
        stop = min(noted.end[start], until)
        count = stop - start
        few = count if form >= LINEAR else 0
        kept, gone = noted.kept[start:stop], noted.gone[start:stop]
        u, v, w_u, w_v = lists[0, :count], lists[1, :count], lists[2, :few], lists[3, :few]
        for t in range(count):
            k, g = kept[t], gone[t]
            u[t], v[t] = row[k], row[g]
            row[g] = rows.dead
            if few > 0:
                w_u[t], w_v[t] = weights[k], weights[g]
        merge_lists(form, u, w_u, v, w_v, noted.share[start:stop], rows.alpha)
        for t in range(count):
            k = kept[t]
            row[k] = u[t]
            if few > 0:
                weights[k] = w_u[t]
        start = stop
