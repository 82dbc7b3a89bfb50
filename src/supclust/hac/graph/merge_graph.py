"""The trees of all components, side by side on all cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supclust.hac.cpu.merge_rules import choose_representation, point_weight
from supclust.hac.cpu.threads import over_parts, thread_count
from supclust.hac.family import LINEAR, MEAN
from supclust.hac.graph.arrange import edges_by_component
from supclust.hac.graph.merge_component import CLUSTER, EDGE, NUMBER, combine, merge_component
from supclust.hac.graph.pair_table import capacity_bits
from supclust.kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Merges: TypeAlias = tuple[NDArray[np.int32], Floats, Ints]
Merge: TypeAlias = Callable[..., Merges]
"""`merge_graph`, or a function that computes the same elsewhere."""


class Rule(NamedTuple):
    """How clusters are compared, and up to which height they are merged.

    Attributes:
        representation: Of the weights: EXTREME, LINEAR (also for alpha = 0) or LOG.
        alpha: Member of the family.
        centre: Dissimilarity of weight 1 (LINEAR).
        kind: What a missing pair counts: NUMBER, NEVER or IGNORED.
        missing: Its dissimilarity (NUMBER).
        unit: Its weight (LINEAR).
        limit: Largest height of a merge, finite.
    """

    representation: int
    alpha: float
    centre: float
    kind: int
    missing: float
    unit: float
    limit: float


def make_rule(
    alpha: float, low: float, high: float, n: int, kind: int, missing: float, limit: float
) -> Rule:
    """Choose the weight representation for finite dissimilarities from ``low`` to ``high``."""
    if kind == NUMBER:
        low, high = min(low, missing), max(high, missing)
    representation = int(choose_representation(alpha, low, high, n, np.empty(0)))
    if representation == MEAN:
        representation = LINEAR  # all weights are 1 at alpha = 0
    centre = (low + high) / 2
    unit = float(np.exp(alpha * (missing - centre))) if representation == LINEAR else 0.0
    return Rule(representation, alpha, centre, kind, missing, unit, limit)


def merge_graph(
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    value: Floats,
    component: NDArray[np.int32],
    starts: Ints,
    order: NDArray[np.int32],
    group: NDArray[np.int32],
    rule: Rule,
) -> Merges:
    """Merge the clusters of every component greedily.

    Args:
        first: (e,) smaller ends of the edges, sorted by ends.
        second: (e,) larger ends.
        value: (e,) dissimilarities; inf for clusters that may not be merged.
        component: (n,) of every node.
        starts: (c + 1,) offsets of the components in ``order``.
        order: (n,) nodes by component, ascending in each.
        group: (n,) smallest node that a node is merged with before the start; only these have
            edges.
        rule: Linkage and limit.

    Returns:
        pairs (m, 2), a node of either side of each merge; heights (m,), non-decreasing in each
        component and -inf for merges before the start; offsets (c + 1,) of the components.
    """
    count = len(starts) - 1
    local = np.empty(len(order), np.int32)
    local[order] = np.arange(len(order)) - np.repeat(starts[:-1], np.diff(starts))
    a, b, x, edge_starts = edges_by_component(first, second, value, component, local, count)
    size = np.bincount(group, minlength=len(order))
    pairs = np.empty((len(order) - count, 2), np.int32)
    heights, made = np.empty(len(pairs)), np.zeros(count, np.int64)
    parts = 1 if thread_count() == 1 else 64
    work = edge_starts + starts
    bounds = np.searchsorted(work, np.linspace(0, work[-1], parts + 1))
    bounds[-1] = count

    def merge(start: int, stop: int) -> None:
        merge_components(
            bounds[start], bounds[stop], a, b, x, edge_starts, starts, order, group, size,
            rule.representation, rule.alpha, rule.centre, rule.kind, rule.missing, rule.unit,
            rule.limit, pairs, heights, made,
        )  # fmt: skip

    over_parts(merge, parts, parts=parts)
    ends = np.concatenate([[0], np.cumsum(made)])
    kept = pack(pairs, heights, starts, made)
    return pairs[:kept], heights[:kept], ends


@kernel
def pack(pairs, heights, starts, made):
    """Move the merges of all components together, in place; returns their number."""
    kept = 0
    for c in range(made.size):
        offset = starts[c] - c
        for k in range(offset, offset + made[c]):
            pairs[kept, 0], pairs[kept, 1], heights[kept] = pairs[k, 0], pairs[k, 1], heights[k]
            kept += 1
    return kept


@kernel(error_model="numpy")
def merge_components(
    start, stop, first, second, value, edge_starts, starts, order, group, size, rule, alpha, centre,
    kind, missing, unit, limit, pairs, heights, made,
):  # fmt: skip
    """Merge the clusters of components ``start`` to ``stop``; see `merge_graph`."""
    edges = nodes = 0
    for c in range(start, stop):
        edges = max(edges, edge_starts[c + 1] - edge_starts[c])
        if edge_starts[c + 1] > edge_starts[c]:
            nodes = max(nodes, starts[c + 1] - starts[c])
    edge_records, cluster_records = np.empty(edges, EDGE), np.empty(nodes, CLUSTER)
    heap_keys, heap_ids = np.empty(edges), np.empty(edges, np.int32)
    table = np.empty(1 << capacity_bits(edges), np.int64)
    for c in range(start, stop):
        n, to = starts[c + 1] - starts[c], starts[c] - c
        nodes_here = order[starts[c] : starts[c + 1]]
        done = 0
        for i in range(n):
            if group[nodes_here[i]] != nodes_here[i]:
                pairs[to + done, 0], pairs[to + done, 1] = group[nodes_here[i]], nodes_here[i]
                heights[to + done] = -np.inf
                done += 1
        made[c] = done
        if edge_starts[c + 1] == edge_starts[c]:
            continue
        for i in range(n):
            cluster_records[i]["size"] = size[nodes_here[i]]
        e = _fill_edges(
            first, second, value, edge_starts[c], edge_starts[c + 1], rule, alpha, centre,
            edge_records,
        )  # fmt: skip
        merged = pairs[to + done : to + n - 1]
        made[c] += merge_component(
            edge_records[:e], cluster_records[:n], rule, alpha, kind, missing, unit, limit,
            heap_keys, heap_ids, table, merged, heights[to + done : to + n - 1],
        )  # fmt: skip
        for k in range(made[c] - done):
            merged[k, 0], merged[k, 1] = nodes_here[merged[k, 0]], nodes_here[merged[k, 1]]


@kernel(error_model="numpy")
def _fill_edges(first, second, value, start, stop, rule, alpha, centre, edges):
    """Fill the records of edges ``start`` to ``stop``; returns the number of different pairs.

    Equal pairs follow each other and are combined. They come from points that were merged before
    the start, and from pairs that may not be merged.
    """
    kept = -1
    for k in range(start, stop):
        x = value[k]
        weight = point_weight(rule, x, alpha, centre) if x < np.inf else 0.0
        if kept >= 0 and edges[kept]["first"] == first[k] and edges[kept]["second"] == second[k]:
            edge = edges[kept]
            edge["psi"], edge["weight"] = combine(
                rule, edge["psi"], edge["weight"], x, weight, alpha
            )
            edge["given"] += 1
        else:
            kept += 1
            edge = edges[kept]
            edge["first"], edge["second"] = first[k], second[k]
            edge["psi"], edge["weight"], edge["given"] = x, weight, 1
    return kept + 1
