"""Compile what clustering of tables needs, by using it once."""

from __future__ import annotations

import numpy as np

from supclust.cluster.edges import cluster_edges
from supclust.cluster.flat import Cut, centred, flat_points, flat_records
from supclust.data.comparisons import Comparison, RecordComparisons
from supclust.data.edge_lists import Edges


def use_kernels(dtype: type) -> None:
    """Cluster a few points and records (float32), or edges (float64)."""
    starts, cut = np.array([0, 3, 6]), Cut(-1.0, 1.0)
    if dtype is np.float64:
        edges = Edges(("a", "b", "c"), np.array([0]), np.array([1]), np.array([0.5]), 0, 0)
        cluster_edges(edges, 0.0, 1.0, 2.0)
        return
    points = np.arange(12.0).reshape(6, 2)
    flat_points(centred(points, starts), starts, cut)
    both = RecordComparisons((Comparison("text", "text"), Comparison("number", "number")))
    records = both.encode({"text": ["a b", "a c", "d"] * 2, "number": np.arange(6.0)})
    both.features(records, np.arange(3))
    flat_records(records, both.layout, starts, np.ones(4, np.float32), 0.0, cut)
