"""Rows without later merges, and the pending merges that are applied when a row is read.

A merge of u and v writes one new row and is otherwise only listed: writing column u into every
other row would touch one cache line per row. A reader of a row applies to its copy the merges that
came after the row was written.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supclust.hac.cpu.merge_rules import clamped_mean, merge_linear, merge_pair, point_weight
from supclust.hac.family import EXTREME, LINEAR, LOG, MEAN
from supclust.kernels import kernel


class Rows(NamedTuple):
    """The rows of n clusters.

    Attributes:
        rule: Weight representation (`hac.family`).
        alpha: Of the family.
        centre: Of the weights.
        far: A number above every linkage, for the diagonal and for columns that are gone.
        base: (n, >= n) linkages before any merge, with an undefined diagonal; read only.
        base_weight: Their weights (`LINEAR`, `LOG`); (0, 0) for single points, whose weights are
            computed when they are read.
        psi: (rows, >= n) linkages of clusters that have merged since.
        weight: Their weights, or any 2-d array.
        slot: (n,) int32 the rows of those, -1 for clusters that have not merged.
    """

    rule: Any
    alpha: Any
    centre: Any
    far: Any
    base: Any
    base_weight: Any
    psi: Any
    weight: Any
    slot: Any


class Pending(NamedTuple):
    """Merges that are not applied to most rows: v = gone into u = kept.

    Attributes:
        kept: (n,) uint32 the surviving columns u.
        gone: (n,) uint32 the removed columns v.
        share: (n,) |v| / (|u| + |v|).
        slot: (n,) int32 row of the new cluster.
    """

    kept: Any
    gone: Any
    share: Any
    slot: Any


class Clusters(NamedTuple):
    """The clusters of a matrix; versions are numbers of merges since it was written.

    Attributes:
        alive: (n,) bool which are still there.
        into: (n,) int32 what the others merged into.
        formed: (n,) int32 version at which each was formed, and its row was written.
        version: (n,) int32 version of its neighbour candidates.
        nearest: (n,) int32 the nearest.
        distance: (n,) linkage to it.
    """

    alive: Any
    into: Any
    formed: Any
    version: Any
    nearest: Any
    distance: Any


def new_clusters(nearest: Any, distance: Any) -> Clusters:
    """Return the clusters of a new matrix."""
    into, formed, version = np.zeros((3, len(nearest)), np.int32)
    return Clusters(np.ones(len(nearest), np.bool_), into, formed, version, nearest, distance)


def no_pending(n: int, kind: np.dtype[np.generic]) -> Pending:
    """Return space for n merges."""
    kept, gone = np.empty((2, n), np.uint32)
    return Pending(kept, gone, np.empty(n, kind), np.empty(n, np.int32))


@kernel(error_model="numpy")
def read_row(rows, x, since, pending, until, row, weights):
    """Copy the row of cluster x and apply the pending merges ``since`` to ``until`` to its columns.

    Args:
        rows: See there.
        x: The cluster.
        since: First merge after its row was written.
        pending: See there.
        until: One past the last merge to apply.
        row: (n,) output.
        weights: (n,) output, or any 1-d array without weights.
    """
    rule, one = rows.rule, row.dtype.type(1.0)
    r = np.int64(rows.slot[x])
    copy_row(rows.base[x] if r < 0 else rows.psi[r], row)
    row[x] = rows.centre
    if rule >= LINEAR and r < 0 and rows.base_weight.size == 0:
        weigh_row(rule, row, weights, row.size, rows.alpha, rows.centre)
    elif rule >= LINEAR:
        copy_row(rows.base_weight[x] if r < 0 else rows.weight[r], weights)
    row[x] = rows.far
    for t in range(since, until):
        k, g = pending.kept[t], pending.gone[t]
        if rule == EXTREME:
            row[k] = max(row[k], row[g])
        elif rule == MEAN:
            share = pending.share[t]
            row[k] = clamped_mean(row[k], one - share, row[g], share)
        elif rule == LINEAR:
            row[k], weights[k] = merge_linear(row[k], weights[k], row[g], weights[g], one)
        else:
            row[k], weights[k], _ = merge_pair(
                LOG, row[k], weights[k], row[g], weights[g], one, rows.alpha, one
            )
        row[g] = rows.far


@kernel
def copy_row(source, target):
    """Copy the first columns of a row."""
    for i in range(np.uint64(target.size)):
        target[i] = source[i]


@kernel
def weigh_row(rule, row, weights, length, alpha, centre):
    """Write the weights of single points to the first ``length`` columns (`point_weight`)."""
    if rule == LINEAR:
        for i in range(np.uint64(length)):
            weights[i] = point_weight(LINEAR, row[i], alpha, centre)
    else:
        weights[:length] = 0.0
