"""``supclust correct``: say which records of an entity store are, and are not, of one entity."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from supclust.store import EntityStore

EXAMPLES = (
    "supclust correct entities/ --together r17 r204",
    "supclust correct entities/ --apart r17 r204",
    "supclust correct entities/ --pairs answers.csv",
    "supclust correct entities/ --undo",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("store", type=Path, help="folder of `supclust cluster ... --store`")
    for name, what in (("together", "must"), ("apart", "must not")):
        parser.add_argument(
            f"--{name}",
            nargs=2,
            action="append",
            default=[],
            metavar=("A", "B"),
            help=f"ids of two records that {what} be in one cluster; may be repeated",
        )
    parser.add_argument(
        "--pairs",
        type=Path,
        help="table with id_a, id_b and constraint: must or cannot be in one cluster",
    )
    parser.add_argument(
        "--undo",
        nargs="?",
        type=int,
        const=0,
        metavar="NUMBER",
        help="take back the last correction, or that of a number (see --list)",
    )
    parser.add_argument("--list", action="store_true", help="list the corrections there are")
    parser.add_argument("-o", "--output", type=Path, help="write what changed as a table")


def run(options: argparse.Namespace) -> int:
    """Correct, and say what changed."""
    from supclust.cli.entities.update import show
    from supclust.data.layouts.link_pairs import read_link_pairs
    from supclust.data.tables.writer import require_writable
    from supclust.store import EntityStore

    if options.output is not None:
        require_writable(options.output)
    store = EntityStore.open(options.store)
    if options.list:
        _list(store)
        return 0
    together, apart = [tuple(p) for p in options.together], [tuple(p) for p in options.apart]
    if options.pairs is not None:
        read = read_link_pairs(options.pairs)
        for pair, must in zip(read.pairs, read.must, strict=True):
            (together if must else apart).append(pair)
    undo = False if options.undo is None else options.undo or True
    show(store.correct(together, apart, undo=undo), options.output)
    return 0


def _list(store: EntityStore) -> None:
    for one in store.constraints().to_pylist():
        state = "" if one["active"] else "  (undone)"
        print(
            f"{one['correction']:>5}  {one['constraint']:<8}  {one['id_a']}  {one['id_b']}{state}"
        )
