"""A large tree: pairs merge side by side on all cores, and the matrix is compacted step by step.

The first step reads the points' rows from the caller's matrix; only merged clusters get rows of
their own. When enough columns are gone, the matrix is written again without them, and so on, until
the nearest-neighbour chain finishes what fits the cache.
"""

from __future__ import annotations

import numpy as np

from supclust.hac.cpu.chain_rows import numbers_needed, split_workspace
from supclust.hac.cpu.large.neighbour_candidates import find_all_candidates, new_candidates
from supclust.hac.cpu.large.pair_batches import (
    choose_pairs,
    find_nearest,
    follow_chain,
    merge_pairs,
    record,
)
from supclust.hac.cpu.large.pending_merges import (
    Clusters,
    Rows,
    new_clusters,
    no_pending,
    weigh_row,
)
from supclust.hac.cpu.merge_rules import Settings
from supclust.hac.cpu.nn_chain import Floats, Ints, nn_chain
from supclust.hac.cpu.threads import over_parts
from supclust.hac.family import LINEAR
from supclust.hac.memory import workspace
from supclust.kernels import kernel

COMPACT_BELOW = 0.5  # share of live columns at which the matrix is compacted
LARGE_BATCH = 1 / 128  # share of the clusters from which a batch is worth starting all threads
MOST_READ = 2  # rows per cluster that batches may read again before the chain takes over
_TILE = 16
_UNEQUAL_PARTS = 32  # where the first rows take longest, or the last


@kernel(error_model="numpy")
def compact(rows, living, psi, weight, start, stop):
    """Write rows ``start`` to ``stop`` of a compacted matrix up to the diagonal, and their columns.

    Of two clusters the row of the one formed later holds their linkage. So with the clusters in
    the order of forming, every row is right up to the diagonal.

    Args:
        rows: Of the larger matrix.
        living: (m,) the clusters that are left, in the order of forming.
        psi: (m, >= m) output.
        weight: Weights of the same shape (`LINEAR`, `LOG`), or any 2-d array.
        start: First row, a multiple of `_TILE`.
        stop: Likewise, or m.
    """
    weighted = rows.rule >= LINEAR
    for top in range(start, stop, _TILE):
        bottom = min(top + _TILE, stop)
        for i in range(top, bottom):
            x = living[i]
            r = np.int64(rows.slot[x])
            _gather(rows.base[x] if r < 0 else rows.psi[r], living, i, psi[i])
            psi[i, i] = rows.far
            if weighted and r < 0 and rows.base_weight.size == 0:
                weigh_row(rows.rule, psi[i], weight[i], i, rows.alpha, rows.centre)
            elif weighted:
                _gather(rows.base_weight[x] if r < 0 else rows.weight[r], living, i, weight[i])
            if weighted:
                weight[i, i] = 1.0  # of no pair, but must not become NaN
        _transpose(psi, top, bottom)
        if weighted:
            _transpose(weight, top, bottom)


@kernel(error_model="numpy")
def _gather(source, columns, count, target):
    for c in range(np.uint64(count)):
        target[c] = source[columns[c]]


@kernel(error_model="numpy")
def _transpose(square, top, bottom):
    """Copy rows ``top`` to ``bottom``, left of the diagonal, to their columns, tile by tile."""
    for left in range(0, bottom, _TILE):
        for j in range(np.uint64(left), np.uint64(min(left + _TILE, bottom))):
            for i in range(np.uint64(max(top, np.int64(j) + 1)), np.uint64(bottom)):
                square[j, i] = square[i, j]


class _Area:
    """Memory for linkages and, where there are any, weights, handed out from its start on."""

    def __init__(self, name: str, numbers: int, weighted: bool, kind: np.dtype[np.generic]) -> None:
        self.psi = workspace(f"{name} linkages", numbers, kind)
        self.weight = workspace(f"{name} weights", numbers if weighted else 0, kind)
        self.used = 0

    def take(self, shape: tuple[int, int]) -> tuple[Floats, Floats]:
        start, self.used = self.used, self.used + shape[0] * shape[1]
        parts = (part[start : self.used] for part in (self.psi, self.weight))
        psi, weight = (part.reshape(shape if part.size else (0, 0)) for part in parts)
        return psi, weight


class LargeTree:
    """The state of one large tree: a matrix that is compacted, and the merges made so far."""

    def __init__(self, matrix: Floats, settings: Settings, pairs: Ints, heights: Floats) -> None:
        n, self.kind = len(matrix), matrix.dtype
        self.settings, self.weighted = settings, settings[0] >= LINEAR
        self.base, self.base_weight = matrix, np.empty((0, 0), self.kind)
        self.pairs, self.heights = pairs, heights  # the part of them that is not filled yet
        self.leaf, self.size = np.arange(n), np.ones(n, np.int64)
        self.nearest, self.distance = np.empty(n, np.int32), np.empty(n, self.kind)
        self.candidates = new_candidates(n, self.kind)

    def build(self, small: int) -> None:
        """Merge to the root; ``small`` clusters and fewer by the chain in the cache."""
        # The first step writes rows to the one area and a matrix to the other. The second reads
        # that and writes both to the first, and so on: every step needs less than the one before.
        n, left = len(self.base), _left_of(len(self.base))
        numbers = max(_row_count(n) * n, (_row_count(left) + _left_of(left)) * left)
        one = _Area("first", numbers, self.weighted, self.kind)
        other = _Area("second", left * left, self.weighted, self.kind)
        self._find_candidates()
        self._step(one, other)
        while len(self.base) > small:
            one.used = 0  # its rows have been read: the matrix is in the other area
            self._step(one, one)
            one, other = other, one
        self._finish()

    def _find_candidates(self) -> None:
        over_parts(
            lambda a, b: find_all_candidates(
                self.base, self.candidates, self.nearest, self.distance, a, b
            ),
            len(self.base),
            _UNEQUAL_PARTS,
        )

    def _step(self, area: _Area, onto: _Area) -> None:
        """Merge with rows from ``area`` until a compaction is due, and write it ``onto``."""
        count = len(self.base)
        rule, alpha, centre = self.settings
        far = self.kind.type(np.finfo(self.kind).max / 4)
        psi, weight = area.take((_row_count(count), count))
        slot = np.full(count, -1, np.int32)
        rows = Rows(rule, alpha, centre, far, self.base, self.base_weight, psi, weight, slot)
        clusters = self._merge(rows, count - _left_of(count))
        living = np.flatnonzero(clusters.alive)
        living = living[np.argsort(clusters.formed[living], kind="stable")]
        left = len(living)
        psi, weight = onto.take((left, left))
        over_parts(
            lambda a, b: compact(rows, living, psi, weight, a * _TILE, min(b * _TILE, left)),
            -(-left // _TILE),
            _UNEQUAL_PARTS,
        )
        self.base, self.base_weight = psi, weight
        self.size, self.leaf = self.size[living], self.leaf[living]
        self._find_candidates()

    def _merge(self, rows: Rows, enough: int) -> Clusters:
        """Merge batches of pairs, ``enough`` in all; along the chain where batches do not pay."""
        count = len(self.base)
        clusters = new_clusters(self.nearest[:count], self.distance[:count])
        pending = no_pending(enough, self.kind)
        free_rows = np.arange(-1, len(rows.psi), dtype=np.int32)
        free_rows[0] = len(rows.psi)
        book = self.size, self.leaf, free_rows, self.pairs, self.heights
        merges, read = 0, [0]

        def find(a: int, b: int) -> None:
            read.append(find_nearest(rows, clusters, pending, merges, self.candidates, a, b))

        def merge(a: int, b: int) -> None:
            merge_pairs(rows, clusters, pending, self.candidates, begun + a, begun + b)

        while merges < enough:
            begun, merges = merges, choose_pairs(clusters, pending, merges, enough - merges)
            if merges == begun:
                raise FloatingPointError(
                    "internal error: no reciprocal nearest neighbours; a linkage is NaN"
                )
            if merges < enough and (
                merges - begun < LARGE_BATCH * (count - begun) or sum(read) > MOST_READ * count
            ):
                follow_chain(rows, clusters, pending, self.candidates, begun, enough, *book)
                break
            record(rows, clusters, pending, begun, merges, *book)
            over_parts(merge, merges - begun)
            if merges < enough:
                over_parts(find, count)
        self.pairs, self.heights = self.pairs[enough:], self.heights[enough:]
        return clusters

    def _finish(self) -> None:
        rule, alpha, centre = self.settings
        rest = len(self.base)
        space = workspace("chain", numbers_needed(rest, self.weighted), self.kind)
        psi, weight = split_workspace(space, rest, self.weighted)
        psi[:] = self.base
        if self.weighted:
            weight[:] = self.base_weight
        nn_chain(
            rule, psi, weight, alpha, centre, self.size.astype(np.int32), self.leaf, self.pairs,
            self.heights,
        )  # fmt: skip


def _left_of(count: int) -> int:
    """Return how many of ``count`` clusters are left when a compaction is due."""
    return max(1, int(COMPACT_BELOW * count))


def _row_count(count: int) -> int:
    """Return how many rows of their own the merged ones of ``count`` clusters need at most."""
    return min(count - _left_of(count), count // 2)
