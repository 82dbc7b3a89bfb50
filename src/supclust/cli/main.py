"""The ``supclust`` command: a list of subcommands, each imported only when it is chosen.

A subcommand is a line of `COMMANDS` and a module of `supclust.cli`, with its name. The module has
``EXAMPLES``, shown by ``--help``, ``configure(parser)``, which adds the arguments, and
``run(options)``, from the parsed arguments to an exit code.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import NoReturn

import supclust
from supclust._lazy import MissingExtraError, extras_explained
from supclust.data.errors import flush_stdout, system_error

COMMANDS = {
    "warmup": "compile the clustering kernels ahead of time, so that the first call is fast",
    "fit": "learn from labelled records how to cluster",
    "cluster": "cluster records with a model",
    "update": "add, change and delete records of an entity store",
    "correct": "say which records of an entity store are, and are not, of one entity",
    "history": "say what happened to the records and clusters of an entity store",
    "export": "write the present clusters of an entity store as a table",
    "review": "answer questions about an entity store, on a local page",
    "refit": "learn again from the answers and corrections of an entity store",
    "candidates": "show or export the pairs that a model of a bare table compares",
    "edges": "cluster a list of scored pairs",
    "explain": "say what a model has learned, or why records are together or apart",
    "data": "list, check or download data sets",
    "table": "show the results of a folder as a table",
    "report": "show results or a model as one page that needs no network",
    "train": "train and evaluate on labelled blocks: train.py, in any folder",
    "reproduce": "train the paper's tables on the real data and compare with what it printed",
    "illustrate": "draw the paper's two illustrations: a mismatch of training, and shapes",
    "dashboard": "make the Weights & Biases dashboard of a project",
}
"""Name of a command -> summary. Listing the commands imports none of them."""
_OF_STORES = ("update", "correct", "history", "export", "review", "refit")
_HOMES = {name: f"entities.{name}" for name in _OF_STORES}
"""Command -> module, where it is not one of this package."""

_EXAMPLES = (
    "supclust fit records.csv --label entity -o model",
    "supclust cluster records.parquet --model model -o clusters.parquet",
    "supclust fit --help",
)


def program() -> NoReturn:
    """Entry point of the installed command."""
    for name in ("stdout", "stderr"):  # closed by the caller, as in ``supclust ... >&-``
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    # Imports allocate hundreds of thousands of objects: fewer collections save a tenth of a second.
    gc.set_threshold(100_000, 50, 50)
    code = main()
    gc.freeze()  # imported objects live to the end: the collections of the exit skip them
    sys.exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Returns:
        0 on success, 1 for a fault in the middle of the work (a full disk, no memory, a closed
        pipe), 2 for wrong input, 130 after Ctrl-C.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        # Imports the command, which may take seconds in which people press Ctrl-C.
        with extras_explained():
            options = build_parser(arguments).parse_args(arguments)
            code = int(options.run(options))
        sys.stdout.flush()
        return code
    except (ValueError, MissingExtraError) as error:
        print(f"supclust: error: {_printable(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # as in ``supclust data list | head -1``
        return 1
    except (OSError, MemoryError, RuntimeError) as error:
        message = system_error(error)
        if message is None:
            raise
        print(f"supclust: error: {_printable(message[0])}", file=sys.stderr)
        return message[1]
    finally:
        flush_stdout()


def _printable(message: object) -> str:
    """One line that any terminal can show: names of files and columns may hold anything."""
    text = str(message).encode(errors="backslashreplace").decode()
    return text.replace("\0", "\\0")


def build_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser for these arguments: every command listed, only the chosen one loaded."""
    parser = argparse.ArgumentParser(
        prog="supclust",
        description="Supervised hierarchical clustering.",
        epilog=_examples(_EXAMPLES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"supclust {supclust.__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    chosen = next((word for word in arguments if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        subparser = subparsers.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == chosen:
            command = import_module(f"supclust.cli.{_HOMES.get(name, name)}")
            subparser.epilog = _examples(command.EXAMPLES)
            command.configure(subparser)
            subparser.set_defaults(run=command.run)
    return parser


def _examples(lines: Iterable[str]) -> str:
    return "\n".join(["examples:", *(f"  {line}" for line in lines)])
