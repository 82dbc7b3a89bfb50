"""``supclust update``: add, change and delete records of an entity store."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from supclust.data.errors import UnfinishedError

if TYPE_CHECKING:
    from supclust.store import Changes

EXAMPLES = (
    "supclust update entities/ new.parquet",
    "supclust update entities/ new.parquet --delete gone.csv -o changes.parquet",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("store", type=Path, help="folder of `supclust cluster ... --store`")
    parser.add_argument(
        "records", type=Path, nargs="?", help="table of new records, and of records that changed"
    )
    parser.add_argument(
        "--delete", type=Path, metavar="IDS", help="table with a column of ids of records that go"
    )
    parser.add_argument("--model", type=Path, help="refuse a store of another model than this")
    parser.add_argument("-o", "--output", type=Path, help="write what changed as a table")


def run(options: argparse.Namespace) -> int:
    """Update, and say what changed."""
    from supclust.data.tables.writer import require_writable
    from supclust.store import EntityStore

    start = time.perf_counter()
    if options.records is None and options.delete is None:
        raise ValueError("records, or ids to --delete, are needed; received neither. Name a table.")
    if options.output is not None:
        require_writable(options.output)
    store = EntityStore.open(options.store)
    if options.model is not None:
        store.require_model(options.model)
    gone = [] if options.delete is None else read_ids(options.delete, store.id)
    changes = store.update(options.records, delete=gone)
    show(changes, options.output)
    print(
        f"{changes.scored:,} pairs compared, {changes.touched:,} of {len(store):,} records "
        f"clustered again, {time.perf_counter() - start:.1f} s"
    )
    return 0


def read_ids(path: Path, column: str) -> list[str]:
    """Ids of a table: of the store's column of ids, or of its only column."""
    from supclust.data.errors import DataError
    from supclust.data.records.columns import read_columns
    from supclust.data.tables.reader import open_table

    table = open_table(path)
    name = table.names[0] if len(table.names) == 1 else column
    ids = read_columns(table, {name: "text"})[name]
    if None in ids:
        raise DataError(f"an id is missing in row {ids.index(None) + 1}; fill it in", path)
    return list(ids)


def show(changes: Changes, output: Path | None) -> None:
    """Write what changed as a table, and print it; the store has the change in any case."""
    from supclust.data.tables.writer import write_table

    if output is not None:
        table = changes.table
        try:
            write_table(output, table.schema, table.to_batches())
        except OSError as problem:
            raise UnfinishedError(
                f"{output}: {problem.strerror or problem}. The store is changed (version "
                f"{changes.version}); what changed is in its log: supclust history -o TABLE."
            ) from None
    print(changes)
