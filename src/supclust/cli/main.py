"""The ``supclust`` command: a table of subcommands, each loaded only when it is chosen.

A subcommand is a row of `COMMANDS` and a module of `supclust.cli`, whose ``configure(parser)``
adds the arguments and calls ``parser.set_defaults(run=...)`` with a function from the parsed
arguments to an exit code.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple, NoReturn

import supclust


class Command(NamedTuple):
    """One subcommand: what ``--help`` says of it, and where its arguments are defined."""

    summary: str
    examples: tuple[str, ...]
    configure: str  # "module:function"; a string, so that listing the commands imports nothing


COMMANDS: dict[str, Command] = {
    "warmup": Command(
        summary="compile the clustering kernels ahead of time, so that the first call is fast",
        examples=("supclust warmup",),
        configure="supclust.cli.warmup:configure",
    ),
    "fit": Command(
        summary="learn from labelled records how to cluster",
        examples=(
            "supclust fit records.csv --label author --block name -o model",
            "supclust fit records.csv --label who --columns name,city,year -o model",
        ),
        configure="supclust.cli.fit:configure",
    ),
    "cluster": Command(
        summary="cluster records with a model",
        examples=("supclust cluster records.parquet --model model -o clusters.parquet",),
        configure="supclust.cli.cluster:configure",
    ),
    "edges": Command(
        summary="cluster a list of scored pairs",
        examples=(
            "supclust edges edges.parquet -o clusters.parquet",
            "supclust edges edges.csv --threshold 0.3 --alpha -2 --missing inf -o clusters.csv",
        ),
        configure="supclust.cli.edges:configure",
    ),
    "explain": Command(
        summary="say what a model has learned",
        examples=("supclust explain model", "supclust explain model --json"),
        configure="supclust.cli.explain:configure",
    ),
    "data": Command(
        summary="list, check or download data sets",
        examples=(
            "supclust data list",
            "supclust data check points.csv --label who",
            "supclust data fetch faces",
        ),
        configure="supclust.cli.data:configure",
    ),
    "table": Command(
        summary="show the results of a folder as a table",
        examples=("supclust table outputs", "supclust table outputs --format latex"),
        configure="supclust.cli.table:configure",
    ),
    "report": Command(
        summary="show results or a model as one page that needs no network",
        examples=(
            "supclust report outputs -o report.html",
            "supclust report model --data records.csv -o model.html",
        ),
        configure="supclust.cli.report:configure",
    ),
    "reproduce": Command(
        summary="train the paper's tables on the real data and compare with what it printed",
        examples=("supclust reproduce faces", "supclust reproduce faces aminer --splits 5"),
        configure="supclust.cli.reproduce:configure",
    ),
    "illustrate": Command(
        summary="draw the paper's two illustrations: a mismatch of training, and shapes",
        examples=(
            "supclust illustrate mismatch -o pictures",
            "supclust illustrate shapes -o pictures --format png",
        ),
        configure="supclust.cli.illustrate:configure",
    ),
    "dashboard": Command(
        summary="make the Weights & Biases dashboard of a project",
        examples=("supclust dashboard --entity me", "supclust dashboard --dry-run"),
        configure="supclust.cli.dashboard:configure",
    ),
}


def program() -> NoReturn:
    """Run as a program of its own, and leave without taking the interpreter apart.

    That, and looking for cycles among the objects of imports, would take every command a tenth of a
    second.
    """
    gc.set_threshold(100_000, 50, 50)
    code = main()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # whoever was to read it has gone, as in ``supclust data list | head -1``
        code = code or 1
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Returns:
        0 when all went well, 2 for wrong input, 130 after Ctrl-C.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        # Imports the command, which may take seconds in which people press Ctrl-C.
        options = build_parser(arguments).parse_args(arguments)
        return _run(options)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130


def _run(options: argparse.Namespace) -> int:
    try:
        return int(options.run(options))
    except ValueError as error:
        print(f"supclust: error: {error}", file=sys.stderr)
        return 2


def build_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser for these arguments: every command listed, only the chosen one loaded."""
    parser = argparse.ArgumentParser(
        prog="supclust",
        description="Supervised hierarchical clustering.",
        epilog=_examples(example for command in COMMANDS.values() for example in command.examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"supclust {supclust.__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    chosen = next((word for word in arguments if not word.startswith("-")), None)
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(
            name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog=_examples(command.examples),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == chosen:
            module, _, function = command.configure.partition(":")
            getattr(importlib.import_module(module), function)(subparser)
    return parser


def _examples(lines: Iterable[str]) -> str:
    return "\n".join(["examples:", *(f"  {line}" for line in lines)])
