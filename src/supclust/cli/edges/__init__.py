"""``supclust edges``: cluster a list of scored pairs."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from supclust.cli.cluster import add_engine, engine_of
from supclust.cli.edges.options import (
    alpha_asked,
    id_columns,
    known_column,
    missing_asked,
    thresholds_asked,
    value_column,
)
from supclust.cli.wording import counted

if TYPE_CHECKING:
    from supclust.data.layouts.edge_lists import Edges
    from supclust.data.tables.reader import RecordTable
    from supclust.hac.graph._graph_linkage import Missing

EXAMPLES = (
    "supclust edges edges.parquet -o clusters.parquet",
    "supclust edges splink.parquet --probability match_probability --threshold 0.9,0.99 "
    "--nodes records.csv -o clusters.csv",
    "supclust edges edges.csv --dissimilarity distance --threshold 0.3 --alpha -2 --missing inf "
    "-o clusters.csv",
)

_IDS = ("id", "unique_id")
_LABELS = ("label", "cluster")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Cluster a list of scored pairs by exponential linkage, exactly and in memory that grows "
        "with the number of pairs. A probability p counts as the dissimilarity 1 - p."
    )
    parser.add_argument(
        "edges",
        type=Path,
        help="table with id_a, id_b, and dissimilarity or probability; or Splink's predictions",
    )
    parser.add_argument(
        *("-o", "--output"),
        type=Path,
        required=True,
        help="table to write, with id, component and cluster",
    )
    parser.add_argument("--id-a", help="column of one end (default: id_a or unique_id_l)")
    parser.add_argument("--id-b", help="column of the other end (default: id_b or unique_id_r)")
    parser.add_argument(
        "--dissimilarity",
        metavar="COLUMN",
        help="column of dissimilarities (default: dissimilarity)",
    )
    parser.add_argument(
        "--probability",
        metavar="COLUMN",
        help="column of probabilities of being alike (default: probability or match_probability)",
    )
    parser.add_argument(
        "--threshold",
        help="cut here, in the unit of the named column: with --probability, 0.9 joins at "
        "p >= 0.9; several as 0.9,0.95 (default for probabilities: 0.5)",
    )
    parser.add_argument(
        "--linkage",
        choices=("single", "average", "complete"),
        help="default: average",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        help="exponential linkage: below 0 towards single, above towards complete",
    )
    parser.add_argument(
        "--missing",
        help="dissimilarity of pairs that are not given; inf: never alike, or without weight for "
        "alpha below 0; ignored: linkages are taken over given pairs alone (default: 1 for "
        "probabilities, else the largest given)",
    )
    parser.add_argument(
        "--repeated",
        choices=("mean", "min", "max", "error"),
        default="mean",
        help="dissimilarity of a pair that is given several times (default: mean)",
    )
    parser.add_argument(
        "--nodes", type=Path, help="table of all records: those without a pair are clusters, too"
    )
    parser.add_argument("--id", help="column of ids of --nodes and --labels (default: id)")
    parser.add_argument(
        "--labels",
        type=Path,
        help="table of ids and known clusters (some records are enough): chooses alpha and the cut",
    )
    parser.add_argument("--label", help="column of known clusters (default: label or cluster)")
    parser.add_argument(
        "--constraints",
        type=Path,
        help="table with id_a, id_b and constraint: must or cannot be in one cluster",
    )
    parser.add_argument("--tree", type=Path, help="table of all merges to write")
    add_engine(parser)


class _Cut(NamedTuple):
    """Linkage and cuts: dissimilarities, and what their columns are called."""

    alpha: float
    heights: list[float]
    names: list[str]


def run(options: argparse.Namespace) -> int:
    """Cluster, and say how much there was and what the missing pairs counted."""
    from supclust.cluster.edges import cluster_columns, cluster_edges, tree_columns
    from supclust.data.layouts.edge_lists import read_edges
    from supclust.data.tables.formats import BATCH_ROWS
    from supclust.data.tables.reader import open_table
    from supclust.data.tables.writer import require_writable, write_table

    start = time.perf_counter()
    alpha, missing = alpha_asked(options), missing_asked(options.missing)
    for path in (options.output, options.tree):
        if path is not None:
            require_writable(path)
    table = open_table(options.edges)
    column, probability = value_column(table, options)
    thresholds = thresholds_asked(options, probability)
    id_a, id_b = id_columns(table, options)
    edges = read_edges(
        table,
        column,
        probability=probability,
        id_a=id_a,
        id_b=id_b,
        repeated=options.repeated,
        nodes=_nodes(options),
    )
    with engine_of(options) as engine:
        more = {**_constraints(edges, options), "engine": engine}
        cut, missing = _cut(edges, options, alpha, thresholds, probability, missing, more)
        forest = cluster_edges(edges, cut.alpha, max(cut.heights), missing, **more)
    if options.tree is not None:
        merges = tree_columns(forest)
        write_table(options.tree, merges.schema, merges.to_batches(BATCH_ROWS))
    columns = cluster_columns(edges, forest, cut.heights, cut.names)
    write_table(options.output, columns.schema, columns.to_batches(BATCH_ROWS))
    for count, what in (
        (edges.repeated, f"repeated pairs, counted by their {options.repeated}"),
        (edges.loops, "pairs of a record with itself, passed over"),
    ):
        if count:
            print(f"{count:,} {what}")
    others = missing if isinstance(missing, str) else f"count {missing:g}"
    clusters = [int(labels.max()) + 1 for labels in forest.labels_at(cut.heights)]
    print(
        f"{options.output}: {counted(len(edges.ids), 'record')}, "
        f"{counted(len(edges.value), 'pair')} (others {others}), "
        f"{counted(forest.n_components, 'component')}, "
        f"{' / '.join(f'{count:,}' for count in clusters)} cluster{'s' * (clusters != [1])}, "
        f"{time.perf_counter() - start:.1f} s"
    )
    return 0


def _nodes(options: argparse.Namespace) -> tuple[RecordTable, str] | None:
    from supclust.data.tables.reader import open_table

    if options.nodes is None:
        return None
    table = open_table(options.nodes)
    return table, known_column(table, options.id, _IDS)


def _constraints(edges: Edges, options: argparse.Namespace) -> dict[str, Any]:
    if options.constraints is None:
        return {}
    from supclust.data.layouts.link_pairs import read_link_pairs
    from supclust.hac.graph.constraints import merged_groups

    ids = edges.ids.to_pylist()
    must, cannot = read_link_pairs(options.constraints).numbered(ids)
    merged_groups(must, cannot, len(ids), lambda node: ids[node])  # a contradiction names records
    return {"must_link": must, "cannot_link": cannot}


def _cut(
    edges: Edges,
    options: argparse.Namespace,
    alpha: float | None,
    thresholds: dict[str, float],
    probability: bool,
    missing: Missing | None,
    more: dict[str, Any],
) -> tuple[_Cut, Missing]:
    """Linkage and cuts, given or learned, and what missing pairs count.

    ``more``: constraints and engine.
    """
    from supclust.cluster.edges import default_missing, learn_linkage

    if alpha is not None:
        if missing is None:
            missing = default_missing(edges, probability, max(thresholds.values()))
        several = len(thresholds) > 1
        names = [f"cluster_{text}" if several else "cluster" for text in thresholds]
        return _Cut(alpha, list(thresholds.values()), names), missing
    from supclust.data.layouts.edge_lists import read_labels
    from supclust.data.tables.reader import open_table

    if missing is None:
        missing = default_missing(edges, probability, None)
    table = open_table(options.labels)
    id, label = (
        known_column(table, options.id, _IDS),
        known_column(table, options.label, _LABELS),
    )
    labels = read_labels(table, id, label, edges)
    learned = learn_linkage(edges, labels, missing, **more)
    height = learned.best.threshold
    shown = f"probability {1.0 - height:.4g}" if probability else f"height {height:.4g}"
    print(
        f"learned from {counted(int((labels >= 0).sum()), 'labelled record')}: alpha "
        f"{learned.alpha:.4g}, cut at {shown}; there pairwise F1 {learned.best.f1:.3f} (precision "
        f"{learned.best.precision:.3f}, recall {learned.best.recall:.3f}), strangers counted"
    )
    return _Cut(learned.alpha, [height], ["cluster"]), missing
