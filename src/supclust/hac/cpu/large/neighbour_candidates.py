"""Neighbour candidates: the nearest clusters of a row, found in one search.

Columns are dealt to 64 lanes, and every lane keeps its smallest value. What it does not keep is at
least its second smallest value, so the least of those bounds the rest of the row, and the lanes
below the bound hold the nearest clusters. By reducibility no linkage falls below the smaller of
those it was merged from. So while a candidate is within the bound, the nearest candidate is the
nearest of all clusters, however many have merged, and most rows need not be searched again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supclust.hac.cpu.simd.argmin import argmin
from supclust.kernels import kernel

MOST = 16  # candidates per cluster
_LANES = 64


class Candidates(NamedTuple):
    """Neighbour candidates of each of n clusters.

    Attributes:
        column: (n, MOST) int32 clusters.
        linkage: (n, MOST) to them.
        count: (n,) int32 how many.
        bound: (n,) lower bound on the linkage to all other clusters.
    """

    column: Any
    linkage: Any
    count: Any
    bound: Any


def new_candidates(n: int, kind: np.dtype[np.generic]) -> Candidates:
    """Return uninitialised candidates of n clusters."""
    column, linkage = np.empty((n, MOST), np.int32), np.empty((n, MOST), kind)
    return Candidates(column, linkage, np.empty(n, np.int32), np.empty(n, kind))


@kernel(error_model="numpy")
def lane_minima(row, start, stop, column, least, second):
    """Smallest value of every lane of ``row[start:stop]``, its column, and the second smallest.

    ``column``, ``least`` and ``second`` are (64,) outputs. At least 64 columns, no NaN.
    """
    column[:], least[:], second[:] = start, np.inf, np.inf
    start, lanes = np.uint64(start), np.uint64(_LANES)
    for begin in range(start, np.uint64(stop), lanes):
        for lane in range(min(lanes, np.uint64(stop) - begin)):
            value, known = row[begin + lane], least[lane]
            lower = value < known
            other = known if lower else value
            second[lane] = other if other < second[lane] else second[lane]
            least[lane] = value if lower else known
            column[lane] = begin + lane if lower else column[lane]


@kernel(error_model="numpy")
def find_candidates(row, start, stop, x, candidates):
    """Search a stretch of the row of cluster x for its candidates, replacing earlier ones.

    Returns:
        The nearest cluster and the linkage to it.
    """
    candidates.count[x], candidates.bound[x] = 0, np.inf
    return add_candidates(row, start, stop, x, candidates)


@kernel(error_model="numpy")
def add_candidates(row, start, stop, x, candidates):
    """Extend the candidates of cluster x by a further, non-empty stretch of its row, without NaN.

    Returns:
        As `find_candidates`.
    """
    bound = candidates.bound
    if stop - start < _LANES:
        nearest = start + argmin(row, start, stop - start)
        bound[x] = min(bound[x], row[nearest])
        _add(candidates, x, nearest, row[nearest])
    else:
        column = np.empty(_LANES, np.int32)
        least, second = np.empty(_LANES, row.dtype), np.empty(_LANES, row.dtype)
        lane_minima(row, start, stop, column, least, second)
        bound[x] = min(bound[x], second.min())
        for lane in range(_LANES):
            if least[lane] <= bound[x]:
                _add(candidates, x, column[lane], least[lane])
    return _nearest_candidate(candidates, x)


@kernel(error_model="numpy")
def _add(candidates, x, column, linkage):
    at = candidates.count[x]
    if at == MOST:  # the farthest is dropped, and bounds the rest
        at = candidates.linkage[x].argmax()
        farthest = candidates.linkage[x, at]
        candidates.bound[x] = min(candidates.bound[x], max(linkage, farthest))
        if linkage >= farthest:
            return
    else:
        candidates.count[x] += 1
    candidates.column[x, at], candidates.linkage[x, at] = column, linkage


@kernel(error_model="numpy")
def _nearest_candidate(candidates, x):
    best = 0
    for k in range(1, candidates.count[x]):
        if candidates.linkage[x, k] < candidates.linkage[x, best]:
            best = k
    return candidates.column[x, best], candidates.linkage[x, best]


@kernel(error_model="numpy")
def find_all_candidates(matrix, candidates, nearest, distance, start, stop):
    """Find the candidates and the nearest of clusters ``start`` to ``stop`` of a matrix."""
    n = matrix.shape[0]
    for i in range(start, stop):
        candidates.count[i], candidates.bound[i] = 0, np.inf
        if i > 0:
            nearest[i], distance[i] = add_candidates(matrix[i], 0, i, i, candidates)
        if i + 1 < n:
            nearest[i], distance[i] = add_candidates(matrix[i], i + 1, n, i, candidates)


@kernel(error_model="numpy")
def updated_nearest(x, candidates, version, clusters, rows):
    """Find the nearest of cluster x, some of whose candidates have merged, without its row.

    Args:
        x: A cluster that has not changed since ``version``.
        candidates: Those of x are updated.
        version: Number of merges that are applied to them.
        clusters: See `pending_merges.Clusters`.
        rows: A cluster's row holds its linkage to x if the cluster was formed after x.

    Returns:
        The nearest and the linkage to it; -1 and any number where the row must be searched.
    """
    for k in range(candidates.count[x]):
        y = candidates.column[x, k]
        while not clusters.alive[y]:
            y = clusters.into[y]
        if clusters.formed[y] > version:
            candidates.column[x, k] = y
            candidates.linkage[x, k] = rows.psi[rows.slot[y], x]
    nearest, linkage = _nearest_candidate(candidates, x)
    return (nearest if linkage <= candidates.bound[x] else np.int32(-1)), linkage
