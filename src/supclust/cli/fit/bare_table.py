"""``supclust fit`` of a table without blocks: candidates, pair model and cut are learned."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supclust.cli.wording import counted, kinds_in, linkage_line, names_in, scores_line

if TYPE_CHECKING:
    from supclust.data.records.table import Records
    from supclust.model.trained import TrainedModel

_OF_BLOCKS = (
    *("labels", "scale", "no_flag", "epochs", "lr", "alpha_lr", "weight_decay"),
    *("dev_fraction", "dev_blocks", "train_blocks"),
)
_OF_TABLES = ("candidates", "labelled", "distinct", "max_pairs", "recall", "pairs")
_OPTIONS = ("candidates", "labelled", "max_pairs", "recall")  # of `TableOptions`


def configure_table(parser: argparse.ArgumentParser) -> None:
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
    table.add_argument("--max-pairs", type=float, metavar="K", help="per record (default: 40)")
    table.add_argument(
        "--recall", type=float, help="of labelled pairs, after closure (default: 0.999)"
    )


def is_bare_table(options: argparse.Namespace) -> bool:
    """Whether the options ask for a table without blocks."""
    from supclust.data.tables.reader import is_pair_layout

    of_tables = [name for name in _OF_TABLES if getattr(options, name) is not None]
    of_blocks = [name for name in _OF_BLOCKS if getattr(options, name) not in (None, False)]
    if of_tables and of_blocks:
        raise ValueError(
            f"--{of_tables[0].replace('_', '-')} goes with a table without blocks, "
            f"--{of_blocks[0].replace('_', '-')} with blocks; received both. Drop one."
        )
    if is_pair_layout(options.records):
        return False
    if options.block is not None:
        of_blocks.append("block")
        if of_tables == ["labelled"] and options.labelled == "partial":
            return False  # which is how blocks are learned from anyway
    default = (options.dissimilarity, options.objective) == ("auto", "exp_alpha")
    return bool(of_tables) or (
        not of_blocks and default and options.linkage == "exp" and options.recipe == "best"
    )


def fit_bare_table(options: argparse.Namespace) -> TrainedModel | None:
    """Learn from a table; ``None`` where all columns are numbers: these are vectors."""
    from supclust.cli.cluster import bar
    from supclust.data.records.labelled_pairs import read_labelled_pairs
    from supclust.data.records.table import ColumnChoice, read_records
    from supclust.data.records.where import Where
    from supclust.resolve.fit import TableOptions, fit_table

    choice = ColumnChoice(
        options.label,
        options.block,
        id=options.id,
        columns=tuple(names_in(options.columns) or ()),
        ignore=tuple(names_in(options.ignore) or ()),
        text=tuple(names_in(options.text) or ()),
        kinds=kinds_in(options.kind),
        distinct=options.distinct,
        where=Where.parse(options.where) if options.where else None,
    )
    records = read_records(options.records, choice)
    if all(kind == "number" for kind in records.kinds.values()):
        return None
    print("\n".join(_described(records)), flush=True)
    chosen = TableOptions(
        **_present({name: getattr(options, name) for name in _OPTIONS}), seed=options.seed
    )
    judged = None if options.pairs is None else read_labelled_pairs(options.pairs, records.ids)
    if judged is not None:
        print(
            f"{options.pairs}: {judged.match.sum():,} pairs that match, "
            f"{(~judged.match).sum():,} that do not, {judged.skipped:,} without an answer"
        )
    with bar("pairs") as progress:
        return fit_table(records, chosen, lambda line: print(line, flush=True), progress, judged)


def learned_lines(model: TrainedModel) -> list[str]:
    """What a model of a bare table has learned."""
    facts = model.record["entities"]
    shown = ", ".join(f"{name} {loss:.4f}" for name, loss in facts["log_losses"].items())
    scored = facts.get("f1_of_families") or {}
    if len(scored) > 1:
        shown += "; F1: " + ", ".join(f"{name} {f1:.3f}" for name, f1 in scored.items())
    lines = [
        f"pair model: {facts['pair_model']} (log loss of held-out entities: {shown})",
        linkage_line(model.linkage, model.alpha, model.record["spread"]),
        f"cut at {model.threshold:.6g} (minus log odds)",
    ]
    if model.record["dev"] is None:
        return [
            *lines,
            "no F1: no pair of different entities is known to be different, so precision cannot be "
            "measured; label more entities, or say --labelled complete",
        ]
    if model.record["bcubed"] is None:
        return [*lines, scores_line(model.record["dev"], None) + ", of the judged pairs"]
    precision, recall, f1 = model.record["bcubed"]
    return [
        *lines,
        scores_line(model.record["dev"], None) + ", strangers and lost pairs counted",
        f"held out: B-cubed F1 {f1:.3f} (precision {precision:.3f}, recall {recall:.3f})",
        f"{model.record['seconds']:.1f} s",
    ]


def _described(records: Records) -> list[str]:
    labelled = int((records.labels >= 0).sum())
    lines = [
        f"{records.path}: {counted(records.n, 'record')}, {labelled:,} with a label, "
        f"{len(records.label_names):,} entities"
    ]
    width = max(len(name) for name in records.kinds)
    lines.append("columns compared:")
    for one in records.columns:
        if one.note is None:
            examples = ", ".join(repr(example)[:30] for example in one.examples)
            lines.append(f"  {one.name:<{width}}  {one.kind:<8}  e.g. {examples}")
    return [*lines, *records.notes]


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
