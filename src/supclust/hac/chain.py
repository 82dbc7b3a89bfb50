"""The CPU kernel: the exact ExpLink tree of one matrix in O(n^2).

Large matrices alternate two moves, both exact because ExpLink is reducible. While many clusters
are each other's nearest neighbours, one parallel pass merges all those pairs (`_passes`); when few
are, the nearest-neighbour chain (`_chase`) merges one pair after another until half of the
matrix is dead, and a pass compacts it. What fits the cache takes a simpler chain alone (`_small`),
and `forest` runs many of those side by side.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supclust.hac import _passes
from supclust.hac._chase import chase
from supclust.hac._copy import copy_checked
from supclust.hac._rows import LINEAR, LOG, MAX, MEAN
from supclust.hac._small import chain_in_cache
from supclust.hac._vector import VECTOR_BYTES
from supclust.hac.condensed import unfold_checked
from supclust.hac.explink import overflows
from supclust.hac.numbering import number_merges
from supclust.hac.prim import prim
from supclust.hac.rooms import large_rooms, rooms
from supclust.hac.threads import over_parts

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]
Tree = tuple[Ints, Floats, Ints]
Index = NDArray[np.unsignedinteger | np.signedinteger]
Members = tuple[Index, Index, Index]
Settings = tuple[int, np.floating, np.floating]

SMALL = 2000  # clusters whose matrix fits a cache, where the chain alone is fastest
PAIRED_ENOUGH = 0.2  # share of clusters in reciprocal pairs that makes a pass worth its reading
COMPACT_BELOW = 0.5  # share of live columns at which the chain's matrix is compacted
_UNEQUAL_PARTS = 32  # where the first rows take longest
_ALONE = 2**21  # bytes below which another thread would come too late


@njit(cache=True, nogil=True)
def choose_form(alpha, low, high, n, sample):  # type: ignore[no-untyped-def]
    """Return how linkages merge: by max, by mean, or by weights, linear only where proven safe.

    Weights exp(alpha (f - middle)) span exp(+-|alpha| (high - low) / 2); their sums over at most
    n^2 / 4 pairs must stay inside the float range with room to spare on both sides, or logarithms
    are used. ``sample`` is any array of the matrix's float type.
    """
    if alpha == np.inf:
        return MAX
    if alpha == 0.0:
        return MEAN
    reach = abs(alpha) * (high - low) / 2
    room = 0.75 * np.log(np.float64(np.finfo(sample.dtype).max)) - 2 * np.log(n + 1)
    return LINEAR if reach < room else LOG


def build_small(dissimilarity: Floats, n: int, alpha: float) -> Tree | None:
    """Check and cluster 2 to `SMALL` points, reading what is given from memory once.

    Args:
        dissimilarity: (n, n) or condensed, contiguous float32 or float64; not changed.
        n: The number of points.
        alpha: Any member of the family.

    Returns:
        As `build_tree`; ``None`` where `validate.check_square` has to look at the matrix first.
    """
    if overflows(alpha, float(np.finfo(dissimilarity.dtype).max)):
        return None
    psi, weight = _small_rooms(n, dissimilarity.dtype, alpha)
    plain, low, high = fill_square(dissimilarity, psi)
    return _small_tree(psi, weight, alpha, low, high) if plain else None


def fill_square(dissimilarity: Floats, square: Floats) -> tuple[bool, float, float]:
    """Copy or unfold a matrix of at least 2 points on all cores, and check it on the way.

    Returns:
        Whether it is exactly symmetric and of moderate numbers, the smallest and the largest of
        them; where the first is False, the others mean nothing. Of the diagonal anything may come.
    """
    n = len(square)
    copy = unfold_checked if dissimilarity.ndim == 1 else copy_checked
    side = VECTOR_BYTES // square.itemsize
    found = np.tile([1.0, math.inf, -math.inf], (-(-n // side), 1))

    def fill(a: int, b: int) -> None:
        found[a] = copy(dissimilarity, n, square, a * side, min(b * side, n))

    over_parts(fill, len(found), 1 if square.nbytes < _ALONE else None)
    return bool(found[:, 0].all()), float(found[:, 1].min()), float(found[:, 2].max())


def build_tree(
    matrix: Floats, alpha: float, low: float, high: float, before: Index | None = None
) -> Tree:
    """Build the greedy ExpLink tree of one checked matrix.

    Args:
        matrix: (n, n) contiguous float32 or float64, exactly symmetric, finite off the diagonal
            (the diagonal is ignored); not changed. `validate.check_square` makes such a matrix.
        alpha: Any member of the family, -inf to inf.
        low: Smallest off-diagonal value.
        high: Largest off-diagonal value.
        before: The nearest of the points before each, if known (`validate.CheckedMatrix`).

    Returns:
        children (n - 1, 2), heights (n - 1,) non-decreasing, sizes (n - 1,), in SciPy's numbering.

    Complexity: O(n^2) time; at most two more matrices of memory (one for alpha 0 or inf, none for
    -inf).
    """
    n = len(matrix)
    if 1 < n <= SMALL and alpha != -math.inf:
        psi, weight = _small_rooms(n, matrix.dtype, alpha)
        psi[:] = matrix
        return _small_tree(psi, weight, alpha, low, high)
    pairs, heights = _no_merges(matrix)
    if n > 1 and alpha == -math.inf:
        prim(matrix, pairs, heights)
    elif n > 1:
        _Shrinking(matrix, _settings(matrix, alpha, low, high), pairs, heights).run(before)
    return number_merges(pairs, heights)


def _small_rooms(n: int, kind: np.dtype[np.generic], alpha: float) -> list[Floats]:
    return rooms((n, n), (n if alpha and math.isfinite(alpha) else 1, n), dtype=kind)


def _small_tree(psi: Floats, weight: Floats, alpha: float, low: float, high: float) -> Tree:
    """Chase the chain of a matrix that may be destroyed."""
    n = len(psi)
    pairs, heights = _no_merges(psi)
    if alpha == -math.inf:
        prim(psi, pairs, heights)
        return number_merges(pairs, heights)
    form, alpha_in, centre = _settings(psi, alpha, low, high)
    size, leaf = np.ones(n, np.int32), np.arange(n)
    chain_in_cache(form, psi, weight, alpha_in, centre, size, leaf, pairs, heights)
    return number_merges(pairs, heights)


def _no_merges(matrix: Floats) -> tuple[Ints, Floats]:
    """Room for the merges of a tree."""
    count = max(len(matrix) - 1, 0)
    return np.empty((count, 2), np.int64), np.empty(count, matrix.dtype)


def _settings(matrix: Floats, alpha: float, low: float, high: float) -> Settings:
    """Form, alpha and centre of the weights, in the matrix's type."""
    form, kind = choose_form(alpha, low, high, len(matrix), matrix), matrix.dtype.type
    return form, kind(alpha if form >= LINEAR else 0.0), kind((low + high) / 2)


class _Shrinking:
    """The state of one large tree: a matrix that gets smaller, and the merges made so far."""

    def __init__(self, matrix: Floats, settings: Settings, pairs: Ints, heights: Floats) -> None:
        self.form, self.alpha, self.centre = settings
        self.matrix = matrix
        self.pairs, self.heights, self.done = pairs, heights, 0
        n = len(matrix)
        self.dead = matrix.dtype.type(np.finfo(matrix.dtype).max / 4)
        self.leaf = np.arange(n)
        self.size = np.ones(n, np.int64)
        self.nearest = np.empty(n, np.int32)
        self.distance = np.empty(n, matrix.dtype)
        self.psi = self.weight = matrix[:0]
        self.slot = self.leaf

    def run(self, before: Index | None) -> None:
        """Merge to the root."""
        n = len(self.matrix)
        self.nearest[:] = -1 if before is None else before
        known = before is not None
        over_parts(
            lambda a, b: _passes.nearest_of_points(
                self.matrix, known, self.nearest, self.distance, a, b
            ),
            n,
            _UNEQUAL_PARTS,
        )
        members = self._listed(np.ones(n, np.bool_))
        count = len(members[0])
        wide = count if self.form >= LINEAR else 1
        with large_rooms((count, count), (wide, count), dtype=self.matrix.dtype) as matrices:
            self.psi, self.weight = matrices
            self._shrink(*members)
            self.psi = self.weight = self.matrix[:0]  # they are no longer ours

    def _shrink(self, first: Index, second: Index, paired: Index) -> None:
        self._first_pass(first, second, paired)
        while len(self.slot) > SMALL:
            first, second, paired = self._listed(np.ones(len(self.slot), np.bool_))
            if len(paired) >= PAIRED_ENOUGH * len(self.slot):
                self._pass(first, second, paired, None)
            else:
                self._chain()
        rest = len(self.slot)
        rows = self.slot if self.form >= LINEAR else np.zeros(1, np.int64)
        chain_in_cache(
            self.form, self.psi[self.slot, :rest], self.weight[rows, :rest], self.alpha,
            self.centre, self.size.astype(np.int32), self.leaf.copy(), self.pairs[self.done :],
            self.heights[self.done :],
        )  # fmt: skip

    def _listed(self, alive: NDArray[np.bool_], pair: bool = True) -> Members:
        """Return the members of each cluster of the next matrix, and which of them are pairs."""
        first = np.empty(len(alive), np.uint32)
        second = np.empty(len(alive), np.int64)
        nearest = self.nearest[: len(alive)] if pair else np.full(len(alive), -1, np.int32)
        count, _ = _passes.pair_up(nearest, alive, first, second)
        second = second[:count]
        return first[:count], second, np.flatnonzero(second >= 0)

    def _record(self, first: Index, second: Index, paired: Index) -> Floats:
        """Note the merges of a pass; returns the share of the second member of each new cluster."""
        u, v = first[paired], second[paired]
        span = slice(self.done, self.done + len(paired))
        self.pairs[span, 0], self.pairs[span, 1] = self.leaf[u], self.leaf[v]
        self.heights[span] = self.distance[u]
        self.done += len(paired)
        share = np.zeros(len(first), self.matrix.dtype)
        share[paired] = self.size[v] / (self.size[u] + self.size[v])
        self.size[u] += self.size[v]
        self.size, self.leaf = self.size[first], self.leaf[first]
        return share

    def _first_pass(self, first: Index, second: Index, paired: Index) -> None:
        share = self._record(first, second, paired)
        count = len(first)
        self.slot = np.arange(count)
        over_parts(
            lambda a, b: _passes.first_pass(
                self.form, self.matrix, self.alpha, self.centre, first, second, share, paired,
                self.psi, self.weight, self.nearest, self.distance, self.dead, a, b,
            ),
            count,
        )  # fmt: skip

    def _pass(
        self,
        first: Index,
        second: Index,
        paired: Index,
        noted: tuple[NDArray[np.generic], ...] | None,
    ) -> None:
        """Apply the ``noted`` merges of a chain, merge the pairs, and compact."""
        if noted is None:
            none = np.empty(0, np.uint32)
            noted = (np.zeros(len(self.slot), np.int32), none, none, np.empty(0, self.matrix.dtype))
        seen, kept, gone, merge_share = noted
        share = self._record(first, second, paired)
        slot = self.slot
        over_parts(
            lambda a, b: _passes.next_pass(
                self.form, self.alpha, self.psi, self.weight, slot, seen, kept, gone, merge_share,
                first, second, share, paired, self.nearest, self.distance, self.dead, a, b,
            ),
            len(first),
        )  # fmt: skip
        self.slot = slot[first]

    def _chain(self) -> None:
        """Chase the chain until half of the columns are dead, then compact."""
        count = len(self.slot)
        alive, seen = np.ones(count, np.bool_), np.zeros(count, np.int32)
        kept, gone = np.empty(count, np.uint32), np.empty(count, np.uint32)
        share = np.empty(count, self.matrix.dtype)
        merges = chase(
            self.form, self.alpha, self.psi, self.weight, self.slot, self.size, self.leaf, alive,
            seen, self.nearest[:count], self.distance[:count], kept, gone, share,
            max(1, int(COMPACT_BELOW * count)), self.dead, self.pairs, self.heights, self.done,
        )  # fmt: skip
        self.done += merges
        first, second, paired = self._listed(alive, pair=False)
        self._pass(first, second, paired, (seen, kept[:merges], gone[:merges], share[:merges]))
