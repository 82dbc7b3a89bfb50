"""``supclust export``: the present clusters of an entity store as a table."""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLES = ("supclust export entities/ -o entities.csv",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("store", type=Path, help="folder of `supclust cluster ... --store`")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="table to write: .csv, .tsv or .parquet"
    )


def run(options: argparse.Namespace) -> int:
    """Write a row for every record: id, cluster, and confidence where the model has one."""
    from supclust.data.tables.writer import require_writable, write_table
    from supclust.store import EntityStore

    require_writable(options.output)
    store = EntityStore.open(options.store)
    clusters = store.confidence()
    write_table(options.output, clusters.schema, clusters.to_batches())
    entities = len(clusters["cluster"].unique())
    what = f"{len(clusters):,} records, {entities:,} clusters, version {store.version}"
    print(f"{options.output}: {what}")
    return 0
