"""Blocks of a file as a trained model reads them: features, names, and clusters where known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supclust.data.block import Dataset, FloatArray, IntArray, encode_labels, n_pairs
from supclust.data.errors import DataError
from supclust.data.records.comparisons import RecordComparisons
from supclust.data.sets.aminer import INDEX_FILE, read_aminer
from supclust.data.sets.faces import UMIST_FILE, read_umist
from supclust.data.tables.reader import RecordTable, numbers_of, open_table
from supclust.report.pair_blocks import (
    LabelledPairs,
    read_pair_folder_blocks,
    read_pair_table_blocks,
    takes_pairs,
)
from supclust.report.trees import Points

if TYPE_CHECKING:
    from supclust.model.trained import TrainedModel

MOST_NUMBERS = 50_000_000
"""Numbers in the features of one block; a larger one is left out."""
ALL_NUMBERS = 200_000_000
"""Of all blocks together; the smallest blocks are left out first."""
ONE_BLOCK = "all"


@dataclass(frozen=True)
class ModelBlock:
    """A block to be clustered: its points for drawing, its features for the model."""

    points: Points
    features: FloatArray


@dataclass(frozen=True)
class Columns:
    """Which columns of a table mean what; ``None``: as the model has noted.

    Attributes:
        label: column of known clusters.
        block: column of blocks.
        labels: table of known clusters (id, label), for a table of pairs.
    """

    label: str | None = None
    block: str | None = None
    labels: Path | None = None


def read_model_blocks(
    model: TrainedModel, path: Path, columns: Columns
) -> tuple[list[ModelBlock], int]:
    """Read the blocks of a file, largest first, and count those that had to be left out.

    Args:
        model: that is to cluster them.
        path: table of records; table or folder of pair features; or folder of the UMIST faces.
        columns: of a table.

    Raises:
        DataError: the file is not of the kind that the model was trained on.
    """
    if not path.exists():
        raise DataError("no such file or folder; name the records to cluster with --data", path)
    if path.is_dir() or path.name == UMIST_FILE:
        known = _known_set(path, model.d)
        if known is not None:
            return _of_dataset(_checked(known, model, path))
        return _of_pairs(read_pair_folder_blocks(model, path))
    table = open_table(path)
    if takes_pairs(model) and {"id_a", "id_b"} <= set(table.names):
        if columns.label or columns.block:
            raise DataError(
                "is a table of pairs, whose blocks are in column block and whose clusters are in "
                "another table; name that with --labels, and leave --label and --block out",
                path,
            )
        return _of_pairs(read_pair_table_blocks(model, path, columns.labels))
    if columns.labels is not None:
        raise DataError(
            "is a table of records, which has its clusters in a column; name that with --label, "
            "and leave --labels out",
            path,
        )
    return _of_table(model, table, columns)


def _known_set(path: Path, d: int) -> Dataset | None:
    """UMIST or AMINER, by their files; ``None``: a folder of somebody's own."""
    if path.name == UMIST_FILE or (path / UMIST_FILE).is_file():
        return read_umist(path, d)
    return read_aminer(path) if (path / INDEX_FILE).is_file() else None


def _checked(dataset: Dataset, model: TrainedModel, path: Path) -> Dataset:
    if (dataset.kind, dataset.d) != (model.kind, model.d):
        raise DataError(
            f"holds {dataset.kind} of {dataset.d} features; the model takes {model.kind} of "
            f"{model.d}. Name data like those it was trained on",
            path,
        )
    return dataset


def _of_dataset(dataset: Dataset) -> tuple[list[ModelBlock], int]:
    sizes = {i: block.features.size for i, block in enumerate(dataset.blocks)}
    kept = _fitting(sizes)
    made = []
    for i in kept:
        block = dataset.blocks[i]
        points = Points(block.name, block.ids, block.labels, block.cluster_names, block.images)
        made.append(ModelBlock(points, block.features))
    return made, len(sizes) - len(kept)


def _of_pairs(found: Iterable[LabelledPairs]) -> tuple[list[ModelBlock], int]:
    blocks = list(found)
    kept = _fitting({i: one.block.features.size for i, one in enumerate(blocks)})
    made = [
        ModelBlock(_points(name, ids, blocks[i].labels), features)
        for i in kept
        for name, ids, features in [blocks[i].block]
    ]
    return made, len(blocks) - len(kept)


def _of_table(
    model: TrainedModel, table: RecordTable, columns: Columns
) -> tuple[list[ModelBlock], int]:
    noted: Mapping[str, Any] = model.record.get("records") or {}
    kinds = dict(noted.get("columns") or dict.fromkeys(model.feature_names, "number"))
    label = columns.label or _if_there(noted.get("label"), table)
    group = columns.block or noted.get("block")
    name = _if_there(noted.get("id") or "id", table)
    wanted = kinds | {key: "text" for key in (label, group, name) if key is not None}
    values = _read_whole(table, wanted)
    n = len(next(iter(values.values())))
    blocks = _rows_by_block(values[group] if group else [ONE_BLOCK] * n, group, table.path)
    comparisons = noted.get("comparisons")
    if comparisons is None:
        matrix = np.column_stack([values[key] for key in model.feature_names])
        sizes = {key: len(rows) * model.d for key, rows in blocks.items()}
    else:
        compare = RecordComparisons.from_json(comparisons)
        encoded = compare.encode({key: values[key] for key in kinds})
        sizes = {key: n_pairs(len(rows)) * model.d for key, rows in blocks.items()}
    kept = _fitting(sizes)
    made = []
    for key in kept:
        rows = blocks[key]
        features = matrix[rows] if comparisons is None else compare.features(encoded, rows)
        labels = [values[label][row] for row in rows] if label else [None] * len(rows)
        ids = [str(values[name][row]) if name else f"record {row + 1}" for row in rows]
        made.append(ModelBlock(_points(str(key), ids, labels), features))
    return made, len(sizes) - len(kept)


def _points(name: str, ids: Sequence[str], labels: Sequence[str | None]) -> Points:
    known = [label for label in labels if label is not None]
    codes, clusters = encode_labels(known)
    all_codes = np.full(len(labels), -1, dtype=np.int64)
    all_codes[[i for i, label in enumerate(labels) if label is not None]] = codes
    return Points(name, ids, all_codes, clusters)


def _fitting(sizes: Mapping[Any, int]) -> list[Any]:
    """Blocks within the limits, largest first."""
    kept, total = [], 0
    for key in sorted(sizes, key=lambda key: -sizes[key]):
        if sizes[key] <= MOST_NUMBERS and total + sizes[key] <= ALL_NUMBERS:
            kept.append(key)
            total += sizes[key]
    if not kept:
        raise DataError(
            f"every block is too large to draw: the smallest has {min(sizes.values()):,} numbers "
            f"in its features, {MOST_NUMBERS:,} are possible. Name a file with a few blocks, or "
            "with a sample of the records"
        )
    return kept


def _if_there(name: str | None, table: RecordTable) -> str | None:
    return name if name in table.names else None


def _rows_by_block(
    groups: Sequence[str | None], column: str | None, path: Path
) -> dict[str, IntArray]:
    rows: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        if group is None:
            raise DataError(
                f"every record needs a block; column {column!r} is empty in record {row + 1}. "
                "Fill it in, or remove the record",
                path,
            )
        rows.setdefault(group, []).append(row)
    return {name: np.array(found, dtype=np.int64) for name, found in rows.items()}


def _read_whole(table: RecordTable, wanted: Mapping[str, Any]) -> dict[str, Any]:
    parts: dict[str, list[Any]] = {name: [] for name in wanted}
    for batch in table.batches(wanted):
        for name, kind in wanted.items():
            column = batch.column(name)
            parts[name].append(numbers_of(column) if kind == "number" else column.to_pylist())
    if not any(len(part) for part in next(iter(parts.values()))):
        raise DataError("has a header but no records; add some", table.path)
    return {
        name: np.concatenate(found)
        if wanted[name] == "number"
        else [value for part in found for value in part]
        for name, found in parts.items()
    }
