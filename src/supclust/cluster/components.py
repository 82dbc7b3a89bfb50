"""Merge the components of a graph in chunks, on an engine; equal to `merge_graph` bit for bit.

A component's merges depend on its own edges and on the rule, which is that of the whole graph. So
a chunk is the graph of some components, with nodes numbered in the order in which the whole graph
lists them: ascending in each component, as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.cluster.engine import Engine, in_order, same
from supclust.hac.graph.arrange import edges_by_component
from supclust.hac.graph.merge_graph import Floats, Ints, Merges, Rule, merge_graph

Nodes = NDArray[np.int32]
CHUNK_EDGES = 500_000  # edges and nodes of a chunk; a larger component is a chunk of its own


class Part(NamedTuple):
    """The graph of consecutive components; as the arguments of `merge_graph`."""

    first: Nodes
    second: Nodes
    value: Floats
    component: Nodes
    starts: Ints
    order: Nodes
    group: Nodes


def merge_chunks(
    engine: Engine,
    first: Nodes,
    second: Nodes,
    value: Floats,
    component: Nodes,
    starts: Ints,
    order: Nodes,
    group: Nodes,
    rule: Rule,
) -> Merges:
    """As `merge_graph`, in chunks of components that an engine computes."""
    count = len(starts) - 1
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    a, b, x, edge_starts = edges_by_component(first, second, value, component, place, count)

    bounds = _chunk_bounds(edge_starts + starts)

    def parts() -> Iterator[tuple[int, Part]]:
        for number, (c, d) in enumerate(pairwise(bounds)):
            edges, nodes = slice(*edge_starts[[c, d]]), slice(*starts[[c, d]])
            offset, own = np.int32(starts[c]), starts[c : d + 1] - starts[c]
            yield (
                number,
                Part(
                    a[edges] - offset,
                    b[edges] - offset,
                    x[edges],
                    np.repeat(np.arange(d - c, dtype=np.int32), np.diff(own)),
                    own,
                    np.arange(own[-1], dtype=np.int32),
                    place[group[order[nodes]]] - offset,
                ),
            )

    with closing(engine.map(partial(_merge, rule), parts(), same)) as results:
        merged = in_order(results)
    pairs = [order[starts[c] + part[0]] for c, part in zip(bounds, merged, strict=False)]
    counts = [np.diff(offsets) for *_, offsets in merged]
    ends = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    return np.concatenate(pairs), np.concatenate([heights for _, heights, _ in merged]), ends


def _merge(rule: Rule, part: Part) -> Merges:
    return merge_graph(*part, rule)


def _chunk_bounds(work: Ints) -> list[int]:
    """First component of every chunk, then c; ``work``: (c + 1,) edges and nodes before each."""
    bounds = [0]
    while bounds[-1] < len(work) - 1:
        last = int(np.searchsorted(work, work[bounds[-1]] + CHUNK_EDGES, side="right")) - 1
        bounds.append(max(last, bounds[-1] + 1))
    return bounds
