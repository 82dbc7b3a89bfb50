"""A large tree: pairs merge side by side on all cores, and the matrix gets smaller step by step.

The first step reads the points' rows where the caller has them; only clusters that have merged get
rows of their own. When enough columns are dead, the matrix is written again without them, and so
on, until what is left fits the cache (`_small`).
"""

from __future__ import annotations

import numpy as np

from supclust.hac.cpu.large.compact_rows import compact
from supclust.hac.cpu.large.neighbour_candidates import Few, find_few_of_points, room_for_few
from supclust.hac.cpu.large.pair_batches import (
    chase,
    choose_pairs,
    find_nearest,
    merge_pairs,
    record,
)
from supclust.hac.cpu.large.pending_merges import Clusters, Rows, all_alive, nothing_noted
from supclust.hac.cpu.merge_rules import Settings
from supclust.hac.cpu.nn_chain import chain_in_cache
from supclust.hac.cpu.simd.argmin import VECTOR_BYTES
from supclust.hac.cpu.small_tree import Floats, Ints, divide, numbers_needed
from supclust.hac.cpu.threads import over_parts
from supclust.hac.cpu.workspace import large_rooms, small_room, whole_lines
from supclust.hac.family import LINEAR

COMPACT_BELOW = 0.5  # share of live columns at which a matrix is written again
LARGE_BATCH = 1 / 128  # share of the clusters in a batch that is worth waiting for all threads
MOST_READ = 2  # rows per cluster that batches may read again before a chain takes over
_UNEQUAL_PARTS = 32  # where the first rows take longest, or the last


class _Area:
    """Memory for linkages and, where there are any, weights, handed out from its start on."""

    def __init__(self, psi: Floats, weight: Floats) -> None:
        self.psi, self.weight, self.used = psi, weight, 0

    def take(self, shape: tuple[int, int]) -> tuple[Floats, Floats]:
        start, self.used = self.used, self.used + shape[0] * shape[1]
        parts = (part[start : self.used] for part in (self.psi, self.weight))
        psi, weight = (part.reshape(shape if part.size else (0, 0)) for part in parts)
        return psi, weight


class Shrinking:
    """The state of one large tree: a matrix that gets smaller, and the merges made so far."""

    def __init__(self, matrix: Floats, settings: Settings, pairs: Ints, heights: Floats) -> None:
        n, self.kind = len(matrix), matrix.dtype
        self.settings, self.weighted = settings, settings[0] >= LINEAR
        self.base, self.base_weight = matrix, np.empty((0, 0), self.kind)
        self.pairs, self.heights = pairs, heights  # the part of them that is not filled yet
        self.leaf, self.size = np.arange(n), np.ones(n, np.int64)
        self.nearest, self.distance = np.empty(n, np.int32), np.empty(n, self.kind)
        self.few = room_for_few(0, self.kind)

    def run(self, small: int, before: Few | None) -> None:
        """Merge to the root; ``small`` clusters and fewer by the chain in the cache.

        ``before`` has the few nearest of the points before each, if known; it is used up.
        """
        self.few = before or room_for_few(len(self.base), self.kind)
        self._find_few(before is not None)
        with large_rooms(*self._shapes(), dtype=self.kind) as lent:
            one, other = (_Area(lent[k][0], lent[k + 1][0]) for k in (0, 2))
            self._step(one, other)
            while len(self.base) > small:
                one.used = 0  # its rows have been read: the matrix is in the other area
                self._step(one, one)
                one, other = other, one
            self._finish()
            self.base = self.base_weight = self.base[:0]  # they are no longer ours

    def _shapes(self) -> list[tuple[int, int]]:
        """Return how much two areas need, of linkages and weights each.

        The first step writes rows to the one, and a matrix to the other. The second one reads that
        and writes both to the first, and so on: every step needs less than the one before.
        """

        def size(shape: tuple[int, int]) -> int:
            return shape[0] * shape[1]

        n = len(self.base)
        after = self._matrix(n)
        sizes = (
            max(size(self._rows(n)), size(self._rows(after[0])) + size(self._matrix(after[0]))),
            size(after),
        )
        return [(1, size if k == 0 or self.weighted else 0) for size in sizes for k in (0, 1)]

    def _rows(self, count: int) -> tuple[int, int]:
        """Return the shape of rows for clusters made of two or more of ``count``."""
        return min(count - _left_of(count), count // 2), whole_lines(count, self.kind)

    def _matrix(self, count: int) -> tuple[int, int]:
        """Return the shape of the matrix after that of ``count`` clusters."""
        left = _left_of(count)
        return left, whole_lines(left, self.kind)

    def _find_few(self, known: bool) -> None:
        """Find the few nearest of each cluster; of those before it they may be ``known``."""
        over_parts(
            lambda a, b: find_few_of_points(
                self.base, known, self.few, self.nearest, self.distance, a, b
            ),
            len(self.base),
            _UNEQUAL_PARTS,
        )

    def _step(self, area: _Area, onto: _Area) -> None:
        """Merge with rows from ``area`` until a smaller matrix is due, and write it ``onto``."""
        count = len(self.base)
        form, alpha, centre = self.settings
        dead = self.kind.type(np.finfo(self.kind).max / 4)
        psi, weight = area.take(self._rows(count))
        slot = np.full(count, -1, np.int32)
        rows = Rows(form, alpha, centre, dead, self.base, self.base_weight, psi, weight, slot)
        clusters = self._merge(rows, count - _left_of(count))
        living = np.flatnonzero(clusters.alive)
        living = living[np.argsort(clusters.born[living], kind="stable")]
        psi, weight = onto.take(self._matrix(count))
        side = VECTOR_BYTES // self.kind.itemsize
        over_parts(
            lambda a, b: compact(
                rows, living, psi, weight, self.few, a * side, min(b * side, len(living))
            ),
            -(-len(living) // side),
            _UNEQUAL_PARTS,
        )
        self.base, self.base_weight = psi, weight
        self.size, self.leaf = self.size[living], self.leaf[living]
        self._find_few(known=True)

    def _merge(self, rows: Rows, enough: int) -> Clusters:
        """Merge batches of pairs, ``enough`` in all; a chain of them where batches do not pay."""
        count = len(self.base)
        clusters = all_alive(self.nearest[:count], self.distance[:count])
        noted = nothing_noted(enough, self.kind)
        vacant = np.arange(-1, len(rows.psi), dtype=np.int32)
        vacant[0] = len(rows.psi)
        book = self.size, self.leaf, vacant, self.pairs, self.heights
        merges, read = 0, [0]

        def find(a: int, b: int) -> None:
            read.append(find_nearest(rows, clusters, noted, merges, self.few, a, b))

        while merges < enough:
            begun, merges = merges, choose_pairs(clusters, noted, merges, enough - merges)
            if merges == begun:
                raise FloatingPointError("no two clusters are nearest: some linkage is no number")
            if merges < enough and (
                merges - begun < LARGE_BATCH * (count - begun) or sum(read) > MOST_READ * count
            ):
                chase(rows, clusters, noted, self.few, begun, enough, *book)
                break
            record(rows, clusters, noted, begun, merges, *book)
            over_parts(
                lambda a, b, at=begun: merge_pairs(  # type: ignore[misc]
                    rows, clusters, noted, self.few, at + a, at + b
                ),
                merges - begun,
            )
            if merges < enough:
                over_parts(find, count)
        self.pairs, self.heights = self.pairs[enough:], self.heights[enough:]
        return clusters

    def _finish(self) -> None:
        form, alpha, centre = self.settings
        rest = len(self.base)
        space = small_room(numbers_needed(rest, self.weighted), self.kind)
        psi, weight = divide(space, rest, self.weighted)
        psi[:] = self.base[:, :rest]
        if self.weighted:
            weight[:] = self.base_weight[:, :rest]
        chain_in_cache(
            form, psi, weight, alpha, centre, self.size.astype(np.int32), self.leaf, self.pairs,
            self.heights,
        )  # fmt: skip


def _left_of(count: int) -> int:
    """Return how many of ``count`` clusters are left when a smaller matrix is due."""
    return max(1, int(COMPACT_BELOW * count))
