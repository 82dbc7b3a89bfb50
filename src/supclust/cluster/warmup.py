"""Compile what clustering and training from tables need, by using it once.

Real calls on small data, not a list of kernels: what the commands come to need is compiled here
too, as long as they go through the same functions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supclust.cluster.edges import cluster_edges
from supclust.cluster.flat import Cut, centred, embedded, flat_points, flat_records
from supclust.data.block import Block, Kind, n_pairs
from supclust.data.layouts.edge_lists import Edges
from supclust.data.records.comparisons import Comparison, RecordComparisons
from supclust.hac.cpu.dispatch import SMALL

_SIZES = (3, SMALL)  # of blocks: one for the compiled pass, one that is too large for it


def use_kernels(dtype: type) -> None:
    """Cluster points and records (float32), or edges (float64), in small and in large blocks."""
    if dtype is np.float64:
        _edges()
        return
    starts, cut = np.cumsum([0, *_SIZES]), Cut(-1.0, 1.0)
    n = int(starts[-1])
    points = np.arange(2.0 * n).reshape(n, 2)
    flat_points(embedded(points, starts, np.eye(2, dtype=np.float32)), starts, cut)
    points = centred(points, starts)
    flat_points(points, starts, cut, np.ones(2, np.float32))
    both = RecordComparisons((Comparison("text", "text"), Comparison("number", "number")))
    texts = [("a b", "a c", "d")[i % 3] for i in range(n)]
    records = both.encode({"text": texts, "number": np.arange(float(n))})
    both.features(records, np.arange(3))
    flat_records(records, both.layout, starts, np.ones(4, np.float32), 0.0, cut)


def _edges() -> None:
    """Two components: chains of the two sizes."""
    n = sum(_SIZES)
    first = np.delete(np.arange(n - 1), _SIZES[0] - 1)
    value = np.full(len(first), 0.5)
    ids = tuple(map(str, range(n)))
    edges = Edges(ids, first, first + 1, value, 0, 0)
    for missing in (2.0, np.inf):
        cluster_edges(edges, 0.0, 1.0, missing)


def use_training(dtype: type) -> None:
    """Train on points and on pair features for one epoch in this precision, and choose a cut."""
    from supclust.model.fit import FitOptions, fit_model

    kinds: tuple[Kind, ...] = ("vectors", "pairs")
    options = FitOptions(precision=8 * np.dtype(dtype).itemsize, recipe={"max_epochs": 1})
    for kind in kinds:
        blocks = [_block(kind, n, dtype) for n in (5, 6, 7, 8)]  # of unlike sizes: padded in a step
        fit_model(blocks[::2], blocks[1::2], ("x", "y"), options)


def _block(kind: Kind, n: int, dtype: type) -> Block:
    rows = n if kind == "vectors" else n_pairs(n)
    features: NDArray[np.floating] = np.random.default_rng(n).normal(size=(rows, 2))
    ids = tuple(map(str, range(n)))
    return Block(f"block {n}", ids, np.arange(n) // 2, kind, features.astype(dtype))
