"""The ``supclust`` command: a table of subcommands, each loaded only when it is chosen.

A subcommand is a row of `COMMANDS` naming a function ``configure(parser)``, in any module, that
adds the arguments and calls ``parser.set_defaults(run=...)`` with a function from the parsed
arguments to an exit code.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

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
        configure="supclust.cli:configure_warmup",
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 when all went well, 2 for wrong input."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    options = build_parser(arguments).parse_args(arguments)
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


def configure_warmup(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``supclust warmup``: none."""
    parser.set_defaults(run=run_warmup)


def run_warmup(_: argparse.Namespace) -> int:
    """Cluster a few points with every method and precision, and print the seconds each took."""
    import numpy as np

    from supclust.hac.explink import METHODS

    start = time.perf_counter()
    points = np.random.default_rng(0).normal(size=(64, 2))
    distances = np.linalg.norm(points[:, None] - points[None, :], axis=-1)
    for method in METHODS:
        # A spread of 1e4 makes exp(alpha d) overflow: other kernels than those for 1 serve it.
        cases: list[tuple[float | None, float]] = [(None, 1.0)]
        if method == "exp":
            cases = [(-1.0, 1.0), (1.0, 1.0), (-1.0, 1e4), (1.0, 1e4)]
        for dtype in (np.float32, np.float64):
            begin = time.perf_counter()
            for alpha, spread in cases:
                supclust.linkage((spread * distances).astype(dtype), method, alpha=alpha)
            print(f"{method:<9} {dtype.__name__}  {time.perf_counter() - begin:6.2f} s")
    print(f"ready in {time.perf_counter() - start:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
