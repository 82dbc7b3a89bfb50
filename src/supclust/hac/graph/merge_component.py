"""The greedy ExpLink merges of one connected component, from its edges alone.

Between two clusters stand the statistics of their *given* pairs: linkage, weight and number. A pair
that is not given counts `missing`, so with r = |u| |v| - (given pairs) the linkage is the merge of
(linkage, weight) with r pairs at `missing`: O(1), by the rule of `hac.family`.

The next merge comes from a heap with one entry per pair of clusters. Its key is a lower bound: a
linkage only rises while clusters grow, and the linkage of a union is at least the smaller of its
parts. So of two entries that become one the one with the lower key is kept, keys are never
decreased, and a pair at the top of the heap is merged if its linkage still is its key, else it goes
back with the linkage as its key.
"""

from __future__ import annotations

import numpy as np

from supclust.hac.cpu.merge_rules import merge_pair
from supclust.hac.family import LINEAR
from supclust.hac.graph.heap import drop_least, heapify, sift_down
from supclust.hac.graph.pair_table import capacity_bits, edge_of, entry_of, fill, find, hash_of
from supclust.kernels import kernel

# What a pair that is not given counts.
NUMBER = 0  # `missing`
NEVER = 1  # infinity, with weight: clusters merge only if all pairs between them are given
IGNORED = 2  # nothing

# An edge between two clusters; one record a cache line. Adjacency lists link halves of edges: half
# 2e belongs to the first end of edge e, half 2e + 1 to the second.
EDGE = np.dtype(
    [
        ("psi", np.float64),  # linkage of the given pairs
        ("weight", np.float64),  # their weight
        ("key", np.float64),  # lower bound of the linkage in the heap; inf if it is not there
        ("given", np.int32),  # number of given pairs
        ("first", np.int32),  # one end; -1 once the edge is part of another or was merged
        ("second", np.int32),  # the other end
        ("after_first", np.int32),  # next half in the list of the first end
        ("after_second", np.int32),
    ],
    align=True,
)
CLUSTER = np.dtype([("size", np.int64), ("head", np.int32), ("degree", np.int32)], align=True)

_FULLEST = 0.7  # share of filled slots at which the table is filled anew


@kernel(error_model="numpy")
def combine(rule, a, weight_a, b, weight_b, alpha):
    """Merge the statistics of given pairs; an infinite linkage stays infinite."""
    if a == np.inf or b == np.inf:
        return np.inf, 0.0
    merged, weight, _ = merge_pair(rule, a, weight_a, b, weight_b, 0.0, alpha, 1.0)
    return merged, weight


@kernel(error_model="numpy")
def _linkage(edge, pairs, rule, alpha, kind, missing, unit):
    """Linkage of the clusters that an edge joins, between which ``pairs`` pairs exist.

    ``unit`` is the weight of one missing pair (`LINEAR`).
    """
    psi, absent = edge["psi"], pairs - edge["given"]
    if kind == IGNORED or absent == 0 or psi == np.inf:
        return psi
    if kind == NEVER:
        return np.inf
    share = unit * absent if rule == LINEAR else np.log(absent)
    return merge_pair(rule, psi, edge["weight"], missing, share, 0.0, alpha, 1.0)[0]


@kernel(error_model="numpy")
def merge_component(
    edges, clusters, rule, alpha, kind, missing, unit, limit, heap_keys, heap_ids, table, pairs,
    heights,
):  # fmt: skip
    """Merge the clusters of one component greedily, up to a limit.

    Args:
        edges: (e,) `EDGE`, each pair of clusters once: ends, linkage (inf for clusters that may
            not be merged), weight and number of given pairs; destroyed.
        clusters: (n,) `CLUSTER` with their sizes; destroyed.
        rule: Weight representation: EXTREME, LINEAR (also alpha = 0) or LOG.
        alpha: Of the family.
        kind: What a missing pair counts: `NUMBER`, `NEVER` or `IGNORED`.
        missing: Its dissimilarity (`NUMBER`).
        unit: Weight of one missing pair (`LINEAR`).
        limit: Largest height, finite.
        heap_keys: (e,) workspace.
        heap_ids: (e,) int32 workspace.
        table: (2^capacity_bits(e),) int64 workspace.
        pairs: (n - 1, 2) output, a cluster of either side; the union keeps one of the two numbers.
        heights: (n - 1,) output, non-decreasing.

    Returns:
        The number of merges.

    Complexity: O(e log^2 e) time: the cluster of fewer edges hands them to the other.
    """
    waiting = _begin(edges, clusters, rule, alpha, kind, missing, unit, limit, heap_keys, heap_ids)
    bits = capacity_bits(edges.size)
    filled = fill(table, bits, edges)
    merges = 0
    while waiting > 0:
        e, height = heap_ids[0], heap_keys[0]
        edge = edges[e]
        u, v = edge["first"], edge["second"]
        if u < 0:
            waiting = drop_least(heap_keys, heap_ids, waiting)
            continue
        linkage = _linkage(
            edge, clusters[u]["size"] * clusters[v]["size"], rule, alpha, kind, missing, unit
        )
        if linkage > height:  # never below it but for rounding
            if linkage <= limit:
                edge["key"] = heap_keys[0] = linkage
                sift_down(heap_keys, heap_ids, waiting, 0)
            else:
                edge["key"] = np.inf
                waiting = drop_least(heap_keys, heap_ids, waiting)
            continue
        waiting = drop_least(heap_keys, heap_ids, waiting)
        pairs[merges, 0], pairs[merges, 1], heights[merges] = u, v, height
        merges += 1
        if clusters[u]["degree"] > clusters[v]["degree"]:
            u, v = v, u
        edge["first"] = -1
        filled = _take_over(edges, clusters, u, v, rule, alpha, table, bits, filled)
    return merges


@kernel(error_model="numpy")
def _begin(edges, clusters, rule, alpha, kind, missing, unit, limit, heap_keys, heap_ids):
    """Fill adjacency lists, degrees, keys and the heap; returns the length of the heap."""
    for c in range(clusters.size):
        clusters[c]["head"], clusters[c]["degree"] = -1, 0
    waiting = 0
    for e in range(edges.size):
        edge = edges[e]
        u, v = clusters[edge["first"]], clusters[edge["second"]]
        edge["after_first"], u["head"] = u["head"], 2 * e
        edge["after_second"], v["head"] = v["head"], 2 * e + 1
        u["degree"] += 1
        v["degree"] += 1
        edge["key"] = np.inf
        linkage = _linkage(edge, u["size"] * v["size"], rule, alpha, kind, missing, unit)
        if linkage <= limit:
            edge["key"] = heap_keys[waiting] = linkage
            heap_ids[waiting] = e
            waiting += 1
    heapify(heap_keys, heap_ids, waiting)
    return waiting


@kernel(error_model="numpy")
def _take_over(edges, clusters, u, v, rule, alpha, table, bits, filled):
    """Hand the edges of cluster u to cluster v; returns the number of filled slots."""
    into = clusters[v]
    into["degree"] -= 1  # the edge that was merged
    into["size"] += clusters[u]["size"]
    half = clusters[u]["head"]
    while half >= 0:
        here, e = half, half >> 1
        edge = edges[e]
        half = edge["after_second"] if here & 1 else edge["after_first"]
        if edge["first"] < 0:
            continue
        w = edge["first"] if here & 1 else edge["second"]
        hashed = hash_of(v, w)
        slot = find(table, bits, edges, v, w, hashed)
        if table[slot] == 0:
            filled += 1
            into["degree"] += 1
        else:
            old = edge_of(table[slot])
            other = edges[old]
            merged, weight = combine(
                rule, edge["psi"], edge["weight"], other["psi"], other["weight"], alpha
            )
            given = edge["given"] + other["given"]
            clusters[w]["degree"] -= 1
            if other["key"] < edge["key"] or (other["key"] == edge["key"] and old < e):
                other["psi"], other["weight"], other["given"] = merged, weight, given
                edge["first"] = -1
                continue
            edge["psi"], edge["weight"], edge["given"] = merged, weight, given
            other["first"] = -1
        table[slot] = entry_of(hashed, e)
        if here & 1:
            edge["second"], edge["after_second"] = v, into["head"]
        else:
            edge["first"], edge["after_first"] = v, into["head"]
        into["head"] = here
        if filled > _FULLEST * (1 << bits):
            filled = fill(table, bits, edges)
    return filled
