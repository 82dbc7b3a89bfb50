"""``supclust warmup``: compile the kernels ahead of time.

Kernels are compiled by real calls on small data, through the functions that the commands use.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from supclust.data.block import Block, Kind

EXAMPLES = ("supclust warmup",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments: none."""
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Use every compiled kernel once in both precisions, and print the seconds each took."""
    calls: dict[str, Callable[[type], object]] = {
        "single": _single,
        "small": _small,
        "large": _large,
        "blocks": _blocks,
        "training": _loss,
        "tables": _tables,
        "fit": _fit,
    }
    start = time.perf_counter()
    for name, call in calls.items():
        for dtype in (np.float32, np.float64):
            begin = time.perf_counter()
            call(dtype)
            print(f"{name:<9} {dtype.__name__}  {time.perf_counter() - begin:6.2f} s", flush=True)
    print(f"ready in {time.perf_counter() - start:.2f} s")
    return 0


def _square(n: int, dtype: type) -> NDArray[np.floating]:
    """Distances of 0, 1, 4, 9, ...: a cluster that grows by one point after another."""
    x = np.arange(n) ** 2
    distances: NDArray[np.floating] = np.abs(x[:, None] - x[None, :]).astype(dtype)
    return distances


def _condensed(n: int, dtype: type) -> NDArray[np.floating]:
    return np.random.default_rng(0).random(n * (n - 1) // 2, dtype)


def _single(dtype: type) -> None:
    from supclust.hac import linkage
    from supclust.hac.cpu.dispatch import SMALL

    linkage(_square(64, dtype), "single")
    rows, columns = np.triu_indices(SMALL + 100, 1)
    linkage(_square(SMALL + 100, dtype)[rows, columns], "single")


def _small(dtype: type) -> None:
    from supclust.hac import linkage
    from supclust.hac.cpu.dispatch import SMALL

    infinite = _square(64, dtype)
    infinite[0, 1] = infinite[1, 0] = np.inf  # checked by a kernel of its own
    # Matrices of SMALL points are copied on all cores.
    inputs = (_square(64, dtype), infinite, _condensed(64, dtype))
    for distances in (*inputs, _square(SMALL, dtype), _condensed(SMALL, dtype)):
        linkage(distances, "exp", alpha=-1.0)


def _large(dtype: type) -> None:
    from supclust.hac import linkage
    from supclust.hac.cpu.dispatch import SMALL

    linkage(_square(SMALL + 100, dtype), "exp", alpha=-1.0)
    linkage(_condensed(SMALL + 100, dtype), "exp", alpha=-1.0)


def _blocks(dtype: type) -> None:
    from supclust.hac import linkages

    linkages([_square(64, dtype)] * 2, "average")


def _loss(dtype: type) -> None:
    import torch

    from supclust.losses import explink_loss

    distances = torch.from_numpy(_square(12, dtype)).requires_grad_(True)
    torch.autograd.grad(explink_loss(distances, torch.arange(12) % 3, -1.0), distances)


def _tables(dtype: type) -> None:
    """Cluster points and records (float32), or edges (float64), in small and in large blocks."""
    from supclust.cluster.flat import Cut, centred, embedded, flat_points, flat_records
    from supclust.data.records.comparisons import Comparison, RecordComparisons
    from supclust.hac.cpu.dispatch import SMALL

    if dtype is np.float64:
        _edges()
        return
    sizes = (3, SMALL)
    starts, cut = np.cumsum([0, *sizes]), Cut(-1.0, 1.0)
    n = int(starts[-1])
    points = np.arange(2.0 * n).reshape(n, 2)
    flat_points(embedded(points, starts, np.eye(2, dtype=np.float32)), starts, cut)
    flat_points(centred(points, starts), starts, cut, np.ones(2, np.float32))
    both = RecordComparisons((Comparison("text", "text"), Comparison("number", "number")))
    texts = [("a b", "a c", "d")[i % 3] for i in range(n)]
    records = both.encode({"text": texts, "number": np.arange(float(n))})
    both.block_features(records, np.arange(3))
    weight = np.ones(len(both.feature_names), np.float32)
    flat_records(records, both.layout(), starts, weight, 0.0, cut)


def _edges() -> None:
    """Cluster two connected components, learn their linkage from labels, number their trees."""
    import pyarrow as pa

    from supclust.cluster.edges import learn_linkage, tree_columns
    from supclust.data.layouts.edge_lists import Edges
    from supclust.hac import graph_linkage
    from supclust.hac.graph.arrange import first_appearances

    first, second = np.array([0, 1, 3], np.int32), np.array([1, 2, 4], np.int32)
    first_appearances(first, second, 5)
    value = np.array([0.1, 0.2, 0.3])
    tree_columns(graph_linkage((first, second, value), 5, "average", cannot_link=[(0, 2)]))
    edges = Edges(pa.array(list("abcde")), first, second, value, 0, 0)
    learn_linkage(edges, np.array([0, 0, 1, 1, -1]), 1.0)


def _fit(dtype: type) -> None:
    """Train on points and on pair features for one epoch in this precision, and choose a cut."""
    from supclust.cut.rule import expected_shares, learned_merges, merge_features, no_rule
    from supclust.model.fit import FitOptions, fit_model

    children, rule = np.array([[0, 1], [2, 3]]), no_rule()
    learned_merges(children, np.arange(2.0), rule)
    expected_shares(merge_features(children, np.arange(2.0), 0.0, 1.0), rule.trees)
    kinds: tuple[Kind, ...] = ("vectors", "pairs")
    options = FitOptions(precision=8 * np.dtype(dtype).itemsize, recipe={"max_epochs": 1})
    for kind in kinds:
        blocks = [_block(kind, n, dtype) for n in (5, 6, 7, 8)]  # of different sizes: padded
        fit_model(blocks[::2], blocks[1::2], ("x", "y"), options)


def _block(kind: Kind, n: int, dtype: type) -> Block:
    from supclust.data.block import Block, n_pairs

    rows = n if kind == "vectors" else n_pairs(n)
    features: NDArray[np.floating] = np.random.default_rng(n).normal(size=(rows, 2)).astype(dtype)
    return Block(f"block {n}", tuple(map(str, range(n))), np.arange(n) // 2, kind, features)
