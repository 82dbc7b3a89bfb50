"""Blocks of a file as a trained model reads them: features, ids, and clusters where known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supclust.data.block import ONE_BLOCK, Dataset, FloatArray, encode_labels, n_pairs
from supclust.data.errors import DataError, missing
from supclust.data.layouts.pair_folders import read_unlabelled_pair_folder
from supclust.data.layouts.pair_tables import read_unlabelled_pair_table
from supclust.data.records.columns import read_columns
from supclust.data.records.comparisons import RecordComparisons
from supclust.data.records.features import source_kind
from supclust.data.records.labelled import rows_by_block
from supclust.data.sets.aminer import INDEX_FILE, pair_block_folders, read_aminer
from supclust.data.sets.faces import UMIST_FILE, read_umist
from supclust.data.tables.reader import RecordTable, open_table
from supclust.report.trees import Points

if TYPE_CHECKING:
    from supclust.model.trained import TrainedModel

MOST_NUMBERS = 50_000_000
"""Numbers in the features of one block; a larger one is left out."""
ALL_NUMBERS = 200_000_000
"""Of all blocks together; the smallest blocks are left out first."""


@dataclass(frozen=True)
class ModelBlock:
    """A block to be clustered: its points for drawing, its features for the model."""

    points: Points
    features: FloatArray


@dataclass(frozen=True)
class Columns:
    """Which columns of a table mean what; ``None``: those of the training table.

    Attributes:
        label: column of known clusters.
        block: column of blocks.
        labels: table of known clusters (id, label), for a table of pairs.
    """

    label: str | None = None
    block: str | None = None
    labels: Path | None = None


class _Candidate(NamedTuple):
    """A block that is made only if it is small enough."""

    size: int
    make: Callable[[], ModelBlock]


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
        raise missing(path)
    read = _of_folder if path.is_dir() or path.name == UMIST_FILE else _of_file
    candidates = read(model, path, columns)
    kept: list[_Candidate] = []
    for one in sorted(candidates, key=lambda one: -one.size):
        if one.size <= MOST_NUMBERS and sum(k.size for k in kept) + one.size <= ALL_NUMBERS:
            kept.append(one)
    if not kept:
        raise DataError(
            f"every block is too large to draw: the smallest has "
            f"{min(one.size for one in candidates):,} numbers in its features, {MOST_NUMBERS:,} "
            "are possible. Name a file with fewer blocks, or with a sample of the records"
        )
    return [one.make() for one in kept], len(candidates) - len(kept)


def _of_folder(model: TrainedModel, path: Path, columns: Columns) -> list[_Candidate]:
    if path.name == UMIST_FILE or (path / UMIST_FILE).is_file():
        return _of_dataset(model, read_umist(path, model.d), path)
    if (path / INDEX_FILE).is_file():
        return _of_dataset(model, read_aminer(path), path)
    if not _takes_pairs(model):
        raise DataError(
            "holds features of pairs, but the model was trained on records; name a table of "
            "records",
            path,
        )
    blocks = [read_unlabelled_pair_folder(folder, model.d) for folder in pair_block_folders(path)]
    return [_candidate(*block) for block in blocks]


def _of_dataset(model: TrainedModel, dataset: Dataset, path: Path) -> list[_Candidate]:
    if (dataset.kind, dataset.d) != (model.kind, model.d):
        raise DataError(
            f"holds {dataset.kind} of {dataset.d} features; the model takes {model.kind} of "
            f"{model.d}. Name data like those it was trained on",
            path,
        )
    return [
        _Candidate(block.features.size, partial(ModelBlock, Points.of(block), block.features))
        for block in dataset.blocks
    ]


def _of_file(model: TrainedModel, path: Path, columns: Columns) -> list[_Candidate]:
    table = open_table(path)
    if not (_takes_pairs(model) and table.holds_pairs):
        if columns.labels is not None:
            raise DataError(
                "is a table of records, which has its clusters in a column; name that with "
                "--label, and leave --labels out",
                path,
            )
        return _of_records(model, table, columns)
    if columns.label or columns.block:
        raise DataError(
            "is a table of pairs, whose blocks are in column block and whose clusters are in "
            "another table; name that with --labels, and leave --label and --block out",
            path,
        )
    blocks = read_unlabelled_pair_table(path, model.feature_names, columns.labels)
    return [_candidate(*block) for block in blocks]


def _of_records(model: TrainedModel, table: RecordTable, columns: Columns) -> list[_Candidate]:
    trained: dict[str, Any] = model.record.get("records") or {}
    kinds = dict(trained.get("columns") or dict.fromkeys(model.feature_names, "number"))
    label = columns.label or _if_present(trained.get("label"), table)
    group = columns.block or trained.get("block")
    id = _if_present(trained.get("id") or "id", table)
    special = [name for name in (label, group, id) if name is not None]
    sources = {name: source_kind(kind) for name, kind in kinds.items()}
    values = read_columns(table, sources | dict.fromkeys(special, "text"))
    n = len(next(iter(values.values())))
    blocks = rows_by_block(values[group] if group else [ONE_BLOCK] * n, range(n), group, table.path)
    ids = values[id] if id else [f"record {row + 1}" for row in range(n)]
    labels = values[label] if label else [None] * n
    if trained.get("comparisons") is None:
        points = np.column_stack([values[name] for name in model.feature_names])
        width = {name: len(rows) for name, rows in blocks.items()}
    else:
        compare = RecordComparisons.from_json(trained["comparisons"])
        encoded = compare.encode({name: values[name] for name in kinds})
        width = {name: n_pairs(len(rows)) for name, rows in blocks.items()}

    def make(name: str) -> ModelBlock:
        rows = blocks[name]
        vectors = trained.get("comparisons") is None
        features = points[rows] if vectors else compare.block_features(encoded, rows)
        block = _points(name, [str(ids[row]) for row in rows], [labels[row] for row in rows])
        return ModelBlock(block, features)

    return [_Candidate(width[name] * model.d, partial(make, name)) for name in blocks]


def _candidate(
    name: str, ids: Sequence[str], features: FloatArray, labels: Sequence[str | None]
) -> _Candidate:
    return _Candidate(features.size, lambda: ModelBlock(_points(name, ids, labels), features))


def _points(name: str, ids: Sequence[str], labels: Sequence[str | None]) -> Points:
    codes = np.full(len(labels), -1, dtype=np.int64)
    known = [i for i, label in enumerate(labels) if label is not None]
    codes[known], clusters = encode_labels([str(labels[i]) for i in known])
    return Points(name, ids, codes, clusters)


def _takes_pairs(model: TrainedModel) -> bool:
    """Whether a model takes features of pairs, and does not make them of records."""
    trained = model.record.get("records") or {}
    return model.kind == "pairs" and trained.get("comparisons") is None


def _if_present(name: str | None, table: RecordTable) -> str | None:
    return name if name in table.names else None
