"""``supclust data``: what data there are, whether a file is well formed, and downloads."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from supclust.cli.wording import KIND_HELP, kinds_in, names_in

EXAMPLES = (
    "supclust data list",
    "supclust data check points.csv --label who",
    "supclust data fetch faces",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add ``list``, ``check`` and ``fetch``."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="the data sets, and which of them are there")
    listing.set_defaults(action=run_list)
    check = actions.add_parser("check", help="read a file or folder strictly; say what is in it")
    check.add_argument(
        "path",
        type=Path,
        help="table (CSV, TSV, Parquet, npz) or folder, e.g. points.csv --label who --block where, "
        "or pairs.csv --labels labels.csv",
    )
    check.add_argument("--label", help="column of clusters (default: label)")
    check.add_argument("--block", help="column of blocks (default: block, if there is one)")
    check.add_argument("--id", help="column of ids (default: id, if there is one)")
    check.add_argument("--columns", help="to compare, as a,b,c (default: all others)")
    check.add_argument("--ignore", help="columns to leave out, as a,b,c")
    check.add_argument("--text", help="text although it looks like numbers, as zip,phone")
    check.add_argument("--kind", metavar="A=KIND", help=KIND_HELP)
    check.add_argument("--distinct", help="records that share a value are of different clusters")
    check.add_argument("--where", help="only records that meet this, as 'year<2022'")
    check.add_argument("--labels", type=Path, help="of a table of pairs: table with id, label")
    check.add_argument(
        "--no-flag", action="store_true", help="block folders: the last column is a feature"
    )
    check.set_defaults(action=run_check)
    fetch = actions.add_parser("fetch", help="download a public data set: faces, rexa, shapes2d")
    fetch.add_argument("name")
    fetch.set_defaults(action=run_fetch)
    for action in (listing, fetch):
        action.add_argument(
            "--data",
            type=Path,
            default=Path(os.environ.get("SUPCLUST_DATA", "data")),
            metavar="FOLDER",
            help="folder of the data sets (default: SUPCLUST_DATA, or data)",
        )


def run(options: argparse.Namespace) -> int:
    """Run the action."""
    return int(options.action(options))


def run_list(options: argparse.Namespace) -> int:
    """Print one line per data set."""
    from supclust.data.sets.registry import list_datasets

    for row in list_datasets(options.data):
        state = "real" if row["real"] else "stand-in" if row["stand_in"] else "absent"
        state = "your own" if row["own"] else state
        print(f"{row['name']:<9} {state:<9} {row['kind']:<8} {row['summary']}")
        if row["path"]:
            print(f"{'':<9} {row['path']}")
    return 0


def run_check(options: argparse.Namespace) -> int:
    """Print what is there; the first thing that is wrong is an error."""
    from supclust.data.check import check_path
    from supclust.data.records.where import Where

    named: dict[str, Any] = {
        **{name: getattr(options, name) for name in ("label", "block", "id", "distinct")},
        **{name: names_in(getattr(options, name)) for name in ("columns", "ignore", "text")},
    }
    columns = {name: value for name, value in named.items() if value is not None}
    if options.kind is not None:
        columns["kinds"] = kinds_in(options.kind)
    if options.where is not None:
        columns["where"] = Where.parse(options.where)
    flag = not options.no_flag
    for report in check_path(options.path, labels=options.labels, flag=flag, **columns):
        print("\n".join(report.lines()))
    return 0


def run_fetch(options: argparse.Namespace) -> int:
    """Download with a progress line; exit code 1 when it does not succeed."""
    from supclust.data.sets.download import FetchError
    from supclust.data.sets.fetch import fetch

    def show(name: str, done: int, total: int | None) -> None:
        if sys.stderr.isatty():
            share = f"{100 * done / total:3.0f} %" if total else f"{done / 1e6:.1f} MB"
            print(f"\r{name}: {share}\033[K", end="", file=sys.stderr, flush=True)

    try:
        report = fetch(options.name, options.data, progress=show)
    except FetchError as problem:
        print(f"supclust: error: {problem}", file=sys.stderr)
        return 1
    finally:
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
    print(f"{report.folder}: {report.downloaded} files downloaded, {report.present} were there")
    for problem_text in report.problems:
        print(f"could not be had: {problem_text}", file=sys.stderr)
    return 0
