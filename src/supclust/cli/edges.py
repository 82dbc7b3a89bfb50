"""``supclust edges``: cluster a list of scored pairs."""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING

from supclust.cli.wording import counted

if TYPE_CHECKING:
    from supclust.data.tables.reader import RecordTable

EXAMPLES = (
    "supclust edges edges.parquet -o clusters.parquet",
    "supclust edges edges.csv --threshold 0.3 --alpha -2 --missing inf -o clusters.csv",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Cluster a list of scored pairs: connected components of the pairs within the threshold, "
        "then exponential linkage inside each. A probability p counts as the dissimilarity 1 - p."
    )
    parser.add_argument(
        "edges", type=Path, help="table with id_a, id_b, and dissimilarity or probability"
    )
    parser.add_argument(
        *("-o", "--output"),
        type=Path,
        required=True,
        help="table to write, with id, component and cluster",
    )
    parser.add_argument("--id-a", default="id_a", help="column of one end (default: id_a)")
    parser.add_argument("--id-b", default="id_b", help="column of the other end (default: id_b)")
    parser.add_argument(
        "--dissimilarity",
        metavar="COLUMN",
        help="column of dissimilarities (default: dissimilarity)",
    )
    parser.add_argument(
        "--probability",
        metavar="COLUMN",
        help="column of probabilities of being alike (default: probability)",
    )
    parser.add_argument(
        "--threshold",
        type=float,
        help="cut at this dissimilarity (default for probabilities: 0.5, that is p >= 0.5)",
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
        type=float,
        help="dissimilarity of pairs that are not given; inf: never alike, or without weight for "
        "alpha below 0 (default: 1 for probabilities, else the largest given)",
    )
    parser.add_argument(
        "--repeated",
        choices=("mean", "min", "max", "error"),
        default="mean",
        help="dissimilarity of a pair that is given several times (default: mean)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Cluster, and say how much there was and what the missing pairs counted."""
    from supclust.cluster.edges import MOST_LIKELY, cluster_edges, default_missing, edge_batches
    from supclust.data.layouts.edge_lists import read_edges
    from supclust.data.tables.reader import open_table
    from supclust.data.tables.writer import require_writable, write_table

    start = time.perf_counter()
    alpha = _alpha(options)
    require_writable(options.output)
    table = open_table(options.edges)
    column, probability = _value_column(table, options)
    threshold = options.threshold
    if threshold is None and probability:
        threshold = MOST_LIKELY
    if threshold is None or math.isnan(threshold):
        raise ValueError(
            "dissimilarities need --threshold, the height to cut at; received "
            f"{options.threshold}. Add e.g. --threshold 0.3."
        )
    edges = read_edges(
        table,
        column,
        probability=probability,
        id_a=options.id_a,
        id_b=options.id_b,
        repeated=options.repeated,
    )
    missing = options.missing
    if missing is None:
        missing = default_missing(edges, probability, threshold)
    clustered = cluster_edges(edges, alpha, threshold, missing)
    batches = edge_batches(edges, clustered)
    write_table(options.output, batches[0].schema, batches)
    for count, what in (
        (edges.repeated, f"repeated pairs, counted by their {options.repeated}"),
        (edges.loops, "pairs of a record with itself, passed over"),
    ):
        if count:
            print(f"{count:,} {what}")
    print(
        f"{options.output}: {counted(len(edges.ids), 'record')}, "
        f"{counted(len(edges.value), 'pair')} (others count {missing:g}), "
        f"{counted(int(clustered.component.max()) + 1, 'component')}, "
        f"{counted(int(clustered.cluster.max()) + 1, 'cluster')}, "
        f"{time.perf_counter() - start:.1f} s"
    )
    return 0


def _alpha(options: argparse.Namespace) -> float:
    from supclust.hac.family import alpha_of, check_alpha

    if options.alpha is not None:
        if options.linkage is not None:
            raise ValueError("give --alpha or --linkage; received both. Drop one.")
        return check_alpha(options.alpha)
    return alpha_of(options.linkage or "average")


def _value_column(table: RecordTable, options: argparse.Namespace) -> tuple[str, bool]:
    """The column of values, and whether they are probabilities."""
    if options.dissimilarity and options.probability:
        raise ValueError("give --dissimilarity or --probability; received both. Drop one.")
    if options.dissimilarity:
        return options.dissimilarity, False
    if options.probability:
        return options.probability, True
    there = [name for name in ("dissimilarity", "probability") if name in table.names]
    if len(there) != 1:
        received = "both" if there else f"the columns {', '.join(table.names[:12])}"
        raise ValueError(
            f"{table.path}: one column dissimilarity or probability is needed; received "
            f"{received}. Name it with --dissimilarity COLUMN or --probability COLUMN."
        )
    return there[0], there[0] == "probability"
