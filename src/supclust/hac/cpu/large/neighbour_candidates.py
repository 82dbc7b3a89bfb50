"""The few nearest clusters of a row, found in one search, so that most later searches are spared.

A search by vectors keeps the least number of every lane. Whatever it has not kept is at least the
second least of its lane, so the least of those second ones bounds the rest of the row, and the
lanes below it are the nearest clusters, all of them: eight or so, for their places are random. By
reducibility no linkage ever falls below the smaller of those it was merged of. So while one of the
few is within the bound, the nearest of them is the nearest of all, however many have merged; and
what a merged one is away stands in its own row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils

from supclust.hac.cpu.simd.argmin import (
    INT,
    LONG,
    Search,
    argmin,
    intrinsic,
    sweep_chains,
)

MOST = 16  # clusters that are remembered
_LANES = 64


class Few(NamedTuple):
    """The few nearest of each of n clusters.

    Attributes:
        place: (n, MOST) int32 clusters.
        linkage: (n, MOST) to them.
        count: (n,) int32 how many.
        bound: (n,) to nobody else is the linkage smaller.
    """

    place: Any
    linkage: Any
    count: Any
    bound: Any


def room_for_few(n: int, kind: np.dtype[np.generic]) -> Few:
    """Return room for the few nearest of n clusters."""
    place, linkage = np.empty((n, MOST), np.int32), np.empty((n, MOST), kind)
    return Few(place, linkage, np.empty(n, np.int32), np.empty(n, kind))


class _Lanes(Search):
    """Lanes keep their second least number as well, of which nobody asks where it stood."""

    def __init__(self, builder: Any, data: Any, kind: Any, places: Any, numbers: Any) -> None:
        super().__init__(builder, "<", data, None, kind, _LANES)
        self.second = [cgutils.alloca_once(builder, self.floats) for _ in self.least]
        self.bound = cgutils.alloca_once(builder, self.float)
        self.places, self.numbers = places, numbers

    def start(self, chain: int, at: Any) -> None:
        super().start(chain, at)
        nothing = ir.Constant(self.floats, [float("inf")] * self.lanes)
        self.builder.store(nothing, self.second[chain])

    def beaten(self, chain: int, number: Any) -> None:
        """Note the larger number of a comparison."""
        second = self.builder.load(self.second[chain])
        self.builder.store(self.lesser(number, second), self.second[chain])

    def finish(self, count: int) -> None:
        """Write out what all lanes have kept, and the least of what they have not."""
        builder = self.builder
        lane = ir.Constant(self.ints, list(range(self.lanes)))
        least = builder.load(self.second[0])
        for chain in range(count):
            least = self.lesser(builder.load(self.second[chain]), least)
            where = builder.add(builder.load(self.where[chain]), lane)
            for values, out in (
                (where, self.places),
                (builder.load(self.least[chain]), self.numbers),
            ):
                place = builder.gep(out, [LONG(chain * self.lanes)])
                builder.store(values, builder.bitcast(place, values.type.as_pointer()), align=4)
        least = builder.extract_element(self.least_of_lanes(least), INT(0))
        builder.store(least, self.bound)


def _build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    def data(k: int) -> Any:
        return context.make_array(signature.args[k])(context, builder, args[k]).data

    row = builder.gep(data(0), [args[1]])
    lanes = _Lanes(builder, row, signature.args[0].dtype, data(3), data(4))
    sweep_chains(builder, args[2], lanes.lanes, len(lanes.least), lanes)
    return builder.load(lanes.bound)


@intrinsic
def lane_minima(_: Any, values: Any, start: Any, length: Any, places: Any, numbers: Any) -> Any:
    """Write the least of ``values[start : start + length]`` in every lane, and return the bound.

    Args:
        values: Contiguous, without NaN.
        start: First of the values.
        length: At least 64.
        places: (64,) int32: where they stand, counted from ``start``.
        numbers: (64,) what they are. Every other value is at or above the bound.
    """
    kinds = (values, types.int64, types.int64, places, numbers)
    return values.dtype(*kinds), _build


@njit(cache=True, nogil=True, error_model="numpy")
def find_few(row, start, stop, x, few):
    """Search a stretch of the row of cluster x for its few nearest, and forget all others.

    Returns:
        The nearest and the linkage to it.
    """
    few.count[x], few.bound[x] = 0, np.inf
    return add_few(row, start, stop, x, few)


@njit(cache=True, nogil=True, error_model="numpy")
def add_few(row, start, stop, x, few):
    """Let the few nearest of cluster x stand for a further stretch of its row.

    Args:
        row: Contiguous; no NaN between ``start`` and ``stop``.
        start: First column, below ``stop``.
        stop: One past the last.
        x: The cluster.
        few: Updated.

    Returns:
        As `find_few`.
    """
    length = stop - start
    if length < _LANES:
        nearest = start + argmin(row, start, length)
        few.bound[x] = min(few.bound[x], row[nearest])
        _add(few, x, nearest, row[nearest])
    else:
        places, numbers = np.empty(_LANES, np.int32), np.empty(_LANES, row.dtype)
        few.bound[x] = min(few.bound[x], lane_minima(row, start, length, places, numbers))
        for lane in range(_LANES):
            if numbers[lane] <= few.bound[x]:
                _add(few, x, start + places[lane], numbers[lane])
    return _nearest_of_few(few, x)


@njit(cache=True, nogil=True, error_model="numpy")
def _add(few, x, place, linkage):
    at = few.count[x]
    if at == MOST:  # the farthest goes, and bounds the rest
        at = few.linkage[x].argmax()
        few.bound[x] = min(few.bound[x], max(linkage, few.linkage[x, at]))
        if linkage >= few.linkage[x, at]:
            return
    else:
        few.count[x] += 1
    few.place[x, at], few.linkage[x, at] = place, linkage


@njit(cache=True, nogil=True, error_model="numpy")
def _nearest_of_few(few, x):
    best = 0
    for k in range(1, few.count[x]):
        if few.linkage[x, k] < few.linkage[x, best]:
            best = k
    return few.place[x, best], few.linkage[x, best]


@njit(cache=True, nogil=True, error_model="numpy")
def find_few_of_points(matrix, known, few, nearest, distance, start, stop):
    """Find the few nearest of points ``start`` to ``stop`` of a matrix of dissimilarities.

    Where they are ``known`` among the points before each, they stand in ``few`` already.
    """
    n = matrix.shape[0]
    for i in range(start, stop):
        if i > 0 and not known:
            nearest[i], distance[i] = find_few(matrix[i], 0, i, i, few)
        elif i == 0:
            few.count[i], few.bound[i] = 0, np.inf
        if i + 1 < n:
            nearest[i], distance[i] = add_few(matrix[i], i + 1, n, i, few)
        else:
            nearest[i], distance[i] = _nearest_of_few(few, i)


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_still(x, few, since, alive, into, born, psi, slot):
    """Find the nearest of cluster x, some of whose few nearest have merged, without its row.

    Args:
        x: A cluster that has not changed since.
        few: Its entries are brought up to date.
        since: Merges that its entries know of.
        alive: Which clusters are there.
        into: What those that are not there any more merged into.
        born: Number of merges when a cluster got its present form.
        psi: A cluster's row is right about x if the cluster was born after it.
        slot: Row of each cluster.

    Returns:
        The nearest and the linkage to it; -1 and anything where only the row can tell.
    """
    for k in range(few.count[x]):
        y = few.place[x, k]
        while not alive[y]:
            y = into[y]
        if born[y] > since:
            few.place[x, k], few.linkage[x, k] = y, psi[slot[y], x]
    nearest, linkage = _nearest_of_few(few, x)
    return (nearest if linkage <= few.bound[x] else np.int32(-1)), linkage
