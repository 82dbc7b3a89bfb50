"""Compiled parts of `flat`: the matrices of a few blocks, and their trees and cuts."""

from __future__ import annotations

import numpy as np
from numba import njit

from supclust.data.records.compare_kernel import new_marks, score_rows
from supclust.hac.cpu.dispatch import SMALL
from supclust.hac.cpu.simd.argmin import argmax, argmin
from supclust.hac.cpu.small_tree import merge_all


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
    if not (low > -1e30 and high < 1e30):
        return -1
    pairs = np.empty((n - 1, 2), np.int64)
    heights = np.empty(n - 1, psi.dtype)
    merge_all(psi, weight, cut.alpha, np.float64(low), np.float64(high), pairs, heights)
    return _label(pairs, heights, cut.threshold, cut.n_clusters, labels)


@njit(cache=True, nogil=True)
def _square_range(psi):  # type: ignore[no-untyped-def]
    """Smallest and largest number off the diagonal, which is overwritten; NaN if there is one."""
    n = psi.shape[0]
    for i in range(n):
        psi[i, i] = psi[i, i - 1 if i else 1]
    flat = psi.reshape(-1)
    low, high = flat[argmin(flat, 0, n * n)], flat[argmax(flat, 0, n * n)]
    odd = False
    for value in flat:
        odd |= value != value
    if odd:
        low = high = psi.dtype.type(np.nan)
    return low, high


@njit(cache=True, nogil=True)
def distances(across, start, stop, psi):  # type: ignore[no-untyped-def]
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
def gap_scores(across, start, stop, weight, bias, psi):  # type: ignore[no-untyped-def]
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
def fill_points(points, starts, weight, bias, begin, end, squares):  # type: ignore[no-untyped-def]
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
            gap_scores(across, 0, n, weight, bias, psi)
        else:
            distances(across, 0, n, psi)


@njit(cache=True, nogil=True)
def fill_records(  # type: ignore[no-untyped-def]
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
def label_squares(squares, starts, cut, labels, counts, begin, end):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True)
def score_part(  # type: ignore[no-untyped-def]
    records, layout, rows, weight, bias, psi, begin, end
):
    features = np.empty((rows.size, weight.size), np.float32)
    marks = new_marks(records)
    score_rows(records, layout, rows, begin, end, weight, bias, psi, features, marks)


@njit(cache=True, nogil=True)
def centre(points, starts, out, begin, end):  # type: ignore[no-untyped-def]
    """Points of blocks ``begin`` to ``end`` minus the mean of their block, in float32."""
    for k in range(begin, end):
        for f in range(points.shape[1]):
            mean = 0.0
            for i in range(starts[k], starts[k + 1]):
                mean += points[i, f]
            mean /= max(1, starts[k + 1] - starts[k])
            for i in range(starts[k], starts[k + 1]):
                out[i, f] = points[i, f] - mean


@njit(cache=True, nogil=True)
def embed(points, starts, across, out, begin, end):  # type: ignore[no-untyped-def]
    """Points of blocks ``begin`` to ``end``, centred, times ``across``, (d, k)."""
    room = np.empty((0, points.shape[1]), np.float32)
    for b in range(begin, end):
        first, n = starts[b], starts[b + 1] - starts[b]
        if room.shape[0] < n:
            room = np.empty((n, points.shape[1]), np.float32)
        centre(points[first : first + n], np.array([0, n]), room, 0, 1)
        for i in range(n):
            row = out[first + i]
            row[:] = 0.0
            for f in range(across.shape[0]):
                value, line = room[i, f], across[f]
                for g in range(row.size):
                    row[g] += value * line[g]
