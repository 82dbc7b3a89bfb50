"""The two matrices of the nearest-neighbour chain: their workspace, lazy updates, compaction.

After a merge only the row of the new cluster is up to date. Another row is updated when it is read
next: for every cluster formed since, one number is copied from that cluster's row. That is a
quarter of the memory traffic of writing the column at once, and no arithmetic.

Matrices are flat and rows are offsets, because a slice costs Numba more than the search of a short
row. Offsets are unsigned, because a signed index is tested for being negative.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from supclust.kernels import kernel

Floats = NDArray[np.floating]

_ALIGNED = 16  # numbers, at a multiple of which weights begin


@register_jitable(inline="always")
def numbers_needed(n: int, weighted: bool) -> int:
    """Return how many numbers the workspace of a tree of n points holds; see `split_workspace`."""
    return -(-n * n // _ALIGNED) * _ALIGNED + (n if weighted else 1) * n


@register_jitable(inline="always")
def split_workspace(workspace: Floats, n: int, weighted: bool) -> tuple[Floats, Floats]:
    """Return an (n, n) matrix of linkages and one of weights; without weights, of one row."""
    start = -(-n * n // _ALIGNED) * _ALIGNED
    rows = n if weighted else 1
    return workspace[: n * n].reshape(n, n), workspace[start : start + rows * n].reshape(rows, n)


@kernel
def update_row(flat, width, x, version, recent, recent_version, top):
    """Copy into row x its linkages to the clusters formed after ``version``, from their rows.

    For clusters that are gone or have merged again, it copies what is never read, or the same
    number twice.
    """
    row = x * width
    i = top
    while i > 0 and recent_version[i - 1] > version:
        i -= 1
        u = np.uint64(recent[i])
        flat[row + u] = flat[u * width + x]


@kernel
def update_weights(flat, weight_row, width, x, version, recent, recent_version, top):
    """As `update_row` for the weights, whose rows are in ``weight_row``."""
    row = np.uint64(weight_row[x]) * width
    i = top
    while i > 0 and recent_version[i - 1] > version:
        i -= 1
        u = recent[i]
        flat[row + np.uint64(u)] = flat[np.uint64(weight_row[u]) * width + x]


@kernel
def gather_weights(flat, weight_row, width, x, known, recent, top):
    """Write the weights of x, a single point, to all merged clusters to ``known``."""
    for i in range(top):
        u = np.uint64(recent[i])
        known[u] = flat[np.uint64(weight_row[u]) * width + x]


@kernel
def gather_weights_of_two(flat, weight_row, width, x, z, known, recent, top):
    """As `gather_weights`; those of z follow at ``known[width:]``."""
    for i in range(top):
        u = np.uint64(recent[i])
        row = np.uint64(weight_row[u]) * width
        known[u] = flat[row + x]
        known[width + u] = flat[row + z]


@kernel
def drop_outdated(formed, recent, recent_version, top):
    """Remove clusters that are gone or have merged again; returns how many are left."""
    kept = np.uint64(0)
    for i in range(np.uint64(top)):
        u, at = recent[i], recent_version[i]
        recent[kept] = u  # always: a branch would be mispredicted every other time
        recent_version[kept] = at
        kept += np.uint64(formed[u] == at)
    return np.int64(kept)


@kernel
def compact(flat, width, rows, columns):
    """Keep the rows and columns listed, both ascending, in the same memory.

    Every number moves forward or stays, so none is overwritten before it is read.
    """
    m = np.uint64(columns.size)
    for r in range(np.uint64(rows.size)):
        row = rows[r] * width
        for c in range(m):
            flat[r * m + c] = flat[row + columns[c]]


@kernel
def compact_weight_rows(weight_row, size, columns, free_rows):
    """Return the rows of weights in use, ascending, and renumber ``weight_row`` by new columns."""
    owner = np.empty(weight_row.size, np.int32)
    for row in range(owner.size):
        owner[row] = -1
    for c in range(columns.size):
        k = columns[c]
        weight_row[c], row = -1, weight_row[k]
        if size[k] > 1:
            owner[row] = c
    used = np.empty(columns.size, np.uint64)
    count = 0
    for row in range(owner.size):
        if owner[row] >= 0:
            used[count] = row
            weight_row[owner[row]] = count
            count += 1
    for row in range(count, columns.size):
        free_rows[columns.size - 1 - row] = row
    return used[:count]
