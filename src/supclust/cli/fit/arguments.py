"""Arguments of ``supclust fit``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from supclust.cli.wording import KIND_HELP, kinds_in, names_in
from supclust.cut import CUT_NAMES
from supclust.hac.family import METHODS
from supclust.objectives import OBJECTIVES
from supclust.registry import DISSIMILARITIES, Registry

if TYPE_CHECKING:
    from supclust.data.records.table import ColumnChoice


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "records",
        type=Path,
        help="table of records (CSV, TSV, Parquet, npz), or pair features: a folder of block "
        "folders, or a table with id_a and id_b and its --labels",
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the model")
    columns = parser.add_argument_group("columns of a table of records")
    columns.add_argument("--label", help="the known cluster; empty where it is not known")
    columns.add_argument("--block", help="only records of one block are compared; default: of all")
    columns.add_argument("--id", help="never compared (default: id, if there is one)")
    columns.add_argument("--columns", help="to compare, as a,b,c (default: all others)")
    columns.add_argument("--ignore", help="not to compare, as a,b,c")
    columns.add_argument("--text", help="text although it looks like numbers, as zip,phone")
    columns.add_argument("--kind", metavar="A=KIND", help=KIND_HELP)
    columns.add_argument("--where", help="only records that meet this, as 'year<2022'")
    columns.add_argument(
        "--scale", action="store_true", help="vectors: divide each column by its spread"
    )
    pairs = parser.add_argument_group("pair features")
    pairs.add_argument("--labels", type=Path, help="table with id, label (and block)")
    pairs.add_argument(
        "--no-flag", action="store_true", help="block folders: the last column is a feature"
    )
    what = parser.add_argument_group("what to learn")
    what.add_argument(
        "--objective",
        type=_registered(OBJECTIVES),
        default="exp_alpha",
        metavar="NAME",
        help=f"{', '.join(OBJECTIVES)} (default: exp_alpha)",
    )
    what.add_argument(
        "--linkage",
        choices=METHODS,
        default="exp",
        metavar="NAME",
        help=f"{', '.join(METHODS)} (default: exp, which is learned)",
    )
    what.add_argument(
        "--dissimilarity",
        type=_registered(DISSIMILARITIES, "auto"),
        default="auto",
        metavar="NAME",
        help=f"auto, {', '.join(DISSIMILARITIES)}. linear compares column by column, stacked adds "
        "boosted trees, mahalanobis and encoder take records as vectors of numbers (default: auto: "
        "linear if there is text, else mahalanobis, unless another is clearly better on held-out "
        "clusters)",
    )
    _add_table_arguments(parser)
    how = parser.add_argument_group("how to learn")
    how.add_argument(
        "--recipe",
        choices=("best", "paper"),
        default="best",
        help="best: a start in closed form, trained from there where that is better on held-out "
        "clusters; paper: trained from random values (default: best)",
    )
    how.add_argument(
        "--dev-fraction",
        type=float,
        metavar="SHARE",
        help="of the blocks (or clusters, where there is one block) held out to know when to stop "
        "and where to cut (default: 0.15 of the blocks, 0.4 of the clusters)",
    )
    how.add_argument("--dev-blocks", help="blocks to hold out: a,b,c or a file, one per line")
    how.add_argument("--train-blocks", help="blocks to train on (default: all others)")
    how.add_argument(
        "--cut",
        choices=CUT_NAMES,
        default="auto",
        metavar="NAME",
        help="how trees are cut. threshold: at one height; learned: by features of every merge; "
        "auto: learned, unless clearly worse in cross-validation; dev: at one height chosen on "
        "what is held out alone (default: auto)",
    )
    how.add_argument("--seed", type=int, default=0)
    how.add_argument(
        "--epochs", type=int, help="at most (default: 60; paper: 200, or 500 for vectors)"
    )
    how.add_argument("--lr", type=float, help="learning rate")
    how.add_argument("--alpha-lr", type=float, help="learning rate of alpha")
    how.add_argument("--weight-decay", type=float)


def _add_table_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of tables without blocks."""
    table = parser.add_argument_group("pairs of a table, with or without --block")
    table.add_argument(
        "--candidates",
        metavar="RULES",
        help="pairs to compare, as 'surname & year(dob), postcode' (default: learned)",
    )
    table.add_argument(
        "--labelled",
        choices=("auto", "complete", "partial"),
        help="complete: records without a label belong to no labelled entity; partial: they may "
        "(default: found out, and said)",
    )
    table.add_argument(
        "--pairs",
        type=Path,
        metavar="TABLE",
        help="judged pairs, beside --label or instead of it: two ids (id_a, id_b) and match (1, 0)",
    )
    table.add_argument("--distinct", help="records that share a value are different entities")
    table.add_argument(
        "--max-pairs",
        type=float,
        metavar="K",
        help="per record (default: 40; more in tables of 3,000 to 100,000 records)",
    )
    table.add_argument(
        "--recall", type=float, help="of labelled pairs, after closure (default: 0.999)"
    )


def _registered(registry: Registry, *more: str) -> Callable[[str], str]:
    """The type of an argument that names a registered class, or one of ``more``."""

    def name(text: str) -> str:
        if text not in (*more, *registry):
            raise argparse.ArgumentTypeError(
                f"{registry.kind} must be one of {', '.join((*more, *registry))}; received "
                f"{text!r}. A package registers its own under the entry points "
                f"{registry.group!r}, which are read from its installed metadata: install it again "
                "after a change."
            )
        return text

    return name


def column_choice(options: argparse.Namespace) -> ColumnChoice:
    """Columns of a table of records, and which records are read."""
    from supclust.data.records.table import ColumnChoice
    from supclust.data.records.where import Where

    def listed(text: str | None) -> tuple[str, ...]:
        return tuple(names_in(text) or ())

    return ColumnChoice(
        options.label,
        options.block,
        id=options.id,
        columns=listed(options.columns),
        ignore=listed(options.ignore),
        text=listed(options.text),
        kinds=kinds_in(options.kind),
        distinct=options.distinct,
        where=Where.parse(options.where) if options.where else None,
    )
