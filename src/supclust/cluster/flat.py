"""From the points or records of many blocks straight to flat clusters, in one compiled pass.

Dissimilarities, trees and cuts of a few blocks happen in one thread's cache; no matrix leaves it.
Blocks that are too large for that, or whose numbers are unusual, take the way of
`supclust.linkage`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supclust.data._compare_cpu import EncodedRecords, Layout, new_marks, score_rows
from supclust.hac._rows import LINEAR, row_range
from supclust.hac._small import chain_in_cache
from supclust.hac.api import linkage
from supclust.hac.chain import SMALL, choose_form
from supclust.hac.memory import require_memory
from supclust.hac.prim import prim
from supclust.hac.threads import over_parts
from supclust.hac.tree import cut_tree

Ints = NDArray[np.int64]
Labels = NDArray[np.int32]
Points = NDArray[np.float32]

_PARTS = 64  # of a chunk of blocks, so that threads finish together
_PART_ENTRIES = 500_000  # of the matrices of a part: they should stay in a processor's cache


class Cut(NamedTuple):
    """How trees are made and cut: ``n_clusters`` > 0 counts, else ``threshold`` does."""

    alpha: float
    threshold: float
    n_clusters: int = 0


@njit(cache=True, nogil=True)
def _find(parent, i):  # type: ignore[no-untyped-def]
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(cache=True, nogil=True)
def _label(pairs, heights, threshold, n_clusters, labels):  # type: ignore[no-untyped-def]
    """Apply the merges that the cut keeps and number the clusters by first appearance."""
    n = labels.size
    parent = np.arange(n)
    if n_clusters > 0:
        order = np.argsort(heights, kind="mergesort")[: max(0, n - n_clusters)]
    else:
        order = np.flatnonzero(heights.astype(np.float64) <= threshold)
    for k in order:
        a, b = _find(parent, pairs[k, 0]), _find(parent, pairs[k, 1])
        if a < b:  # the first point of a cluster is its root, so numbers come in order
            parent[b] = a
        else:
            parent[a] = b
    found = 0
    for i in range(n):
        root = _find(parent, i)
        if root == i:
            labels[i] = found
            found += 1
        else:
            labels[i] = labels[root]
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _cluster_square(psi, weight, low, high, cut, labels):  # type: ignore[no-untyped-def]
    """Cluster one matrix, destroying it; returns the number of clusters, or -1: unusual numbers."""
    n = psi.shape[0]
    kind = psi.dtype
    if not (low > -1e30 and high < 1e30):
        return -1
    pairs = np.empty((n - 1, 2), np.int64)
    heights = np.empty(n - 1, kind)
    if cut.alpha == -np.inf:
        prim(psi, pairs, heights)
    else:
        form = choose_form(cut.alpha, np.float64(low), np.float64(high), n, psi)
        alpha = kind.type(cut.alpha if form >= LINEAR else 0.0)
        centre = kind.type((np.float64(low) + np.float64(high)) / 2)
        size, leaf = np.ones(n, np.int32), np.arange(n)
        chain_in_cache(form, psi, weight, alpha, centre, size, leaf, pairs, heights)
    return _label(pairs, heights, cut.threshold, cut.n_clusters, labels)


@njit(cache=True, nogil=True)
def _square_range(psi):  # type: ignore[no-untyped-def]
    """Smallest and largest number off the diagonal, which is overwritten; NaN if there is one."""
    n = psi.shape[0]
    for i in range(n):
        psi[i, i] = psi[i, i - 1 if i else 1]
    flat = psi.reshape(-1)
    low, high = row_range(flat)
    odd = False
    for value in flat:
        odd |= value != value
    if odd:
        low = high = psi.dtype.type(np.nan)
    return low, high


@njit(cache=True, nogil=True)
def _distances(across, start, stop, psi):  # type: ignore[no-untyped-def]
    """Rows ``start`` to ``stop`` of Euclidean distances; O(n^2 k).

    ``across`` is (k, n), the points by coordinate, so that the innermost loop runs along a row.
    Both triangles are computed, with the same bits, which is faster than copying one.
    """
    for i in range(start, stop):
        row = psi[i]
        row[:] = 0.0
        for f in range(across.shape[0]):
            line = across[f]
            here = line[i]
            for j in range(row.size):
                gap = line[j] - here
                row[j] += gap * gap
        for j in range(row.size):
            row[j] = np.sqrt(row[j])


@njit(cache=True, nogil=True)
def _gap_scores(across, start, stop, weight, bias, psi):  # type: ignore[no-untyped-def]
    """Rows ``start`` to ``stop`` of w . |x - x'| + b."""
    for i in range(start, stop):
        row = psi[i]
        row[:] = bias
        for f in range(across.shape[0]):
            line = across[f]
            here, w = line[i], weight[f]
            for j in range(row.size):
                row[j] += w * abs(line[j] - here)


@njit(cache=True, nogil=True)
def _fill_points(points, starts, weight, bias, begin, end, squares):  # type: ignore[no-untyped-def]
    """Matrices of blocks ``begin`` to ``end``, one after the other; see `flat_points`."""
    place = 0
    for k in range(begin, end):
        first, n = starts[k], starts[k + 1] - starts[k]
        if n < 2 or n >= SMALL:
            continue
        psi = squares[place : place + n * n].reshape(n, n)
        place += n * n
        across = np.empty((points.shape[1], n), np.float32)
        for i in range(n):
            for f in range(points.shape[1]):
                across[f, i] = points[first + i, f]
        if weight.size:
            _gap_scores(across, 0, n, weight, bias, psi)
        else:
            _distances(across, 0, n, psi)


@njit(cache=True, nogil=True)
def _fill_records(  # type: ignore[no-untyped-def]
    records, layout, starts, weight, bias, begin, end, squares
):
    """Matrices of blocks ``begin`` to ``end`` of records, one after the other."""
    marks = new_marks(records)
    place = 0
    for k in range(begin, end):
        first, n = starts[k], starts[k + 1] - starts[k]
        if n < 2 or n >= SMALL:
            continue
        psi = squares[place : place + n * n].reshape(n, n)
        place += n * n
        features = np.empty((n, weight.size), np.float32)
        rows = np.arange(first, first + n)
        score_rows(records, layout, rows, 0, n, weight, bias, psi, features, marks)


@njit(cache=True, nogil=True, error_model="numpy")
def _label_squares(squares, starts, cut, labels, counts, begin, end):  # type: ignore[no-untyped-def]
    """Cluster blocks ``begin`` to ``end`` by their matrices, which are destroyed."""
    room = np.empty(0, squares.dtype)
    place = 0
    for k in range(begin, end):
        n = starts[k + 1] - starts[k]
        counts[k] = n if n < 2 else -1
        if n == 1:
            labels[starts[k]] = 0
        if n < 2 or n >= SMALL:
            continue
        if room.size < n * n:
            room = np.empty(n * n, squares.dtype)
        psi = squares[place : place + n * n].reshape(n, n)
        place += n * n
        low, high = _square_range(psi)
        weight = room[: n * n].reshape(n, n)
        counts[k] = _cluster_square(psi, weight, low, high, cut, labels[starts[k] : starts[k + 1]])


def label_blocks(
    fill: Callable[[int, int, NDArray[Any]], None], starts: Ints, cut: Cut, kind: type
) -> tuple[Labels, Ints]:
    """Cluster blocks on all cores, a few matrices at a time.

    Args:
        fill: compiled; writes the matrices of blocks a to b - 1 one after the other into the given
            room, leaving out those of fewer than 2 or of `SMALL` and more points.
        starts: (b + 1,) first point of every block, then n.
        cut: linkage and cut.
        kind: float32 or float64.

    Returns:
        (n,) clusters from 0 in every block, and (b,) their number: -1 where the block was left out
        or has unusual numbers.
    """
    labels = np.empty(int(starts[-1]), np.int32)
    sizes = np.diff(starts)
    counts = np.empty(len(sizes), np.int64)
    ends = np.concatenate([[0], np.cumsum(np.where(sizes < SMALL, sizes**2, 0))])

    def work(a: int, b: int) -> None:
        squares = np.empty(int(ends[b] - ends[a]), kind)
        fill(a, b, squares)
        _label_squares(squares, starts, cut, labels, counts, a, b)

    over_parts(work, len(sizes), max(_PARTS, int(ends[-1]) // _PART_ENTRIES))
    return labels, counts


@njit(cache=True, nogil=True)
def _score_part(  # type: ignore[no-untyped-def]
    records, layout, rows, weight, bias, psi, begin, end
):
    features = np.empty((rows.size, weight.size), np.float32)
    marks = new_marks(records)
    score_rows(records, layout, rows, begin, end, weight, bias, psi, features, marks)


@njit(cache=True, nogil=True)
def _centre(points, starts, out, begin, end):  # type: ignore[no-untyped-def]
    for k in range(begin, end):
        for f in range(points.shape[1]):
            mean = 0.0
            for i in range(starts[k], starts[k + 1]):
                mean += points[i, f]
            mean /= max(1, starts[k + 1] - starts[k])
            for i in range(starts[k], starts[k + 1]):
                out[i, f] = points[i, f] - mean


def centred(points: NDArray[np.floating[Any]], starts: Ints) -> Points:
    """Points minus the mean of their block: float32 keeps the digits that a common offset eats."""
    values = np.ascontiguousarray(points, np.float64)
    out = np.empty(values.shape, np.float32)
    over_parts(lambda a, b: _centre(values, starts, out, a, b), len(starts) - 1, _PARTS)
    return out


def flat_points(
    points: Points, starts: Ints, cut: Cut, weight: Points | None = None, bias: float = 0.0
) -> tuple[Labels, Ints]:
    """Cluster blocks of points that stand one after the other.

    Args:
        points: (n, k) float32.
        starts: (b + 1,) first row of every block, then n.
        cut: linkage and cut.
        weight: (k,) for dissimilarities w . |x - x'| + b; default: Euclidean distances.
        bias: b.

    Returns:
        (n,) clusters, numbered from 0 in every block by first appearance, and (b,) their number.

    Complexity: O(n_k^2 k) per block; a matrix of the largest block per thread.

    >>> points = np.array([[0.0], [5.0], [1.0], [9.0]], np.float32)
    >>> flat_points(points, np.array([0, 3, 4]), Cut(alpha=0.0, threshold=2.0))[0]
    array([0, 1, 0, 0], dtype=int32)
    """
    points = np.ascontiguousarray(points, np.float32)
    factors = np.empty(0, np.float32) if weight is None else np.asarray(weight, np.float32)
    offset = np.float32(bias)

    def large(first: int, stop: int) -> NDArray[np.float32]:
        across = np.ascontiguousarray(points[first:stop].T)
        square = np.empty((stop - first, stop - first), np.float32)

        def fill(a: int, b: int) -> None:
            if len(factors):
                _gap_scores(across, a, b, factors, offset, square)
            else:
                _distances(across, a, b, square)

        over_parts(fill, stop - first, _PARTS)
        return square

    def fill(a: int, b: int, squares: NDArray[Any]) -> None:
        _fill_points(points, starts, factors, offset, a, b, squares)

    labels, counts = label_blocks(fill, starts, cut, np.float32)
    return _with_special(starts, cut, labels, counts, large)


def flat_records(
    records: EncodedRecords, layout: Layout, starts: Ints, weight: Points, bias: float, cut: Cut
) -> tuple[Labels, Ints]:
    """Cluster blocks of records under dissimilarities w . x + b of their comparisons x.

    Args:
        records: blocks one after the other.
        layout: of the features.
        starts: (b + 1,) first record of every block, then n.
        weight: (d,).
        bias: b.
        cut: linkage and cut.

    Returns:
        As `flat_points`.
    """
    factors, offset = np.asarray(weight, np.float32), np.float32(bias)

    def large(first: int, stop: int) -> NDArray[np.float32]:
        square = np.empty((stop - first, stop - first), np.float32)
        rows = np.arange(first, stop)
        over_parts(
            lambda a, b: _score_part(records, layout, rows, factors, offset, square, a, b),
            len(rows),
            _PARTS,
        )
        return square

    def fill(a: int, b: int, squares: NDArray[Any]) -> None:
        _fill_records(records, layout, starts, factors, offset, a, b, squares)

    labels, counts = label_blocks(fill, starts, cut, np.float32)
    return _with_special(starts, cut, labels, counts, large)


def flat_squares(
    squares: Callable[[int], NDArray[Any]], starts: Ints, cut: Cut
) -> tuple[Labels, Ints]:
    """Cluster blocks whose matrices are made one at a time; arguments else as `flat_points`."""
    labels, counts = np.zeros(int(starts[-1]), np.int32), np.diff(starts)
    for k in np.flatnonzero(counts > 1).tolist():
        _one(squares(k), cut, labels[starts[k] : starts[k + 1]], counts, k)
    return labels, counts


def _with_special(
    starts: Ints,
    cut: Cut,
    labels: Labels,
    counts: Ints,
    square: Callable[[int, int], NDArray[np.float32]],
) -> tuple[Labels, Ints]:
    """Finish the blocks that the compiled pass left out."""
    for k in np.flatnonzero(counts < 0).tolist():
        first, stop = int(starts[k]), int(starts[k + 1])
        require_memory(3 * 4 * (stop - first) ** 2, f"clustering a block of {stop - first:,}")
        _one(square(first, stop), cut, labels[first:stop], counts, k)
    return labels, counts


def _one(matrix: NDArray[Any], cut: Cut, labels: Labels, counts: Ints, k: int) -> None:
    if not np.isfinite(matrix).all():
        raise ValueError(
            "dissimilarities must be finite; received records whose numbers are so large that they "
            "overflow. Scale them as for training."
        )
    Z = linkage(matrix, "exp", alpha=cut.alpha)
    if cut.n_clusters > 0:
        labels[:] = cut_tree(Z, n_clusters=min(cut.n_clusters, len(labels)))
    else:
        labels[:] = cut_tree(Z, height=cut.threshold)
    counts[k] = int(labels.max()) + 1
