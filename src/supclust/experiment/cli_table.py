"""``supclust table``: the results of a folder as a table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from supclust.experiment.results import find_results
from supclust.experiment.tables import FORMATS, summarise


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("outputs", type=Path, help="folder of results, as paths.outputs")
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="of the table (default: text)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the table; results that failed are counted on stderr."""
    results = list(find_results(options.outputs))
    cells = summarise(results)
    failed = [result for result in results if result["status"] != "done"]
    for result in failed:
        print(f"failed: {result['path']}: {result.get('error', '')}", file=sys.stderr)
    if not cells:
        raise ValueError(
            f"no finished result below {options.outputs}. "
            "Make some with `python train.py objective=exp_alpha dataset=faces`."
        )
    print(FORMATS[options.format](cells), end="")
    return 0
