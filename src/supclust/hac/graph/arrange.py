"""Edges by connected component, each pair once, in O(edges + nodes): counting sorts.

Sorted by component, smaller end and larger end, edges do not depend on the order in which they were
listed, so neither do ties in the trees.
"""

from __future__ import annotations

import numpy as np

from supclust.hac.cpu.numbering import root_of
from supclust.kernels import kernel

MEAN_OF, LEAST_OF, LARGEST_OF = 0, 1, 2  # value of a pair that is given several times


@kernel
def _unite(parent, a, b):
    """Unite two sets; the representative of a set is its smallest member."""
    a, b = root_of(parent, a), root_of(parent, b)
    if a < b:
        parent[b] = a
    elif b < a:
        parent[a] = b


@kernel
def join(parent, pairs):
    """Unite the sets of the ends of (k, 2) pairs, int32."""
    for k in range(len(pairs)):
        _unite(parent, pairs[k, 0], pairs[k, 1])


@kernel
def join_near(parent, first, second, value, limit):
    """Unite the sets of the ends of every edge at or below the limit."""
    for k in range(first.size):
        if value[k] <= limit:
            _unite(parent, first[k], second[k])


@kernel
def flatten(parent):
    """Point every node at the smallest member of its set."""
    for node in range(parent.size):
        parent[node] = parent[parent[node]]  # a parent has a smaller number, so it is done


@kernel
def number_sets(parent):
    """Number the sets of a flat union-find by their smallest member.

    Returns:
        (n,) int32 set of every node, (c + 1,) offsets and (n,) nodes by set, ascending in each.
    """
    n = parent.size
    number = np.empty(n, np.int32)
    count = 0
    for node in range(n):
        if parent[node] == node:
            number[node] = count
            count += 1
        else:
            number[node] = number[parent[node]]
    starts = np.zeros(count + 1, np.int64)
    for node in range(n):
        starts[number[node] + 1] += 1
    starts = np.cumsum(starts)
    place = starts[:-1].copy()
    order = np.empty(n, np.int32)
    for node in range(n):
        order[place[number[node]]] = node
        place[number[node]] += 1
    return number, starts, order


@kernel
def sort_pairs(first, second, value, n):
    """Sort pairs by smaller and larger end; a pair of a node with itself is dropped.

    Returns:
        int32 smaller ends, int32 larger ends, float64 values.
    """
    # A stable counting sort by the larger end, then one by the smaller end.
    ends = np.zeros(n + 1, np.int64)
    for k in range(first.size):
        if first[k] != second[k]:
            ends[max(first[k], second[k]) + 1] += 1
    ends = np.cumsum(ends)
    count = ends[n]
    low, high, moved = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count)
    for k in range(first.size):
        if first[k] != second[k]:
            larger = max(first[k], second[k])
            place = ends[larger]
            ends[larger] += 1
            low[place], high[place], moved[place] = min(first[k], second[k]), larger, value[k]
    starts = np.zeros(n + 1, np.int64)
    for k in range(count):
        starts[low[k] + 1] += 1
    starts = np.cumsum(starts)
    a, b, sorted_values = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count)
    for k in range(count):
        place = starts[low[k]]
        starts[low[k]] += 1
        a[place], b[place], sorted_values[place] = low[k], high[k], moved[k]
    return a, b, sorted_values


@kernel
def first_appearances(first, second, n):
    """Renumber nodes, in place, by first appearance in the pairs, row by row.

    Returns:
        (n,) int32 former number of every node.
    """
    number = np.full(n, -1, np.int32)
    former = np.empty(n, np.int32)
    count = 0
    for k in range(first.size):
        for ends in (first, second):
            node = ends[k]
            if number[node] < 0:
                number[node] = count
                former[count] = node
                count += 1
            ends[k] = number[node]
    return former


@kernel
def unite_repeated(first, second, value, rule):
    """Make one edge, in place, of equal pairs that follow each other.

    Args:
        first: (e,) smaller ends, sorted by `sort_pairs`.
        second: (e,) larger ends.
        value: (e,) dissimilarities; becomes the mean, least or largest of each pair.
        rule: `MEAN_OF`, `LEAST_OF` or `LARGEST_OF`.

    Returns:
        The number of pairs; the pair whose values differ most, -1 if none do; its least and its
        largest value.
    """
    kept, worst, widest = 0, -1, 0.0
    worst_low = worst_high = 0.0
    k = 0
    while k < first.size:
        a, b = first[k], second[k]
        least = largest = total = value[k]
        times = 1
        while k + times < first.size and first[k + times] == a and second[k + times] == b:
            x = value[k + times]
            least, largest, total = min(least, x), max(largest, x), total + x
            times += 1
        if largest != least and not largest - least <= widest:
            widest, worst, worst_low, worst_high = largest - least, kept, least, largest
        if rule == LEAST_OF or least == largest:
            x = least
        elif rule == LARGEST_OF:
            x = largest
        else:
            x = min(max(total / times, least), largest)
        first[kept], second[kept], value[kept] = a, b, x
        kept += 1
        k += times
    return kept, worst, worst_low, worst_high


@kernel
def edges_by_component(first, second, value, component, local, count):
    """Return the edges inside a component, by component, and (c + 1,) offsets; a stable sort.

    Args:
        first: (e,) smaller ends.
        second: (e,) larger ends.
        value: (e,) dissimilarities.
        component: (n,) of every node.
        local: (n,) number of every node in its component, which becomes the end of an edge.
        count: Number of components.
    """
    starts = np.zeros(count + 1, np.int64)
    for k in range(first.size):
        if component[first[k]] == component[second[k]]:
            starts[component[first[k]] + 1] += 1
    starts = np.cumsum(starts)
    kept = starts[count]
    a, b, x = np.empty(kept, np.int32), np.empty(kept, np.int32), np.empty(kept)
    place = starts[:-1].copy()
    for k in range(first.size):
        own = component[first[k]]
        if own == component[second[k]]:
            to = place[own]
            place[own] += 1
            a[to], b[to], x[to] = local[first[k]], local[second[k]], value[k]
    return a, b, x, starts


@kernel
def number_components(pairs, offsets, components, children, sizes):
    """Number the merges of every component as SciPy does; fills ``children`` and ``sizes``."""
    n, count = components.size, offsets.size - 1
    nodes = np.zeros(count, np.int64)
    label = np.empty(n, np.int64)  # of the cluster of a representative
    for i in range(n):
        label[i] = nodes[components[i]]
        nodes[components[i]] += 1
    parent, points = np.arange(n), np.ones(n, np.int64)
    for c in range(count):
        for k in range(offsets[c], offsets[c + 1]):
            a, b = root_of(parent, pairs[k, 0]), root_of(parent, pairs[k, 1])
            children[k, 0], children[k, 1] = min(label[a], label[b]), max(label[a], label[b])
            if points[a] < points[b]:
                a, b = b, a
            parent[b] = a
            points[a] += points[b]
            label[a] = nodes[c] + k - offsets[c]
            sizes[k] = points[a]
