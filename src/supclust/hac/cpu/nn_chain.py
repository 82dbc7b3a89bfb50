"""The nearest-neighbour chain for a matrix that stays in the processor's cache.

A merge rewrites one row. The other rows learn of it when they are read next: for every cluster born
since, they copy one number from that cluster's row, which holds their linkage to it. That is a
quarter of the memory traffic of writing the column at once, and no arithmetic. When about half of
the clusters are gone, the matrix is made smaller.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from supclust.hac.cpu.checked_copy import fetch_ahead
from supclust.hac.cpu.nn_chain_rows import (
    catch_up,
    catch_up_weights,
    drop_stale,
    gather_weights,
    gather_weights_of_two,
    merge_logs,
    move_slots,
    narrow,
    somebody,
)
from supclust.hac.cpu.simd.argmin import VECTOR_BYTES, argmin_beyond
from supclust.hac.cpu.simd.merge_rows import (
    merge_clusters,
    merge_largest,
    merge_means,
    merge_point,
    merge_points,
)
from supclust.hac.family import EXTREME, LINEAR, MEAN

_NARROW = 32  # clusters below which there is nothing to gain from a smaller matrix


@njit(cache=True, nogil=True, error_model="numpy")
def chain_in_cache(
    form, psi_rows, weight_rows, alpha, centre, size, leaf, pairs, heights, later=0, later_bytes=0
):  # fmt: skip
    """Build the tree of a small matrix, destroying it.

    Args:
        form: How linkages merge (`_rows`).
        psi_rows: (n, n) linkages of n clusters, exactly symmetric, finite off the diagonal.
        weight_rows: (n, n) weights (`LINEAR`, `LOG`) of clusters of two points or more, or one
            row. A single point gets its weights while it merges: half of all pairs are weighed
            once, the rest never. Sums go to a row that was used last: it is still in the cache.
        alpha: Of the weights.
        centre: Of the weights.
        size: (n,) int32 points of each cluster; updated.
        leaf: (n,) a point of each cluster; updated.
        pairs: (n - 1, 2) output: a point of either side of each merge.
        heights: (n - 1,) output.
        later: Address of what the caller reads next; it is fetched while the processor is busy.
        later_bytes: How much of it.

    The distances along the chain fall strictly, so it ends, whatever the input.
    """
    n = psi_rows.shape[0]
    psi, weight = psi_rows.reshape(-1), weight_rows.reshape(-1)
    kind = psi.dtype
    one = kind.type(1.0)
    dead = kind.type(np.finfo(kind).max / 4)
    weighted = form >= LINEAR
    barrier = np.zeros(n, kind)  # ``dead`` for clusters that are gone: nothing is nearest to them
    born = np.zeros(n, np.int32)  # number of merges when a cluster got its present form; -1: gone
    seen = np.zeros(n, np.int32)  # number of merges that a row knows of
    weighed = np.full(n, -1, np.int32)  # the same of its weights; -1: nothing, as a single point's
    nearest = np.full(n, -1, np.int32)
    distance = np.empty(n, kind)
    found = np.zeros(n, np.int32)  # number of merges when the nearest was found
    slot = np.full(n, -1, np.int32)  # row of a cluster's weights
    vacant = np.empty(n, np.int32)  # rows that nobody uses, the next one last
    vacancies = 0
    # Weights of two points to clusters; for columns that are gone any number, but no NaN.
    spare = np.ones(2 * n if form == LINEAR else 0, kind)
    chain = np.empty(n + 1, np.uint64)
    risen = np.empty(n, np.uint32)  # merged clusters in the order of their births, stale ones too
    risen_at = np.empty(n, np.int32)
    top = 0
    for i in range(n):
        psi[i * n + i] = dead
        if size[n - 1 - i] == 1:
            vacant[vacancies] = n - 1 - i
            vacancies += 1
        if size[i] > 1:
            slot[i] = i
            weighed[i] = 0
            risen[top] = i
            risen_at[top] = 0
            top += 1
    fresh = top  # how many of them are not stale
    links = 0
    first = np.uint64(0)
    alive = n
    width = np.uint64(n)
    later = np.uint64(later)
    lines = later_bytes // (VECTOR_BYTES * max(n - 1, 1)) + 1 if later_bytes > 0 else 0
    for merges in range(n - 1):
        later = fetch_ahead(later, lines)
        if alive >= _NARROW and 2 * alive <= width:
            columns = np.flatnonzero(barrier[:width] == 0).astype(np.uint64)
            place = np.full(width, -1, np.int32)
            for c in range(alive):
                place[columns[c]] = c
            top = drop_stale(born, risen, risen_at, top)
            narrow(psi, width, columns, columns)
            if weighted:
                used = move_slots(slot, size, columns, vacant)
                vacancies = alive - used.size
                narrow(weight, width, used, columns)
            for c in range(alive):
                k = columns[c]
                size[c], leaf[c], born[c], seen[c] = size[k], leaf[k], born[k], seen[k]
                distance[c], found[c], weighed[c] = distance[k], found[k], weighed[k]
                nearest[c] = place[nearest[k]] if nearest[k] >= 0 else -1
                barrier[c] = 0
            for i in range(links):
                if place[chain[i]] < 0:
                    links = 0  # see below
                    break
                chain[i] = place[chain[i]]
            for i in range(top):
                risen[i] = place[risen[i]]
            first = np.uint64(0)
            width = np.uint64(alive)
        while True:
            if links == 0:
                while barrier[first] != 0:
                    first += np.uint64(1)
                chain[0] = first
                links = 1
            x = chain[links - 1]
            y = nearest[x]
            at = born[max(y, 0)]
            if (y < 0) | (at < 0) | (at > found[x]):
                catch_up(psi, width, x, seen[x], risen, risen_at, top)
                seen[x] = merges
                y = argmin_beyond(psi, x * width, width, barrier)
                if np.uint64(y) == x or barrier[y] != 0:
                    y = somebody(barrier, x)
                nearest[x] = y
                found[x] = merges
                distance[x] = psi[x * width + np.uint64(y)]
            # Written so that it ends even with NaN: x and its predecessor are nearest to each other
            # (preferred at a tie).
            if links > 1 and not distance[x] < distance[chain[links - 2]]:
                if born[x] >= 0 and born[chain[links - 2]] >= 0:
                    break
                links = 0  # only an unsymmetric matrix leaves the dead in the chain
                continue
            chain[links] = y
            links += 1
        z = chain[links - 2]
        links -= 2
        u = max(x, z)  # lives on, as in SciPy and fastcluster: ties come out as theirs
        v = min(x, z)
        pairs[merges, 0] = leaf[u]
        pairs[merges, 1] = leaf[v]
        heights[merges] = distance[x]
        into = u * width
        for r in (u, v):
            catch_up(psi, width, r, seen[r], risen, risen_at, top)
        other = v * width
        if form == EXTREME:
            merge_largest(psi, into, other, width)
        elif form == MEAN:
            merge_means(psi, into, other, width, kind.type(size[v] / (size[u] + size[v])))
        elif form == LINEAR:
            if size[u] > 1 and size[v] > 1:
                for r in (u, v):
                    catch_up_weights(weight, slot, width, r, weighed[r], risen, risen_at, top)
                ours, theirs = np.uint64(slot[u]) * width, np.uint64(slot[v]) * width
                merge_clusters(psi, into, into, other, weight, ours, weight, theirs, width)
                vacant[vacancies] = slot[v]
                vacancies += 1
            elif size[u] > 1 or size[v] > 1:
                p, q = (u, v) if size[u] == 1 else (v, u)
                catch_up_weights(weight, slot, width, q, weighed[q], risen, risen_at, top)
                gather_weights(weight, slot, width, p, spare, risen, top)
                slot[u] = slot[q]
                ours = np.uint64(slot[u]) * width
                merge_point(
                    psi, into, q * width, p * width, weight, ours, spare, 0, width, size, alpha,
                    centre,
                )  # fmt: skip
            else:
                gather_weights_of_two(weight, slot, width, v, u, spare, risen, top)
                vacancies -= 1
                slot[u] = vacant[vacancies]
                ours = np.uint64(slot[u]) * width
                merge_points(
                    psi, into, into, other, weight, ours, spare, 0, width, size, alpha, centre
                )
            weight[ours + u] = weight[ours + v] = one  # of nothing; but no NaN must come of it
        else:
            for r in (u, v):
                if size[r] == 1:
                    vacancies -= 1
                    slot[r] = vacant[vacancies]
                    ours = np.uint64(slot[r]) * width
                    for i in range(width):
                        weight[ours + i] = 0
                catch_up_weights(weight, slot, width, r, weighed[r], risen, risen_at, top)
            ours, theirs = np.uint64(slot[u]) * width, np.uint64(slot[v]) * width
            merge_logs(psi, weight, into, other, ours, theirs, width, alpha)
            weight[ours + u] = weight[ours + v] = one
            vacant[vacancies] = slot[v]
            vacancies += 1
        psi[into + u] = psi[into + v] = dead
        fresh += 1 - (size[u] > 1) - (size[v] > 1)
        size[u] += size[v]
        barrier[v] = dead
        born[v] = -1
        born[u] = seen[u] = weighed[u] = merges + 1
        nearest[u] = -1
        alive -= 1
        if top >= min(n, fresh + fresh // 8 + 4):
            top = drop_stale(born, risen, risen_at, top)
        risen[top] = u
        risen_at[top] = merges + 1
        top += 1
