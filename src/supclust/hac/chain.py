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
from supclust.hac._rows import LINEAR, LOG, MAX, MEAN
from supclust.hac._small import chain_in_cache
from supclust.hac.numbering import number_merges
from supclust.hac.prim import prim
from supclust.hac.rooms import rooms
from supclust.hac.threads import over_parts

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]
Tree = tuple[Ints, Floats, Ints]
Index = NDArray[np.unsignedinteger | np.signedinteger]
Members = tuple[Index, Index, Index]

SMALL = 2000  # clusters whose matrix fits a cache, where the chain alone is fastest
PAIRED_ENOUGH = 0.15  # share of clusters in reciprocal pairs that makes a pass worth its reading
COMPACT_BELOW = 0.5  # share of live columns at which the chain's matrix is compacted


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


def build_tree(matrix: Floats, alpha: float, low: float, high: float) -> Tree:
    """Build the greedy ExpLink tree of one checked matrix.

    Args:
        matrix: (n, n) contiguous float32 or float64, exactly symmetric, finite off the diagonal
            (the diagonal is ignored); not changed. `validate.check_square` makes such a matrix.
        alpha: Any member of the family, -inf to inf.
        low: Smallest off-diagonal value.
        high: Largest off-diagonal value.

    Returns:
        children (n - 1, 2), heights (n - 1,) non-decreasing, sizes (n - 1,), in SciPy's numbering.

    Complexity: O(n^2) time; at most two more matrices of memory (one for alpha 0 or inf, none for
    -inf).
    """
    n = len(matrix)
    pairs = np.empty((max(n - 1, 0), 2), np.int64)
    heights = np.empty(max(n - 1, 0), matrix.dtype)
    if n > 1 and alpha == -math.inf:
        prim(matrix, pairs, heights)
    elif n > 1:
        form = choose_form(alpha, low, high, n, matrix)
        kind = matrix.dtype.type
        alpha_in, centre = kind(alpha if form >= LINEAR else 0.0), kind((low + high) / 2)
        _Shrinking(form, matrix, alpha_in, centre, pairs, heights).run()
    return number_merges(pairs, heights)


class _Shrinking:
    """The state of one large tree: a matrix that gets smaller, and the merges made so far."""

    def __init__(
        self,
        form: int,
        matrix: Floats,
        alpha: np.floating,
        centre: np.floating,
        pairs: Ints,
        heights: Floats,
    ) -> None:
        self.form, self.matrix, self.alpha, self.centre = form, matrix, alpha, centre
        self.pairs, self.heights, self.done = pairs, heights, 0
        n = len(matrix)
        self.dead = matrix.dtype.type(np.finfo(matrix.dtype).max / 4)
        self.leaf = np.arange(n)
        self.size = np.ones(n, np.int64)
        self.nearest = np.empty(n, np.int32)
        self.distance = np.empty(n, matrix.dtype)
        self.psi = self.weight = matrix[:0]
        self.slot = self.leaf

    def run(self) -> None:
        """Merge to the root."""
        n = len(self.matrix)
        if n <= SMALL:
            wide = n if self.form >= LINEAR else 1
            psi, weight = rooms((n, n), (wide, n), dtype=self.matrix.dtype)
            psi[:] = self.matrix
            self._finish(psi, weight)
            return
        over_parts(
            lambda a, b: _passes.nearest_of_points(self.matrix, self.nearest, self.distance, a, b),
            n,
        )
        self._first_pass()
        while len(self.slot) > SMALL:
            first, second, paired = self._listed(np.ones(len(self.slot), np.bool_))
            if len(paired) >= PAIRED_ENOUGH * len(self.slot):
                self._pass(first, second, paired, None)
            else:
                self._chain()
        rest = len(self.slot)
        rows = self.slot if self.form >= LINEAR else np.zeros(1, np.int64)
        self._finish(self.psi[self.slot, :rest], self.weight[rows, :rest])

    def _finish(self, psi: Floats, weight: Floats) -> None:
        """Chase the chain to the root in a matrix that fits the cache."""
        chain_in_cache(
            self.form, psi, weight, self.alpha, self.centre, self.size.astype(np.int32),
            self.leaf.copy(), self.pairs[self.done :], self.heights[self.done :],
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

    def _first_pass(self) -> None:
        first, second, paired = self._listed(np.ones(len(self.matrix), np.bool_))
        share = self._record(first, second, paired)
        count = len(first)
        self.psi = np.empty((count, count), self.matrix.dtype)
        self.weight = np.empty((count if self.form >= LINEAR else 1, count), self.matrix.dtype)
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
