"""``supclust history``: what happened to a record, or to a cluster, of an entity store."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

EXAMPLES = (
    "supclust history entities/ --id r17",
    "supclust history entities/ --cluster 42",
    "supclust history entities/ -o log.parquet",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("store", type=Path, help="folder of `supclust cluster ... --store`")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--id", help="of a record")
    which.add_argument("--cluster", type=int, help="id of a cluster, also of a retired one")
    parser.add_argument("-o", "--output", type=Path, help="write the log as a table")


def run(options: argparse.Namespace) -> int:
    """Print the lines of the log, oldest first."""
    from supclust.data.tables.writer import require_writable, write_table
    from supclust.store import EntityStore

    if options.output is not None:
        require_writable(options.output)
    store = EntityStore.open(options.store)
    log = store.log()
    if options.id is not None:
        log = store.history(options.id)
    elif options.cluster is not None:
        log = store.cluster_history(options.cluster)
    if options.output is not None:
        write_table(options.output, log.schema, log.to_batches())
        return 0
    for one in log.to_pylist():
        print(line(one))
    if options.id is not None and store.has(options.id):
        print(f"now in cluster {store.cluster_of(options.id)}")
    return 0


def line(event: dict[str, Any]) -> str:
    """A line of the log as text.

    >>> line(
    ...     {
    ...         "version": 2,
    ...         "time": "2026-01-01",
    ...         "command": "update",
    ...         "event": "merged",
    ...         "cluster": 3,
    ...         "other": 9,
    ...         "record": None,
    ...         "other_record": None,
    ...     }
    ... )
    'version 2  2026-01-01  update   merged   cluster 3  from 9'
    """
    other = {"merged": "from", "split": "from", "moved": "from", "deleted": "was in"}
    parts = [
        f"version {event['version']}",
        event["time"],
        f"{event['command']:<7}",
        f"{event['event']:<7}",
        *([f"record {event['record']}"] if event["record"] is not None else []),
        *([f"and {event['other_record']}"] if event["other_record"] is not None else []),
        *([f"cluster {event['cluster']}"] if event["cluster"] is not None else []),
        *(
            [f"{other.get(event['event'], 'was in')} {event['other']}"]
            if event["other"] is not None
            else []
        ),
    ]
    return "  ".join(parts)
