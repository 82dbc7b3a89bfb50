"""``supclust table``: the results of a folder as a table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from supclust.experiment.reproduction import publish
from supclust.model.aggregate import summarise
from supclust.model.results import find_results
from supclust.tables.render import FORMATS, LAYOUTS, render
from supclust.tables.split_scores import read_folder

EXAMPLES = (
    "supclust table outputs",
    "supclust table outputs --format latex",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "outputs",
        type=Path,
        help="folder of results, as paths.outputs, or of published CSV files, as docs/results",
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="of the table (default: text)"
    )
    parser.add_argument(
        "--layout",
        choices=[name for name in LAYOUTS if name != "against"],
        default="results",
        help="results: mean and deviation; intervals: 95 %% confidence intervals; paper: the "
        "paper's tables, with its marks (default: results)",
    )
    parser.add_argument(
        "--against", choices=["paper"], help="ours, what the paper printed, and the difference"
    )
    parser.add_argument(
        "--publish",
        type=Path,
        metavar="DOCS",
        help="write scores per split and their provenance to DOCS/results, and the tables into "
        "DOCS/results.md, instead of printing",
    )


def run(options: argparse.Namespace) -> int:
    """Print the table; results that failed are counted on stderr."""
    published = [] if options.publish else read_folder(options.outputs)
    results = published or list(find_results(options.outputs))
    cells = summarise(results)
    failed = [result for result in results if result["status"] != "done"]
    for result in failed:
        print(f"failed: {result['path']}: {result.get('error', '')}", file=sys.stderr)
    if not cells:
        raise ValueError(
            f"no finished result below {options.outputs}. "
            "Make some with `python train.py objective=exp_alpha dataset=faces`."
        )
    if options.publish:
        for path in publish(results, options.outputs, options.publish):
            print(path)
        return 0
    layout = "against" if options.against else options.layout
    print(render(cells, layout, options.format), end="")
    return 0
