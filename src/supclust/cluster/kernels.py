"""Compiled parts of `flat` and `edges`: dissimilarity matrices of blocks, their trees and cuts.

A ``fill_*`` kernel writes the matrices of blocks ``begin`` to ``end`` one after the other into
``squares``. Blocks of one point, or of `SMALL` and more, have no matrix there.
"""

from __future__ import annotations

import numpy as np

from supclust.cut.rule import learned_merges
from supclust.data.records.compare.kernel import new_workspace, score_rows
from supclust.hac.cpu.dispatch import SMALL
from supclust.hac.cpu.nn_chain import merge_all
from supclust.hac.cpu.numbering import join_sorted, order_of, root_of
from supclust.hac.cpu.simd.argmin import argmax, argmin
from supclust.hac.tree import cut_labels
from supclust.kernels import kernel


@kernel
def _next_square(squares, offset, n):
    """The matrix of a block of n points, empty where it has none, and where the next one begins."""
    side = n if 2 <= n < SMALL else 0
    end = offset + side * side
    return squares[offset:end].reshape(side, side), end


@kernel
def _label(pairs, heights, threshold, n_clusters, labels):
    """Apply the merges that the cut keeps and number the clusters by first appearance."""
    n = labels.size
    parent = np.arange(n)
    if n_clusters > 0:
        order = np.argsort(heights, kind="mergesort")[: max(0, n - n_clusters)]
    else:
        order = np.flatnonzero(heights.astype(np.float64) <= threshold)
    for k in order:
        a, b = root_of(parent, pairs[k, 0]), root_of(parent, pairs[k, 1])
        if a < b:  # the first point of a cluster is its root, so numbers come in order
            parent[b] = a
        else:
            parent[a] = b
    count = 0
    for i in range(n):
        root = root_of(parent, i)
        if root == i:
            labels[i] = count
            count += 1
        else:
            labels[i] = labels[root]
    return count


@kernel
def _cluster_square(psi, weight, low, high, cut, labels):
    """Cluster one matrix in place; the number of clusters, or -1 for NaN or huge values."""
    n = psi.shape[0]
    if not (low > -1e30 and high < 1e30):
        return -1
    pairs = np.empty((n - 1, 2), np.int64)
    heights = np.empty(n - 1, psi.dtype)
    merge_all(psi, weight, cut.alpha, np.float64(low), np.float64(high), pairs, heights)
    if cut.n_clusters > 0 or cut.rule.trees.root.size == 0:
        return _label(pairs, heights, cut.threshold, cut.n_clusters, labels)
    order = order_of(heights)
    children = np.empty((n - 1, 2), np.int64)
    join_sorted(pairs[order], children, np.empty(n - 1, np.int64))
    labels[:] = cut_labels(children, learned_merges(children, heights[order], cut.rule))
    return labels.max() + 1


@kernel
def _square_range(psi):
    """Smallest and largest value off the diagonal, which is overwritten; NaN if there is one."""
    n = psi.shape[0]
    for i in range(n):
        psi[i, i] = psi[i, i - 1 if i else 1]
    flat = psi.reshape(-1)
    low, high = flat[argmin(flat, 0, n * n)], flat[argmax(flat, 0, n * n)]
    has_nan = False
    for value in flat:
        has_nan |= value != value
    if has_nan:
        low = high = psi.dtype.type(np.nan)
    return low, high


@kernel
def distances(across, start, stop, psi):
    """Rows ``start`` to ``stop`` of Euclidean distances; O(n^2 k).

    ``across`` is (k, n), the points by coordinate, so that the innermost loop is contiguous.
    Both triangles are computed, with equal results, which is faster than copying one.
    """
    for i in range(start, stop):
        row = psi[i]
        row[:] = 0.0
        for f in range(across.shape[0]):
            coordinate = across[f]
            own = coordinate[i]
            for j in range(row.size):
                gap = coordinate[j] - own
                row[j] += gap * gap
        for j in range(row.size):
            row[j] = np.sqrt(row[j])


@kernel
def gap_scores(across, start, stop, weight, bias, psi):
    """Rows ``start`` to ``stop`` of w . |x - x'| + b."""
    for i in range(start, stop):
        row = psi[i]
        row[:] = bias
        for f in range(across.shape[0]):
            coordinate = across[f]
            own, w = coordinate[i], weight[f]
            for j in range(row.size):
                row[j] += w * abs(coordinate[j] - own)


@kernel
def fill_points(points, starts, weight, bias, begin, end, squares):
    """Matrices of blocks of points; see `flat_points`."""
    offset = 0
    for k in range(begin, end):
        psi, offset = _next_square(squares, offset, starts[k + 1] - starts[k])
        if psi.size == 0:
            continue
        first, n = starts[k], len(psi)
        across = np.empty((points.shape[1], n), np.float32)
        for i in range(n):
            for f in range(points.shape[1]):
                across[f, i] = points[first + i, f]
        if weight.size:
            gap_scores(across, 0, n, weight, bias, psi)
        else:
            distances(across, 0, n, psi)


@kernel
def fill_records(records, layout, starts, weight, bias, begin, end, squares):
    """Matrices of blocks of records; see `flat_records`."""
    workspace = new_workspace(records)
    offset = 0
    for k in range(begin, end):
        first, n = starts[k], starts[k + 1] - starts[k]
        psi, offset = _next_square(squares, offset, n)
        if psi.size == 0:
            continue
        features = np.empty((n, weight.size), np.float32)
        rows = np.arange(first, first + n)
        score_rows(records, layout, rows, 0, n, weight, bias, psi, features, workspace)


@kernel
def label_squares(squares, starts, cut, labels, counts, begin, end):
    """Cluster blocks ``begin`` to ``end`` by their matrices, which are overwritten."""
    buffer = np.empty(0, squares.dtype)
    offset = 0
    for k in range(begin, end):
        n = starts[k + 1] - starts[k]
        counts[k] = n if n < 2 else -1
        if n == 1:
            labels[starts[k]] = 0
        psi, offset = _next_square(squares, offset, n)
        if psi.size == 0:
            continue
        if buffer.size < n * n:
            buffer = np.empty(n * n, squares.dtype)
        low, high = _square_range(psi)
        weight = buffer[: n * n].reshape(n, n)
        counts[k] = _cluster_square(psi, weight, low, high, cut, labels[starts[k] : starts[k + 1]])


@kernel
def score_part(records, layout, rows, weight, bias, psi, begin, end):
    """Rows ``begin`` to ``end`` of the matrix of some records."""
    features = np.empty((rows.size, weight.size), np.float32)
    workspace = new_workspace(records)
    score_rows(records, layout, rows, begin, end, weight, bias, psi, features, workspace)


@kernel
def centre(points, starts, out, begin, end):
    """Points of blocks ``begin`` to ``end`` minus the mean of their block, in float32."""
    for k in range(begin, end):
        for f in range(points.shape[1]):
            mean = 0.0
            for i in range(starts[k], starts[k + 1]):
                mean += points[i, f]
            mean /= max(1, starts[k + 1] - starts[k])
            for i in range(starts[k], starts[k + 1]):
                out[i, f] = points[i, f] - mean


@kernel
def embed(points, starts, across, out, begin, end):
    """Points of blocks ``begin`` to ``end``, centred, times ``across``, (d, k)."""
    centred = np.empty((0, points.shape[1]), np.float32)
    for b in range(begin, end):
        first, n = starts[b], starts[b + 1] - starts[b]
        if centred.shape[0] < n:
            centred = np.empty((n, points.shape[1]), np.float32)
        centre(points[first : first + n], np.array([0, n]), centred, 0, 1)
        for i in range(n):
            row = out[first + i]
            row[:] = 0.0
            for f in range(across.shape[0]):
                value, line = centred[i, f], across[f]
                for g in range(row.size):
                    row[g] += value * line[g]
