"""A table of records, some with a known cluster, as blocks to train on.

Columns are compared by what they hold (`supclust.data.records.kinds`); with numbers alone, records
are points of a vector space. A table to train on is read whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from supclust.data.block import (
    ONE_BLOCK,
    Block,
    FloatArray,
    IntArray,
    Kind,
    encode_labels,
    n_pairs,
)
from supclust.data.errors import DataError
from supclust.data.records.columns import compared, read_columns, type_columns
from supclust.data.records.comparisons import ColumnKind, RecordComparisons
from supclust.data.records.learning import learn_comparisons, pairs_of_blocks
from supclust.data.tables.cast import Kind as SourceKind
from supclust.data.tables.reader import RecordTable, open_table
from supclust.hac.memory import require_memory

Use: TypeAlias = Literal["auto", "compare", "vectors"]


@dataclass(frozen=True)
class ColumnChoice:
    """Which columns of a table mean what.

    Attributes:
        label: cluster of a record, empty where it is not known.
        block: block of a record; ``None``: one block.
        id: id of a record, never compared; default: ``id`` where there is such a column.
        columns: to compare; default: all others.
        ignore: not to compare.
        text: to be read as text although they hold numbers (zip codes, phone numbers).
        kinds: of columns, where they are not to be inferred.
    """

    label: str
    block: str | None = None
    id: str | None = None
    columns: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    kinds: Mapping[str, ColumnKind] = field(default_factory=dict)

    @property
    def chosen_kinds(self) -> dict[str, ColumnKind]:
        """Kinds that are not inferred."""
        return {**dict.fromkeys(self.text, "text"), **self.kinds}


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
    table = open_table(path)
    chosen, columns = _choose(table, columns)
    wanted: dict[str, SourceKind] = {
        name: "number" if name in table.numeric else "text" for name in chosen
    }
    wanted |= {name: "text" for name in (columns.label, columns.block) if name is not None}
    raw = read_columns(table, wanted)
    typed = type_columns(table, chosen, raw, columns.chosen_kinds)
    values = {one.name: one.values for one in typed}
    kinds = compared(typed)
    notes = [one.note for one in typed if one.note is not None]
    if not kinds:
        raise DataError(
            f"no column can be compared ({'; '.join(notes)}). Add one, or choose with --kind",
            table.path,
        )
    texts = [name for name, kind in kinds.items() if kind != "number"]
    if use == "vectors" and texts:
        if columns.columns:
            raise DataError(
                f"vectors are made of numbers; column {texts[0]!r} holds {kinds[texts[0]]}. Leave "
                "it out of --columns, or use --dissimilarity linear, which compares text",
                table.path,
            )
        notes.append(f"columns left out, they are no magnitudes: {', '.join(texts)}")
        kinds = {name: kind for name, kind in kinds.items() if kind == "number"}
        if not kinds:
            raise DataError("has no column of numbers to make vectors of", table.path)
    labels, rows = raw[columns.label], _labelled_rows(raw, columns, table.path)
    kind: Kind = "vectors" if use == "vectors" or (use == "auto" and not texts) else "pairs"
    comparisons = None
    if kind == "vectors":
        features, spreads = _vectors(values, kinds, list(rows.values()), table.path)
    else:
        comparisons, features = _compared(values, kinds, list(rows.values()))
        spreads = np.ones(len(comparisons.feature_names))
    blocks = []
    for (name, members), part in zip(rows.items(), features, strict=True):
        codes, clusters = encode_labels([labels[row] for row in members])
        ids = tuple(str(row + 1) for row in members)
        blocks.append(Block(name, ids, codes, kind, part, clusters))
    return LabelledRecords(
        kind,
        tuple(blocks),
        comparisons.feature_names if comparisons else tuple(kinds),
        comparisons,
        kinds,
        columns,
        tuple(notes),
        len(labels),
        sum(label is not None for label in labels),
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


def _choose(table: RecordTable, columns: ColumnChoice) -> tuple[list[str], ColumnChoice]:
    """Columns to compare, and the choice with the id filled in."""
    id = columns.id or ("id" if "id" in table.names else None)
    named = [columns.label, *(n for n in (columns.block, columns.id) if n is not None)]
    table.require(*named, *columns.columns, *columns.ignore, *columns.chosen_kinds)
    left_out = {columns.label, columns.block, id, *columns.ignore}
    if columns.label in columns.columns:
        raise DataError(
            f"the label {columns.label!r} cannot be compared: new records have none. Leave it out "
            "of --columns",
            table.path,
        )
    chosen = list(columns.columns) or [name for name in table.names if name not in left_out]
    if not chosen:
        raise DataError(
            "has no column to compare besides label, block and id; add columns that tell records "
            "apart",
            table.path,
        )
    return chosen, replace(columns, id=id)


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
    found: dict[str, list[int]] = {}
    for row in rows:
        group = groups[row]
        if group is None:
            raise DataError(
                f"every record needs a block; column {column!r} is empty in record {row + 1}. "
                "Fill it in, or remove the record",
                path,
            )
        found.setdefault(group, []).append(row)
    return {name: np.array(members, np.int64) for name, members in found.items()}


def _labelled_rows(
    raw: Mapping[str, Any], columns: ColumnChoice, path: Path
) -> dict[str, IntArray]:
    """Labelled records of every block that has two or more, by the order of the file."""
    labels = raw[columns.label]
    groups = raw[columns.block] if columns.block else [ONE_BLOCK] * len(labels)
    labelled = [row for row, label in enumerate(labels) if label is not None]
    rows = rows_by_block(groups, labelled, columns.block, path)
    kept = {name: found for name, found in rows.items() if len(found) > 1}
    if not kept:
        raise DataError(
            f"training needs records with a label (column {columns.label!r}), two or more in one "
            "block; there are none. Label some, or name another column with --label",
            path,
        )
    if all(len({labels[row] for row in found}) == len(found) for found in kept.values()):
        raise DataError(
            f"training needs two records of one cluster; in column {columns.label!r} every label "
            "of a block is different. Name the column of clusters with --label",
            path,
        )
    return kept
