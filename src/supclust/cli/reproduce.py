"""``supclust reproduce``: the paper's tables on the real data and the published numbers.

Short for ``train.py`` with the template ``reproduce``, then ``supclust table --against paper``.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from supclust.experiment.reproduction import DATASETS, PARTS

EXAMPLES = (
    "supclust reproduce faces",
    "supclust reproduce faces aminer --splits 5",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "datasets",
        nargs="*",
        metavar="DATASET",
        help=f"of {', '.join(DATASETS)} (default: all four)",
    )
    parser.add_argument(
        "--splits", type=int, default=50, help="how many of the 50 splits, from 0 (default: 50)"
    )
    parser.add_argument(
        "--part",
        choices=PARTS,
        action="append",
        help="grid: eight objectives, four linkages; top_down: recursive sparsest cut and random "
        "trees with what the grid has trained (default: both)",
    )
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (default: 2)")
    parser.add_argument(
        "--chunk", type=int, default=25, help="splits trained together (default: 25)"
    )
    parser.add_argument(
        "--outputs",
        type=Path,
        default=Path(os.environ.get("SUPCLUST_OUTPUTS", "outputs")) / "reproduction",
        help="folder of the results; what is there is not done again "
        "(default: outputs/reproduction)",
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("SUPCLUST_DATA", "data")),
        help="folder of the real data sets (default: SUPCLUST_DATA, or data)",
    )
    parser.add_argument(
        "--conf", type=Path, help="folder of the configuration (default: that of supclust train)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting that is not to be the paper's, as trainer.max_epochs=3",
    )
    parser.add_argument(
        "--check", action="store_true", help="exit code 1 where numbers are too far from the paper"
    )
    parser.add_argument(
        "--publish",
        type=Path,
        metavar="DOCS",
        help="afterwards, as `supclust table OUTPUTS --publish DOCS`",
    )


def run(options: argparse.Namespace) -> int:
    """Run the sweeps, then print tables, differences and times."""
    from supclust.data.files import require_output
    from supclust.data.sets.registry import load_dataset
    from supclust.experiment.reproduction import Options, reproduce
    from supclust.experiment.train import configuration

    options.conf = options.conf or configuration("conf")
    _check(options)
    datasets = list(dict.fromkeys(options.datasets or DATASETS))
    if not any(text.startswith("dataset.source=") for text in options.set):
        for name in datasets:  # refuses before anything is trained
            load_dataset(name, data_dir=options.data, source="real")
    require_output(options.outputs / "summary.csv")
    sweeps = Options(
        *(options.conf, options.data, options.outputs.resolve(), options.jobs),
        *(options.splits, options.chunk, tuple(options.set)),
    )
    code = reproduce(datasets, options.part or PARTS, sweeps)
    if code in (0, 1):
        far = _conclude(options, datasets)
        code = int(code or (options.check and far))
    return code


def _check(options: argparse.Namespace) -> None:
    for name in options.datasets:
        if name not in DATASETS:
            raise ValueError(
                f"data sets are {', '.join(DATASETS)}; received {name!r}. Leave it out for all."
            )
    for name in ("jobs", "chunk", "splits"):
        if getattr(options, name) < 1:
            raise ValueError(
                f"--{name} must be at least 1; received {getattr(options, name)}. Leave it out "
                "for the default."
            )
    if not (options.conf / "config.yaml").is_file():
        raise ValueError(
            f"--conf must be a folder of the configuration; there is no config.yaml in "
            f"{options.conf}. Leave it out for that of supclust train."
        )


def _conclude(options: argparse.Namespace, datasets: list[str]) -> bool:
    """Print the tables; whether some number is further from the paper than allowed."""
    from supclust.data.files import write_text
    from supclust.experiment.reproduction import publish, runs_text
    from supclust.model.aggregate import summarise
    from supclust.model.results import find_results
    from supclust.tables.differences import out_of_bounds
    from supclust.tables.render import render

    results = [r for r in find_results(options.outputs) if r["dataset"] in datasets]
    cells = summarise(results)
    if not cells:
        return True
    write_text(options.outputs / "summary.csv", render(cells, fmt="csv"))
    for layout in ("paper", "against"):
        print(render(cells, layout))
    print(runs_text(options.outputs))
    far = out_of_bounds(cells)
    if options.check:
        print("\n".join(far) or "All numbers are within the bounds.")
    if options.publish:
        for path in publish(results, options.outputs, options.publish):
            print(path)
    return bool(far)
