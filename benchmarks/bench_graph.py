"""Trees of sparse graphs and ``supclust edges``, beside what other libraries make of the edges."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.bench_cluster import run
from benchmarks.timing import exponent, peak_extra_bytes, table

CUT = 0.5  # the default of `supclust edges`
ALPHA = -1.0
HIGRA_MOST = 200_000  # edges
SCIKIT_MOST = 200_000
OTHERS_MOST = 3_000_000


class Graph(NamedTuple):
    """A graph with dissimilarities between 0 and 1, each pair once."""

    name: str
    n: int
    first: np.ndarray
    second: np.ndarray
    value: np.ndarray


def make(
    name: str, n: int, edges: int, draw: Callable[[int], tuple[Any, Any]], path: bool = False
) -> Graph:
    """Draw pairs of nodes until so many are different; ids are shuffled."""
    rng = np.random.default_rng(0)
    kept = np.arange(n - 1) * (n + 1) + 1 if path else np.empty(0, np.int64)
    codes = kept
    while len(codes) < edges:
        i, j = draw(edges)
        fresh = np.minimum(i, j)[i != j].astype(np.int64) * n + np.maximum(i, j)[i != j]
        codes = np.unique(np.concatenate([codes, fresh]))
    drawn = rng.permutation(np.setdiff1d(codes, kept, assume_unique=True))
    codes = rng.permutation(np.concatenate([kept, drawn[: edges - len(kept)]]))
    ids = rng.permutation(n).astype(np.int32)
    return Graph(name, n, ids[codes // n], ids[codes % n], rng.random(edges))


def components(n: int, edges: int) -> Graph:
    """Groups of 20 nodes, 5 edges a node: components of up to 20 nodes."""
    rng = np.random.default_rng(1)

    def draw(count: int) -> tuple[Any, Any]:
        group = 20 * rng.integers(0, n // 20, count)
        return group + rng.integers(0, 20, count), group + rng.integers(0, 20, count)

    return make("many components", n, edges, draw)


def power_law(n: int, edges: int) -> Graph:
    """Ends drawn with probability rank^-0.7, and a path through all nodes: one component."""
    rng = np.random.default_rng(2)
    ends = np.cumsum(np.arange(1, n + 1) ** -0.7)

    def draw(count: int) -> tuple[Any, Any]:
        i, j = np.searchsorted(ends, ends[-1] * rng.random((2, count)))
        return i, j

    return make("one power-law component", n, edges, draw, path=True)


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Least seconds of some calls."""
    least = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - start)
    return least


def linkages(graph: Graph) -> dict[str, Callable[[], object]]:
    """Ours, up to the default cut and to the end."""
    from supclust.hac import graph_linkage

    edges = graph.first, graph.second, graph.value

    def ours(**options: Any) -> Callable[[], object]:
        return lambda: graph_linkage(edges, graph.n, **options)

    return {
        "average, missing 1, cut 0.5": ours(method="average", missing=1.0, threshold=CUT),
        "alpha -1, missing 1, all merges": ours(alpha=ALPHA, missing=1.0),
        "alpha -1, missing ignored, all merges": ours(alpha=ALPHA, missing="ignored"),
    }


def others(graph: Graph) -> dict[str, Callable[[], object]]:
    """What other libraries compute from the same edges, where they can."""
    import igraph
    import leidenalg
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    n, i, j, f = graph.n, graph.first, graph.second, graph.value
    matrix = coo_array((f, (i, j)), shape=(n, n)).tocsr()

    def leiden() -> object:
        made = igraph.Graph(n, np.column_stack([i, j]))
        kind = leidenalg.ModularityVertexPartition
        return leidenalg.find_partition(made, kind, weights=1.0 - f, n_iterations=2, seed=0)

    def splink() -> object:
        import pyarrow as pa
        from splink import DuckDBAPI
        from splink.clustering import cluster_pairwise_predictions_at_threshold

        database = DuckDBAPI()
        nodes = database.register(pa.table({"unique_id": np.arange(n)}))
        edges = {"unique_id_l": i, "unique_id_r": j, "match_probability": 1.0 - f}
        return cluster_pairwise_predictions_at_threshold(
            nodes, database.register(pa.table(edges)), database, "unique_id",
            "unique_id_l", "unique_id_r", threshold_match_probability=1.0 - CUT,
        )  # fmt: skip

    made: dict[str, Callable[[], object]] = {
        "SciPy connected_components": lambda: connected_components(matrix, directed=False),
        "SciPy minimum_spanning_tree": lambda: minimum_spanning_tree(matrix),
    }
    if len(f) <= OTHERS_MOST:
        made["Leiden (leidenalg), modularity"] = leiden
        made["Splink, components at p >= 0.5"] = splink
    if graph.name.startswith("one") and len(f) <= HIGRA_MOST:
        import higra

        def partition_tree() -> object:
            connected = higra.UndirectedGraph(n)
            connected.add_edges(i, j)
            return higra.binary_partition_tree_exponential_linkage(connected, f, ALPHA)

        made["higra, alpha -1, missing ignored"] = partition_tree
    if graph.name.startswith("one") and len(f) <= SCIKIT_MOST:
        from sklearn.cluster import AgglomerativeClustering

        X = np.random.default_rng(0).random((n, 2))  # it takes points, not weights of edges
        made["scikit-learn, average, connectivity"] = lambda: AgglomerativeClustering(
            2, linkage="average", connectivity=matrix
        ).fit(X)
    return made


def whole_command(graph: Graph) -> str:
    """``supclust edges`` on a Parquet file with text ids: seconds and peak memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ids = pa.array(np.char.add("rec-", np.arange(graph.n).astype(str)))
        columns = {
            "unique_id_l": ids.take(pa.array(graph.first)),
            "unique_id_r": ids.take(pa.array(graph.second)),
            "match_probability": 1.0 - graph.value,
        }
        pq.write_table(pa.table(columns), folder / "edges.parquet")
        words = [sys.executable, "-m", "supclust", "edges", "edges.parquet", "-o", "out.parquet"]
        run(words, folder)  # loads the compiled code into the cache of the file system
        ran = min((run(words, folder) for _ in range(2)), key=lambda ran: ran.seconds)
    count = len(graph.value)
    return (
        f"`supclust edges` on a Parquet file of {count:,} pairs and {graph.n:,} ids of text: "
        f"{ran.seconds:.1f} s, {ran.peak_bytes / 1e9:.2f} GB at most "
        f"({ran.peak_bytes / count:.0f} bytes a pair, the interpreter included)."
    )


def report(quick: bool) -> str:
    """Return the section."""
    for call in linkages(power_law(100, 300)).values():
        call()  # compile
    many = (10_000, 50_000) if quick else (1_000_000, 10_000_000)
    giants = (10_000, 30_000) if quick else (100_000, 2_000_000, 8_000_000)
    rows: list[list[str]] = []
    growth: dict[str, list[float]] = {}
    beside: dict[str, float] = {}
    for build, edges in [(components, e) for e in many] + [(power_law, e) for e in giants]:
        graph = build(edges // 5, edges)
        count = len(graph.value)
        repeats = 3 if count <= 1_000_000 else 1
        for name, call in linkages(graph).items():
            peak = peak_extra_bytes(call)
            taken = seconds(call, repeats)
            if graph.name.startswith("one"):
                growth.setdefault(name, []).append(taken)
            beside[name] = taken
            rows.append(_row(graph, f"supclust, {name}", taken, f"{peak / count:.0f}"))
        for name, call in others(graph).items():
            beside[name] = seconds(call, 1)
            rows.append(_row(graph, name, beside[name], ""))
            if name.startswith("higra"):
                ours = beside["alpha -1, missing ignored, all merges"]
                rows[-1][-1] = f"{beside[name] / ours:.0f} times ours"
    slopes = ", ".join(
        f"{exponent(list(giants), taken):.2f} ({name})" for name, taken in growth.items()
    )
    header = ["graph", "edges", "what", "seconds", "us an edge", "peak bytes an edge"]
    return "\n\n".join(
        [
            "Exact trees from the edges; dissimilarities are uniform. Least of three runs up to a "
            "million edges, else of one. Components, spanning trees and Leiden are other, cheaper "
            "questions, shown for scale; scikit-learn compares points along the same graph.",
            table(header, rows),
            f"Exponent in edges of one component: {slopes}.",
            whole_command(components(many[-1] // 5, many[-1])),
        ]
    )


def _row(graph: Graph, what: str, taken: float, memory: str) -> list[str]:
    count = len(graph.value)
    each = f"{1e6 * taken / count:.2f}"
    return [graph.name, f"{count:,}", what, f"{taken:.3g}", each, memory]
