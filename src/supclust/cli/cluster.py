"""``supclust cluster``: cluster records with a model."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from supclust.cli.wording import counted, names_in

if TYPE_CHECKING:
    from supclust.cluster.engine import Engine
    from supclust.cluster.table import Clustered, Options
    from supclust.model.trained import TrainedModel
    from supclust.resolve.apply import Entities

INTERRUPTED = 130  # exit code of a process that Ctrl-C ended

EXAMPLES = (
    "supclust cluster records.parquet --model model -o clusters.parquet",
    "supclust cluster records.parquet --model model -o clusters.parquet --store entities/",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "records",
        type=Path,
        help="table of records (CSV, TSV, Parquet, npz), or pair features, as the model was "
        "trained on",
    )
    parser.add_argument("--model", type=Path, required=True, help="folder of the model")
    parser.add_argument(
        *("-o", "--output"),
        type=Path,
        required=True,
        help="table to write: .csv, .tsv, .parquet or .npz",
    )
    parser.add_argument("--block", help="column of blocks (default: that of training)")
    parser.add_argument("--id", help="column of ids (default: that of training, or id)")
    parser.add_argument("--keep", help="columns to copy to the output, as a,b,c, or all")
    parser.add_argument("--threshold", type=float, help="cut here, not at the model's height")
    parser.add_argument("--n-clusters", type=int, help="cut every block into so many clusters")
    parser.add_argument("--linkage", help="which linkage of a result of train.py (default: exp)")
    parser.add_argument("--only-blocks", help="pair features: these blocks, a,b,c or a file")
    parser.add_argument(
        "--constraints",
        type=Path,
        metavar="PAIRS",
        help="table with id_a, id_b and constraint: must or cannot be in one cluster",
    )
    parser.add_argument(
        "--store",
        type=Path,
        metavar="FOLDER",
        help="keep records, pairs and clusters here, for supclust update and correct",
    )
    parser.add_argument(
        "--memory",
        type=int,
        default=512,
        metavar="MB",
        help="records that wait for the rest of their block; more go to disk (default: 512)",
    )
    add_engine(parser)


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where chunks are computed."""
    parser.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="local: this machine's cores; ray: the tasks of a Ray cluster, with the same output "
        "(default: local)",
    )
    parser.add_argument(
        "--address",
        help="of the Ray cluster, as HOST:PORT (default: $RAY_ADDRESS, or the one of this machine)",
    )


def engine_of(options: argparse.Namespace) -> AbstractContextManager[Engine]:
    """The engine that the arguments name, connected."""
    from supclust.cluster.engine import opened_engine

    return opened_engine(options.engine, options.address)


def run(options: argparse.Namespace) -> int:
    """Cluster, and say how much there was."""
    from supclust.cluster.table import Options, cluster_table
    from supclust.data.layouts.link_pairs import read_link_pairs
    from supclust.data.tables.reader import is_pair_layout
    from supclust.model import load

    start = time.perf_counter()
    _check_cut(options)
    model = load(options.model, linkage=options.linkage)
    chosen = Options(
        options.block,
        options.id,
        options.threshold,
        options.n_clusters,
        tuple(names_in(options.keep) or ()),
        max(1, options.memory) << 20,
        None if options.constraints is None else read_link_pairs(options.constraints),
    )
    if (model.records or {}).get("layout") == "table":
        return _resolve(options, model, chosen, start)
    if options.store is not None:
        raise ValueError(
            "--store needs a model that finds the pairs of a table by itself; received one of "
            "blocks or vectors. Fit a model without --block, or leave --store out."
        )
    pairs = model.kind == "pairs" and model.comparisons is None
    if pairs and is_pair_layout(options.records):
        from supclust.cluster.pairs import cluster_pairs

        if options.constraints is not None:
            raise ValueError(
                "--constraints goes with tables of records; received pair features. Leave it out."
            )
        only = names_in(options.only_blocks)
        with engine_of(options) as engine, bar("blocks") as progress:
            done = cluster_pairs(
                options.records, model, options.output, chosen, only, progress, engine
            )
    else:
        if options.only_blocks:
            raise ValueError(
                "--only-blocks goes with pair features; received a table of records. Leave it out."
            )
        try:
            with engine_of(options) as engine, bar("records") as progress:
                done = cluster_table(
                    options.records, model, options.output, chosen, progress, engine
                )
        except KeyboardInterrupt:
            return _stopped()
    _say_before(done)
    print(
        f"{options.output}: {counted(done.records, 'record')} in "
        f"{counted(done.blocks, 'block')}, {counted(done.clusters, 'cluster')}, "
        f"{time.perf_counter() - start:.1f} s"
    )
    return 0


def _resolve(
    options: argparse.Namespace, model: TrainedModel, chosen: Options, start: float
) -> int:
    """Find the entities of a table without blocks."""
    from supclust.resolve.apply import resolve_table

    keep = None
    if options.store is not None:
        from supclust.store.creation import keeper

        keep = keeper(options.store, options.records, model, options.id)
    try:
        with engine_of(options) as engine, bar("pairs") as progress:
            done = resolve_table(
                *(options.records, model, options.output, chosen),
                *(lambda line: print(line, flush=True), progress, engine, keep),
            )
    except KeyboardInterrupt:
        return _stopped()
    _say_before(done)
    if done.repeated:
        print(
            f"warning: {done.repeated}; such rows of the output cannot be told apart by id. Give "
            "records distinct ids, or name another column with --id",
            file=sys.stderr,
        )
    print(
        f"{options.output}: {counted(done.records, 'record')}, "
        f"{counted(done.entities, 'cluster')}, {time.perf_counter() - start:.1f} s"
    )
    if options.store is not None:
        print(f"{options.store}: store, for supclust update, correct, explain and review")
    return 0


def _stopped() -> int:
    """Say after Ctrl-C how to go on; the exit code."""
    print("stopped; run the same command again to go on from here", file=sys.stderr)
    return INTERRUPTED


def _say_before(done: Clustered | Entities) -> None:
    """Say what an earlier run of the command left behind."""
    if done.discarded:
        print("unfinished work of another input, model or cut was discarded", file=sys.stderr)
    if done.resumed:
        were = "was" if done.resumed == 1 else "were"
        print(f"{counted(done.resumed, 'chunk')} {were} finished already", file=sys.stderr)


def _check_cut(options: argparse.Namespace) -> None:
    if options.threshold is not None and options.n_clusters is not None:
        raise ValueError("give --threshold or --n-clusters; received both. Drop one.")
    if options.n_clusters is not None and options.n_clusters < 1:
        raise ValueError(
            f"--n-clusters must be at least 1; received {options.n_clusters}. Ask for 1 or more."
        )
    if options.threshold is not None and math.isnan(options.threshold):
        raise ValueError("--threshold must be a number; received nan. Use e.g. 0.5, or inf.")


@contextmanager
def bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar at a terminal; elsewhere a line every ten seconds."""
    from supclust.experiment.progress import ProgressBar, progress_lines

    if not sys.stderr.isatty():
        with progress_lines(label) as report:
            yield report
        return

    with ProgressBar(label, 1) as shown:
        yield lambda done, total: shown.update(done, total)
