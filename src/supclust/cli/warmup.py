"""``supclust warmup``: compile the kernels ahead of time.

Kernels are compiled by real calls on small data, through the functions that the commands use.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from supclust._lazy import install_hint

if TYPE_CHECKING:
    from supclust.data.block import Block, Kind
    from supclust.data.records.features import ColumnKind
    from supclust.data.records.table import Records

EXAMPLES = ("supclust warmup", "supclust warmup --all")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--all",
        action="store_true",
        help="also what only large blocks, supclust.linkage of float32, supclust.hac.linkages, "
        "losses and training in float64 use",
    )


def run(options: argparse.Namespace) -> int:
    """Use the compiled kernels once, and print the seconds each part took."""
    start = time.perf_counter()
    for name, call, library in _parts(options.all):
        begin = time.perf_counter()
        if library is not None and find_spec(library) is None:
            print(f"{name:<17} left out: needs {library}. {install_hint('train')}", flush=True)
            continue
        call()
        print(f"{name:<17} {time.perf_counter() - begin:6.2f} s", flush=True)
    print(f"ready in {time.perf_counter() - start:.2f} s")
    return 0


def _parts(everything: bool) -> list[tuple[str, Callable[[], object], str | None]]:
    """Name, call, and the library that it needs: what commands use by default first."""
    parts: list[tuple[str, Callable[[], object], str | None]] = [
        ("linkage", partial(_linkage, np.float64), None),
        ("cluster", _cluster, None),
        ("cluster entities", _cluster_entities, None),
        ("edges", _edges, None),
        ("fit", partial(_fit, np.float32), "pytorch_lightning"),
        ("fit entities", _fit_entities, "lightgbm"),
    ]
    if not everything:
        return parts
    parts += [("linkage float32", partial(_linkage, np.float32), None)]
    for dtype in (np.float32, np.float64):
        name = dtype.__name__
        parts += [
            (f"large {name}", partial(_large, dtype), None),
            (f"linkages {name}", partial(_linkages, dtype), None),
            (f"loss {name}", partial(_loss, dtype), "torch"),
        ]
    return [*parts, ("fit float64", partial(_fit, np.float64), "pytorch_lightning")]


def _square(n: int, dtype: type) -> NDArray[np.floating]:
    """Distances of 0, 1, 4, 9, ...: a cluster that grows by one point after another."""
    x = np.arange(n) ** 2
    distances: NDArray[np.floating] = np.abs(x[:, None] - x[None, :]).astype(dtype)
    return distances


def _condensed(n: int, dtype: type) -> NDArray[np.floating]:
    return np.random.default_rng(0).random(n * (n - 1) // 2, dtype)


def _linkage(dtype: type) -> None:
    from supclust.hac import linkage
    from supclust.hac.cpu.dispatch import SMALL

    infinite = _square(64, dtype)
    infinite[0, 1] = infinite[1, 0] = np.inf  # checked by a kernel of its own
    # Matrices of SMALL points are copied on all cores.
    inputs = (_square(64, dtype), infinite, _condensed(64, dtype))
    for distances in (*inputs, _square(SMALL, dtype), _condensed(SMALL, dtype)):
        linkage(distances, "exp", alpha=-1.0)
    linkage(_square(64, dtype), "single")


def _large(dtype: type) -> None:
    from supclust.hac import linkage
    from supclust.hac.cpu.dispatch import SMALL

    for distances in (_square(SMALL + 100, dtype), _condensed(SMALL + 100, dtype)):
        linkage(distances, "exp", alpha=-1.0)
        linkage(distances, "single")


def _linkages(dtype: type) -> None:
    from supclust.hac import linkages

    linkages([_square(64, dtype)] * 2, "average")


def _loss(dtype: type) -> None:
    import torch

    from supclust.losses import explink_loss

    distances = torch.from_numpy(_square(12, dtype)).requires_grad_(True)
    torch.autograd.grad(explink_loss(distances, torch.arange(12) % 3, -1.0), distances)


def _cluster() -> None:
    """Cluster points and records, in small and in large blocks."""
    from supclust.cluster.flat import centred, embedded, flat_points, flat_records
    from supclust.cut.rule import Cut, expected_shares, learned_merges, merge_features, no_rule
    from supclust.data.records.comparisons import Comparison, RecordComparisons
    from supclust.hac.cpu.dispatch import SMALL

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
    children, rule = np.array([[0, 1], [2, 3]]), no_rule()
    learned_merges(children, np.arange(2.0), rule)
    expected_shares(merge_features(children, np.arange(2.0), 0.0, 1.0), rule.trees)


def _cluster_entities() -> None:
    """Candidates of a table without blocks, scores by both pair models, graph and confidence."""
    from supclust.boosting.score import score_rows
    from supclust.cut.rule import no_rule
    from supclust.data.records.learning import learn_comparisons
    from supclust.explain.membership import membership
    from supclust.resolve.blocking.candidates import Candidates
    from supclust.resolve.blocking.predicates import PREDICATES
    from supclust.resolve.blocking.rules import Predicate, Rule
    from supclust.resolve.blocking.table_rules import key_table
    from supclust.resolve.graph_cut import cluster_graph
    from supclust.resolve.pair_model import Logistic
    from supclust.resolve.scoring import Compared, score_candidates
    from supclust.resolve.training_pairs import count_pairs

    records = _entities()
    keys = key_table(records)
    rules = [Rule((Predicate("name", name), Predicate("code"))) for name in PREDICATES]
    candidates = Candidates.of(keys, rules)
    count_pairs(candidates, records.labels)
    left, right = np.array([[0, 1], [2, 3]])
    comparisons = learn_comparisons(records.kinds, records.values, left, right)
    table = Compared(comparisons, comparisons.encode(records.values))
    features = table.features(left, right, nan=True)
    for rows in (features, features.astype(np.float64)):  # records, and features of pairs
        score_rows(rows, no_rule().trees, np.empty(2))
    edges = score_candidates(candidates, table, [Logistic(np.ones(features.shape[1]), 0.0)])
    forest = cluster_graph(edges, records.n, -1.0, np.inf, np.array([[0, 1]]), np.array([[2, 3]]))
    membership(edges, forest, -1.0, 4.0, 0.0)


def _fit_entities() -> None:
    """Learn from a table without blocks."""
    from supclust.resolve.fit import TableOptions, fit_table

    fit_table(_entities(), TableOptions())


def _entities() -> Records:
    """A table with two records of each of ten entities, and a column of every kind."""
    from supclust.data.records.table import ColumnChoice, read_records

    kinds: dict[str, ColumnKind] = {"name": "text", "notes": "document", "code": "code"}
    kinds |= {"tags": "list", "born": "date", "size": "number", "place": "coordinates"}
    letters = np.random.default_rng(0).choice(list("aeiklmnorstu"), (20, 6))
    words = ["".join(row) for row in letters]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(["who", *kinds])
            for i in range(20):
                k = i // 2
                name = f"{words[i]} {words[k]}"
                values = (name, f"{name} {words[0]}", f"1234{k}", f"{words[k]};{words[i]}")
                writer.writerow([k, *values, f"19{60 + k}-01-0{1 + i % 2}", i, f"{k}.5,7.{i}"])
        return read_records(path, ColumnChoice("who", kinds=kinds))


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
    from supclust.model.fit import FitOptions, fit_model

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
