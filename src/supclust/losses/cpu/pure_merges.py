"""The pure merges of one block: a greedy tree per ground-truth cluster, then one order of rounds.

Points are laid out by cluster ("positions"), ascending in their original index within each.
A merged cluster stays at the position of its smallest point, so comparing positions within a
cluster compares smallest points, and ties go to the pair whose smallest points come first.
"""

from __future__ import annotations

import numpy as np

from supclust.hac.cpu.merge_rules import point_weight
from supclust.hac.family import EXTREME, LINEAR
from supclust.kernels import kernel
from supclust.losses.cpu.block import leaf_weight, merge, place_of, value_of


@kernel
def _nearest_after(psi, live, count, at):
    """Nearest live cluster after the one at ``live[at]``: its distance and place, lowest first."""
    row = psi[live[at]]
    low = np.inf
    nearest = -1
    for t in range(at + 1, count):
        if row[live[t]] < low:
            low = row[live[t]]
            nearest = live[t]
    return low, nearest


@kernel
def _closest(psi, live, count, low, nearest, stale):
    """Row of the closest pair; the ``low`` of a stale row is a bound until it is searched."""
    while True:
        at = 0
        for t in range(1, count):
            if low[live[t]] < low[live[at]]:
                at = t
        u = live[at]
        if not stale[u]:
            return u
        low[u], nearest[u] = _nearest_after(psi, live, count, at)
        stale[u] = False


@kernel(error_model="numpy")
def _unite(linkage, psi, weight, live, count, u, v, low, nearest, stale):
    """Merge cluster v into u < v; only entries [i, j] with i < j are kept."""
    low_u = np.inf
    nearest_u = -1
    for t in range(count):
        k = live[t]
        if k in (u, v):
            continue
        i, j = (k, u) if k < u else (u, k)
        p, q = (k, v) if k < v else (v, k)
        value, weight[i, j], _ = merge(linkage, psi[i, j], weight[i, j], psi[p, q], weight[p, q])
        # Infinite linkages are equal, however many finite pairs they contain.
        psi[i, j] = value if value <= linkage.ceiling else max(psi[i, j], psi[p, q])
        if k > u:
            if psi[u, k] < low_u:
                low_u = psi[u, k]
                nearest_u = k
            if nearest[k] == v:
                stale[k] = True
        elif nearest[k] == u or nearest[k] == v:
            stale[k] = True
        elif psi[k, u] == low[k] and u < nearest[k]:
            nearest[k] = u  # as near as the nearest, and first
    low[u] = low_u
    nearest[u] = nearest_u
    stale[u] = False


@kernel
def grow_cluster(linkage, psi, weight, start, pairs, heights, weights, first):
    """Greedy tree of one cluster of m points, destroying ``psi`` and ``weight`` (m, m).

    Writes from row ``first`` on: the positions of each merge (``start`` is the cluster's first),
    the lower one first, its height and its weight. Linkages never fall below what they are made of,
    so a row's minimum only grows, and an old one is a lower bound: O(m^2) unless many rows are
    searched again.
    """
    m = psi.shape[0]
    live = np.arange(m)
    low = np.full(m, np.inf)
    nearest = np.full(m, -1)
    stale = np.zeros(m, np.bool_)
    for at in range(m):
        low[at], nearest[at] = _nearest_after(psi, live, m, at)
    for k in range(m - 1):
        count = m - k
        u = _closest(psi, live, count, low, nearest, stale)
        v = nearest[u]
        pairs[first + k, 0] = start + u
        pairs[first + k, 1] = start + v
        heights[first + k] = low[u]
        weights[first + k] = weight[u, v]
        _unite(linkage, psi, weight, live, count, u, v, low, nearest, stale)
        for t in range(place_of(live, count, v), count - 1):
            live[t] = live[t + 1]


@kernel
def grow_forest(D, reading, order, starts, linkage):
    """Trees of all clusters, one after the other; returns pairs (positions), heights, weights."""
    n = len(order)
    clusters = len(starts) - 1
    widest = 0
    for k in range(clusters):
        widest = max(widest, starts[k + 1] - starts[k])
    psi_buffer = np.empty(widest * widest)
    weight_buffer = np.empty(widest * widest)
    rounds = n - clusters
    pairs = np.empty((rounds, 2), np.int64)
    heights = np.empty(rounds)
    weights = np.empty(rounds)
    for k in range(clusters):
        start = starts[k]
        m = starts[k + 1] - start
        psi = psi_buffer[: m * m].reshape(m, m)
        weight = weight_buffer[: m * m].reshape(m, m)
        for a in range(m):
            i = order[start + a]
            for b in range(a + 1, m):
                j = order[start + b]
                psi[a, b] = value_of(D, reading, i, j)
                weight[a, b] = leaf_weight(linkage, psi[a, b], i, j, n)
        grow_cluster(linkage, psi, weight, start, pairs, heights, weights, start - k)
    return pairs, heights, weights


@kernel
def order_rounds(order, starts, pairs, heights, weights):
    """Bring the merges of all clusters into the order of greedy training HAC; returns copies.

    Every cluster keeps its own order; of the clusters' next merges the lowest goes first, ties by
    original index.
    """
    clusters = len(starts) - 1
    head = np.empty(clusters, np.int64)  # clusters with merges left, and each one's next merge
    waiting = np.empty(clusters, np.int64)
    count = 0
    for k in range(clusters):
        head[k] = starts[k] - k
        if starts[k + 1] - starts[k] > 1:
            waiting[count] = k
            count += 1
    sorted_pairs = np.empty_like(pairs)
    sorted_heights = np.empty_like(heights)
    sorted_weights = np.empty_like(weights)
    for done in range(len(heights)):
        at = 0
        for t in range(1, count):
            one = head[waiting[t]]
            best = head[waiting[at]]
            if heights[one] < heights[best] or (
                heights[one] == heights[best] and order[pairs[one, 0]] < order[pairs[best, 0]]
            ):
                at = t
        k = waiting[at]
        sorted_pairs[done, 0] = pairs[head[k], 0]
        sorted_pairs[done, 1] = pairs[head[k], 1]
        sorted_heights[done] = heights[head[k]]
        sorted_weights[done] = weights[head[k]]
        head[k] += 1
        if head[k] == starts[k + 1] - k - 1:
            count -= 1
            waiting[at] = waiting[count]
    return sorted_pairs, sorted_heights, sorted_weights


@kernel(error_model="numpy")
def _spread_mean(D, reading, linkage, us, vs, slope, height, weight, out):
    """Gradient of one merge, times ``slope``, into ``out``; returns slope times dPsi/dalpha."""
    in_alpha = 0.0
    for i in us:
        for j in vs:
            value = value_of(D, reading, i, j)
            beyond = value - height
            if linkage.form == LINEAR:
                share = point_weight(LINEAR, value, linkage.alpha, linkage.centre) / weight
            else:
                share = np.exp(linkage.alpha * beyond - weight)
            out[i, j] = slope * share * (1.0 + linkage.alpha * beyond)
            if share > 0.0:
                in_alpha += share * beyond * beyond
    return slope * in_alpha


@kernel
def _spread_extreme(D, reading, us, vs, slope, height, out):
    """Give the slope of one merge to every pair that attains its height."""
    for i in us:
        for j in vs:
            if value_of(D, reading, i, j) == height:
                out[i, j] = slope


@kernel
def pure_gradient(D, reading, order, linkage, pairs, heights, weights, slopes, out):
    """Gradient of sum slopes[k] heights[k]; merges in any order with children before parents.

    Every pair of points meets in one merge, so O(n^2) in all. Writes one of out[i, j], out[j, i];
    returns the gradient in alpha.
    """
    n = len(order)
    following = np.full(n, -1)  # positions of a cluster as a chain from its first
    last = np.arange(n)
    us = np.empty(n, np.int64)
    vs = np.empty(n, np.int64)
    in_alpha = 0.0
    for k in range(len(heights)):
        u = pairs[k, 0]
        v = pairs[k, 1]
        if slopes[k] != 0.0 and linkage.every:
            size_u = _collect(following, order, u, us)
            size_v = _collect(following, order, v, vs)
            _spread_extreme(D, reading, us[:size_u], vs[:size_v], slopes[k], heights[k], out)
        elif slopes[k] != 0.0 and linkage.form == EXTREME:
            code = int(weights[k])
            out[code // n, code % n] = slopes[k]
        elif slopes[k] != 0.0:
            size_u = _collect(following, order, u, us)
            size_v = _collect(following, order, v, vs)
            in_alpha += _spread_mean(
                D, reading, linkage, us[:size_u], vs[:size_v],
                slopes[k], heights[k], weights[k], out,
            )  # fmt: skip
        following[last[u]] = v
        last[u] = last[v]
    return in_alpha


@kernel
def _collect(following, order, start, points):
    count = 0
    at = start
    while at >= 0:
        points[count] = order[at]
        count += 1
        at = following[at]
    return count
