"""Input of ``supclust fit``: records or features of pairs, and the blocks to hold out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from supclust.cli.wording import counted
from supclust.data.block import Block, Dataset, FloatArray, Kind
from supclust.data.errors import DataError
from supclust.data.records.labelled import LabelledRecords, Use, read_labelled_records
from supclust.data.records.table import ColumnChoice
from supclust.data.splits import hold_out


@dataclass(frozen=True)
class TrainingInput:
    """Labelled blocks.

    Attributes:
        kind: of the features.
        blocks: labelled.
        feature_names: (d,).
        described: lines for the reader: what was read, and how it is used.
        records: description of the table that clustering needs; stored in the model.
        spreads: (d,) of the columns of vectors.
    """

    kind: Kind
    blocks: tuple[Block, ...]
    feature_names: tuple[str, ...]
    described: tuple[str, ...]
    records: dict[str, Any]
    spreads: FloatArray = field(default_factory=lambda: np.ones(0))


def read_training_records(path: Path, columns: ColumnChoice, use: Use) -> TrainingInput:
    """Read a table of records."""
    table = read_labelled_records(path, columns, use)
    description: dict[str, Any] = {
        "layout": "records",
        "label": table.columns.label,
        "block": table.columns.block,
        "id": table.columns.id,
        "columns": dict(table.kinds),
    }
    if table.comparisons is not None:
        description["comparisons"] = table.comparisons.to_json()
    return TrainingInput(
        table.kind,
        table.blocks,
        table.feature_names,
        tuple(_described(path, table)),
        description,
        table.spreads,
    )


def _described(path: Path, table: LabelledRecords) -> list[str]:
    used = sum(block.n for block in table.blocks)
    lines = [
        f"{path}: {counted(table.n, 'record')}, {table.labelled:,} with a label; {used:,} of these "
        f"in {counted(len(table.blocks), 'block')} of two or more"
    ]
    if table.comparisons is None:
        lines.append(
            f"vectors of {counted(len(table.feature_names), 'number')}: {_shown(table.kinds)}"
        )
    else:
        lines.append("columns compared:")
        width = max(len(one.column) for one in table.comparisons.comparisons)
        for one in table.comparisons.comparisons:
            what = ", ".join(name.partition(": ")[2] for name in one.feature_names)
            unit = f" (unit {one.spread:.4g})" if one.kind == "number" else ""
            lines.append(f"  {one.column:<{width}}  {one.kind:<8}  {what}{unit}")
    return [*lines, *table.notes]


def _shown(names: Sequence[str] | dict[str, Any], most: int = 8) -> str:
    return ", ".join(list(names)[:most]) + (", ..." if len(names) > most else "")


def read_training_pairs(path: Path, labels: Path | None, flag: bool) -> TrainingInput:
    """Read features of pairs: block folders, or a table and the labels of its points."""
    from supclust.data.layouts.pair_folders import read_pair_folders
    from supclust.data.layouts.pair_tables import read_pair_table
    from supclust.data.sets.aminer import INDEX_FILE, read_aminer

    if not path.is_dir():
        if labels is None:
            raise DataError(
                "is a table of pairs (id_a, id_b); the clusters of the points are needed too. "
                "Name their table (id, label) with --labels",
                path,
            )
        dataset = read_pair_table(path, labels)
    elif (path / INDEX_FILE).is_file():
        dataset = read_aminer(path)
    else:
        dataset = read_pair_folders(path, flag=flag)
    return TrainingInput(
        "pairs",
        dataset.blocks,
        dataset.feature_names,
        tuple(_described_pairs(path, dataset)),
        {"layout": "pairs"},
    )


def _described_pairs(path: Path, dataset: Dataset) -> list[str]:
    return [
        f"{path}: {counted(dataset.n, 'point')} in {counted(len(dataset.blocks), 'block')}, "
        f"{counted(dataset.n_pairs, 'pair')} with {counted(dataset.d, 'feature')}",
        *dataset.notes,
    ]


def choose_blocks(
    data: TrainingInput,
    train: Sequence[str] | None,
    dev: Sequence[str] | None,
    share: float | None,
    seed: int,
) -> tuple[list[Block], list[Block]]:
    """Blocks to train on, and those held out for stopping and for the cut.

    Args:
        data: the input.
        train: names of the blocks to train on; default: all that are not held out.
        dev: names of the blocks to hold out; default: drawn at random.
        share: of the blocks to draw, or of the clusters where there is one block.
        seed: of the draw.
    """
    by_name = {block.name: block for block in data.blocks}
    for name in (*(train or ()), *(dev or ())):
        if name not in by_name:
            raise DataError(
                f"there is no block {name!r} with labelled points; the blocks are "
                f"{_shown(list(by_name))}. Correct --train-blocks or --dev-blocks"
            )
    both = [name for name in train or () if name in set(dev or ())]
    if both:
        raise DataError(f"block {both[0]!r} is in --train-blocks and in --dev-blocks; choose one")
    if dev is not None:
        held = [block for block in data.blocks if block.name in set(dev)]
        rest = set(by_name) - set(dev) if train is None else set(train)
        left = [block for block in data.blocks if block.name in rest]
        if not left:
            raise DataError("no block is left to train on; hold out fewer with --dev-blocks")
        return left, held
    eligible = [b for b in data.blocks if train is None or b.name in set(train)]
    return hold_out(eligible, share, seed)
