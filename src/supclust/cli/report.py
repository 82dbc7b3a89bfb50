"""``supclust report``: results or a model as one page that needs no network."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

EXAMPLES = (
    "supclust report outputs -o report.html",
    "supclust report model --data records.csv -o model.html",
    "supclust report entities/ -o entities.html",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "folder", type=Path, help="folder of results (paths.outputs), a model or a store"
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("report.html"), help="default: report.html"
    )
    parser.add_argument(
        "--data",
        type=Path,
        help="results: folder of the real data sets, if it is not that of the run; "
        "model: what it is to cluster, as for `supclust cluster`",
    )
    parser.add_argument("--objective", help="draw the tree of this row (default: the best)")
    parser.add_argument("--linkage", help="show this linkage first (default: exp)")
    parser.add_argument("--split", type=int, help="draw the tree of this split (default: first)")
    parser.add_argument("--label", help="model: column of known clusters (default: as trained)")
    parser.add_argument("--block", help="model: column of blocks (default: as trained)")
    parser.add_argument(
        "--labels", type=Path, help="model of pair features: table with id, label (and block)"
    )
    parser.add_argument(
        "--no-trees", action="store_true", help="no trees and no cuts: faster, needs no data"
    )


def run(options: argparse.Namespace) -> int:
    """Write the page, and print its path and size."""
    from supclust.data.files import require_output

    start = time.perf_counter()
    if options.output.is_dir():
        raise ValueError(
            f"-o needs a file; received the folder {options.output}. "
            f"Use -o {options.output / 'report.html'}."
        )
    require_output(options.output)
    if not options.folder.is_dir():
        raise ValueError(
            f"a folder of results is needed, or of a model; {options.folder} is none. Make results "
            "with train.py, a model with `supclust fit`."
        )
    if (options.folder / "store.json").is_file():
        from supclust.review.page import write_store_report

        write_store_report(options.folder, options.output)
    elif _is_model(options.folder, options.data):
        _write_model(options)
    else:
        _write_results(options)
    size = options.output.stat().st_size / 1e6
    print(f"{options.output}: {size:.1f} MB, {time.perf_counter() - start:.1f} s")
    return 0


def _is_model(folder: Path, data: Path | None) -> bool:
    """Whether it is a model, or one split of ``train.py`` that is to cluster other data."""
    return (folder / "model.json").is_file() or (
        data is not None and (folder / "result.json").is_file()
    )


def _write_model(options: argparse.Namespace) -> None:
    from supclust.model import load
    from supclust.report.model_blocks import Columns
    from supclust.report.model_page import write_model_report
    from supclust.report.page import write_page
    from supclust.report.table_model_page import table_model_page
    from supclust.resolve.table_model import is_table_model

    model = load(options.folder, linkage=options.linkage)
    if is_table_model(model):
        columns = Columns(options.label)
        name = options.folder.resolve().name
        write_page(options.output, table_model_page(model, name, options.data, columns))
        return
    if options.data is None:
        raise ValueError(
            f"the report of a model needs records to cluster; received none. Use "
            f"`supclust report {options.folder} --data records.csv`."
        )
    columns = Columns(options.label, options.block, options.labels)
    write_model_report(options.folder, options.data, options.output, options.linkage, columns)


def _write_results(options: argparse.Namespace) -> None:
    from supclust.report.data import ReportOptions, gather
    from supclust.report.results_page import write_report

    choice = ReportOptions(
        objective=options.objective,
        linkage=options.linkage,
        split=options.split,
        data=options.data,
        trees=not options.no_trees,
    )
    write_report(gather(options.folder, choice), options.output)
