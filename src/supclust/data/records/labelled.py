"""A table of records, some with a known cluster, as blocks to train on.

Columns are compared by what they hold (`supclust.data.records.kinds`); with numbers alone, records
are points of a vector space. A table to train on is read whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from supclust.data.block import (
    Block,
    FloatArray,
    IntArray,
    Kind,
    encode_labels,
    n_pairs,
)
from supclust.data.errors import DataError
from supclust.data.records.comparisons import RecordComparisons
from supclust.data.records.features import ColumnKind
from supclust.data.records.labels import blocks_note, count_labels, require_match, strangers_note
from supclust.data.records.learning import learn_comparisons, pairs_of_blocks
from supclust.data.records.table import UNKNOWN, ColumnChoice, Records, read_records
from supclust.hac.memory import require_memory

Use: TypeAlias = Literal["auto", "compare", "vectors"]


@dataclass(frozen=True)
class LabelledRecords:
    """Blocks to train on, and the columns that they come from.

    Attributes:
        kind: ``pairs`` (comparisons) or ``vectors``.
        blocks: of the labelled records, two or more each.
        feature_names: (d,).
        comparisons: of ``pairs``; else ``None``.
        kinds: of every column used.
        columns: the choice, with the id filled in.
        notes: what was left out.
        n: records of the table.
        labelled: records with a label.
        spreads: (d,) standard deviation of every feature of vectors, else 1.
    """

    kind: Kind
    blocks: tuple[Block, ...]
    feature_names: tuple[str, ...]
    comparisons: RecordComparisons | None
    kinds: dict[str, ColumnKind]
    columns: ColumnChoice
    notes: tuple[str, ...] = ()
    n: int = 0
    labelled: int = 0
    spreads: FloatArray = field(default_factory=lambda: np.ones(0))


def read_labelled_records(
    path: str | Path, columns: ColumnChoice, use: Use = "auto"
) -> LabelledRecords:
    """Read a table to train on.

    Args:
        path: CSV, TSV, Parquet or npz.
        columns: which column means what.
        use: ``compare`` columns, take records as ``vectors``, or ``auto``: the latter where all
            columns are numbers.

    Raises:
        DataError: saying what is missing and what to do.
    """
    records = read_records(path, columns)
    kinds, notes = records.kinds, records.notes
    texts = [name for name, kind in kinds.items() if kind != "number"]
    if use == "vectors" and texts:
        if columns.columns:
            raise DataError(
                f"vectors are made of numbers; column {texts[0]!r} holds {kinds[texts[0]]}. Leave "
                "it out of --columns, or use --dissimilarity linear, which compares text",
                records.path,
            )
        notes.append(f"columns left out, they are no magnitudes: {', '.join(texts)}")
        kinds = {name: kind for name, kind in kinds.items() if kind == "number"}
        if not kinds:
            raise DataError(
                "has no column of numbers to make vectors of. Use --dissimilarity linear, which "
                "compares text, or name the kind of a column, e.g. --kind year=number",
                records.path,
            )
    rows = _labelled_rows(records)
    counts = count_labels(records)
    notes += [note for note in (blocks_note(counts), strangers_note(counts)) if note]
    kind: Kind = "vectors" if use == "vectors" or (use == "auto" and not texts) else "pairs"
    comparisons = None
    if kind == "vectors":
        features, spreads = _vectors(records.values, kinds, list(rows.values()), records.path)
    else:
        comparisons, features = _compared(records.values, kinds, list(rows.values()))
        spreads = np.ones(len(comparisons.feature_names))
    blocks = []
    for (name, members), part in zip(rows.items(), features, strict=True):
        codes, clusters = encode_labels([records.label_names[k] for k in records.labels[members]])
        ids = tuple(str(row + 1) for row in members)
        blocks.append(Block(name, ids, codes, kind, part, clusters))
    return LabelledRecords(
        kind,
        tuple(blocks),
        comparisons.feature_names if comparisons else tuple(kinds),
        comparisons,
        kinds,
        records.choice,
        tuple(notes),
        records.n,
        int((records.labels != UNKNOWN).sum()),
        spreads,
    )


def _compared(
    values: Mapping[str, Any], kinds: Mapping[str, ColumnKind], rows: list[IntArray]
) -> tuple[RecordComparisons, list[FloatArray]]:
    """Comparisons learned from the records, and the features of every block."""
    pairs = sum(n_pairs(len(block)) for block in rows)
    largest = max(len(block) for block in rows)
    require_memory(
        4 * 12 * len(kinds) * pairs,  # float32, at most 12 features of a column
        f"comparing all pairs of {len(rows):,} blocks of up to {largest:,} records",
    )
    comparisons = learn_comparisons(kinds, values, *pairs_of_blocks(rows))
    records = comparisons.encode(values)
    return comparisons, [comparisons.block_features(records, block) for block in rows]


def _vectors(
    values: Mapping[str, Any], kinds: Mapping[str, ColumnKind], rows: list[IntArray], path: Path
) -> tuple[list[FloatArray], FloatArray]:
    """Points of every block, and the standard deviation of every column (1 where it is 0)."""
    points = np.column_stack([values[name] for name in kinds])
    used = np.concatenate(rows)
    bad = ~np.isfinite(points[used])
    if bad.any():
        name = list(kinds)[int(np.argmax(bad.any(axis=0)))]
        raise DataError(
            f"column {name!r} must hold a finite number in every record. Fill it in, leave it out "
            "(--ignore), or use --dissimilarity linear, which can do without",
            path,
        )
    spreads = points[used].std(axis=0)
    return [points[block] for block in rows], np.where(spreads > 0, spreads, 1.0)


def rows_by_block(
    groups: Sequence[str | None], rows: Iterable[int], column: str | None, path: Path
) -> dict[str, IntArray]:
    """Rows of every block, in the order of the file.

    Args:
        groups: block of every record of the table.
        rows: the records to take.
        column: of the blocks, for the message.
        path: of the table.
    """
    by_block: dict[str, list[int]] = {}
    for row in rows:
        group = groups[row]
        if group is None:
            raise DataError(
                f"every record needs a block; column {column!r} is empty in record {row + 1}. "
                "Fill it in, or remove the record",
                path,
            )
        by_block.setdefault(group, []).append(row)
    return {name: np.array(members, np.int64) for name, members in by_block.items()}


def _labelled_rows(records: Records) -> dict[str, IntArray]:
    """Labelled records of every block that has two or more, by the order of the file."""
    labelled = np.flatnonzero(records.labels != UNKNOWN).tolist()
    rows = rows_by_block(records.blocks, labelled, records.choice.block, records.path)
    require_match(records)
    return {name: own for name, own in rows.items() if len(own) > 1}
