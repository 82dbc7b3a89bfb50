"""``supclust fit`` of a table without blocks: candidates, pair model and cut are learned."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from supclust.cli.fit.arguments import column_choice
from supclust.cli.wording import counted, linkage_line, scores_line, shortened

if TYPE_CHECKING:
    from supclust.data.records.table import Records
    from supclust.model.trained import TrainedModel

_OF_BLOCKS = (
    *("labels", "scale", "no_flag", "epochs", "lr", "alpha_lr", "weight_decay"),
    *("dev_fraction", "dev_blocks", "train_blocks"),
)
_OF_TABLES = ("candidates", "labelled", "distinct", "max_pairs", "recall", "pairs")
_POOR = 0.1  # F1 below which a model is warned of
_WIDEST = 30  # characters of an example
_OPTIONS = ("candidates", "labelled", "max_pairs", "recall")  # of `TableOptions`


def is_bare_table(options: argparse.Namespace) -> bool:
    """Whether the options ask for a table without blocks."""
    from supclust.data.tables.reader import is_pair_layout

    of_tables = _given_of_tables(options)
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


def _given_of_tables(options: argparse.Namespace) -> list[str]:
    return [name for name in _OF_TABLES if getattr(options, name) is not None]


def fit_bare_table(options: argparse.Namespace) -> TrainedModel | None:
    """Learn from a table; ``None`` where all columns are numbers: these are vectors."""
    from supclust.cli.cluster import bar
    from supclust.data.records.judged_pairs import read_judged_pairs
    from supclust.data.records.table import read_records
    from supclust.resolve.fit import TableOptions, fit_table

    records = read_records(options.records, column_choice(options))
    if all(kind == "number" for kind in records.kinds.values()):
        if given := _given_of_tables(options):
            raise ValueError(
                f"--{given[0].replace('_', '-')} needs a column of text, dates, codes or lists; "
                "received numbers only, which are clustered as vectors. Leave it out, or name the "
                "kind of a column, e.g. --kind zip=code."
            )
        return None
    print("\n".join(_described(records)), flush=True)
    chosen = TableOptions(
        **_present({name: getattr(options, name) for name in _OPTIONS}), seed=options.seed
    )
    judged = None if options.pairs is None else read_judged_pairs(options.pairs, records.ids)
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
    shown = ", ".join(f"{name} {loss:.3g}" for name, loss in facts["log_losses"].items())
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
        scores_line(model.record["dev"], None)
        + (
            ", unlabelled records and pairs never compared included"
            if facts["complete"]
            else ", of labelled records only, pairs never compared included"
        ),
        f"held out: B-cubed F1 {f1:.3f} (precision {precision:.3f}, recall {recall:.3f})",
        *_poor(model.record["dev"]),
        f"{model.record['seconds']:.1f} s",
    ]


def _poor(dev: Mapping[str, float]) -> list[str]:
    """A warning where hardly any pair of records is found, or is right."""
    if dev["pairwise_f1"] >= _POOR:
        return []
    what = (
        "almost all records of one entity stay apart"
        if dev["recall"] <= dev["precision"]
        else "clusters mix records of different entities"
    )
    return [
        f"warning: the columns hardly tell the entities apart: {what}. Add columns in which "
        "records of one entity are alike, or check --label"
    ]


def _described(records: Records) -> list[str]:
    labelled = int((records.labels >= 0).sum())
    lines = [
        f"{records.path}: {counted(records.n, 'record')}, {labelled:,} with a label, "
        f"{len(records.label_names):,} {'entity' if len(records.label_names) == 1 else 'entities'}"
    ]
    width, wide = (max(map(len, texts)) for texts in (records.kinds, records.kinds.values()))
    lines.append("columns compared:")
    for one in records.columns:
        if one.note is None:
            examples = ", ".join(repr(shortened(example, _WIDEST)) for example in one.examples)
            lines.append(f"  {one.name:<{width}}  {one.kind:<{wide}}  e.g. {examples}")
    return [*lines, *records.notes]


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
