"""Rows of a small matrix for the chain of `_small`: learn of merges, merge, make narrower (Numba).

Matrices are flat here and rows are offsets: a slice costs Numba more than the search of a short
row. Offsets are unsigned, or every access would look for a negative index.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from supclust.hac.cpu.merge_rules import merge_pair
from supclust.hac.family import LOG


@njit(cache=True, nogil=True, error_model="numpy")
def catch_up(flat, width, x, seen, risen, risen_at, top):
    """Copy into row x its numbers for the clusters born after ``seen``, from their rows.

    Of clusters that have died or grown since, it copies what nobody reads, or the same again.
    """
    row = x * width
    i = top
    while i > 0 and risen_at[i - 1] > seen:
        i -= 1
        u = np.uint64(risen[i])
        flat[row + u] = flat[u * width + x]


@njit(cache=True, nogil=True, error_model="numpy")
def catch_up_weights(flat, slot, width, x, seen, risen, risen_at, top):
    """As `catch_up` for the weights, whose rows are where ``slot`` says."""
    row = np.uint64(slot[x]) * width
    i = top
    while i > 0 and risen_at[i - 1] > seen:
        i -= 1
        u = risen[i]
        flat[row + np.uint64(u)] = flat[np.uint64(slot[u]) * width + x]


@njit(cache=True, nogil=True, error_model="numpy")
def gather_weights(flat, slot, width, x, spare, risen, top):
    """Write the weights of x, a single point, to all merged clusters to ``spare``."""
    for i in range(top):
        u = np.uint64(risen[i])
        spare[u] = flat[np.uint64(slot[u]) * width + x]


@njit(cache=True, nogil=True, error_model="numpy")
def gather_weights_of_two(flat, slot, width, x, z, spare, risen, top):
    """As `gather_weights`; those of z follow after ``width``."""
    for i in range(top):
        u = np.uint64(risen[i])
        row = np.uint64(slot[u]) * width
        spare[u] = flat[row + x]
        spare[width + u] = flat[row + z]


@njit(cache=True, nogil=True, error_model="numpy")
def merge_logs(psi, weight, into, other, ours, theirs, width, alpha):
    """Merge the row at ``other`` into the row at ``into``, in place, column by column; `LOG`.

    Their weights are the rows at ``ours`` and ``theirs``.
    """
    one = psi.dtype.type(1.0)
    for i in range(width):
        psi[into + i], weight[ours + i], _ = merge_pair(
            LOG, psi[into + i], weight[ours + i], psi[other + i], weight[theirs + i], one, alpha,
            one,
        )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def somebody(barrier, x):
    """A cluster other than x, where all its numbers are NaN: no tree then, but no crash either."""
    y = 0
    while y == x or barrier[y] != 0:
        y += 1
    return y


@njit(cache=True, nogil=True, error_model="numpy")
def drop_stale(born, risen, risen_at, top):
    """Keep the births of clusters that still have that form; returns how many there are."""
    kept = np.uint64(0)
    for i in range(np.uint64(top)):
        u, at = risen[i], risen_at[i]
        risen[kept] = u  # always: a branch would be guessed wrong every other time
        risen_at[kept] = at
        kept += np.uint64(born[u] == at)
    return np.int64(kept)


@njit(cache=True, nogil=True, error_model="numpy")
def narrow(flat, width, rows, columns):
    """Keep the rows and columns listed, both ascending, in the same memory.

    Every number moves forward or stays, so none is overwritten before it is read.
    """
    m = np.uint64(columns.size)
    for r in range(np.uint64(rows.size)):
        row = rows[r] * width
        for c in range(m):
            flat[r * m + c] = flat[row + columns[c]]


@njit(cache=True, nogil=True, error_model="numpy")
def move_slots(slot, size, columns, vacant):
    """List the rows of weights in use, ascending, and number them anew; returns them.

    ``slot`` becomes that of the clusters by their new columns; the rest goes to ``vacant``.
    """
    owner = np.full(slot.size, -1, np.int32)
    for c in range(columns.size):
        k = columns[c]
        slot[c], row = -1, slot[k]
        if size[k] > 1:
            owner[row] = c
    used = np.empty(columns.size, np.uint64)
    count = 0
    for row in range(owner.size):
        if owner[row] >= 0:
            used[count] = row
            slot[owner[row]] = count
            count += 1
    for row in range(count, columns.size):
        vacant[columns.size - 1 - row] = row
    return used[:count]
