"""Pair features of blocks to cluster, in the layouts that training reads, labels not needed.

* Block folders: ids are those of ``gtClusters.tsv`` where it is there, in its order, else those of
  the pairs in order of appearance; a last column beyond the model's features is the same-cluster
  flag and is passed over.
* One table: ``id_a``, ``id_b``, an optional ``block``, and the model's features by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from supclust.data.block import ONE_BLOCK, FloatArray, n_pairs
from supclust.data.errors import DataError
from supclust.data.layouts.pair_folders import LABELS_FILE, find_pair_file, pair_rows, read_clusters
from supclust.data.layouts.pair_tables import _positions, _row_ends
from supclust.data.sets.aminer import INDEX_FILE, chosen_folders
from supclust.data.tables.frames import number_columns, read_frame, require_columns, text_column
from supclust.data.tables.numeric_text import read_text_table


class PairBlock(NamedTuple):
    """A block to cluster: its name, the ids of its points, and condensed pair features."""

    name: str
    ids: tuple[str, ...]
    features: FloatArray


def pair_block_folders(root: Path) -> list[Path]:
    """Folders of blocks below a root: those that ``blocks.csv`` chooses, or all with pairs."""
    if (root / INDEX_FILE).is_file() and (root / "blocks").is_dir():
        return chosen_folders(root)
    folders = sorted(folder for folder in root.iterdir() if folder.is_dir())
    found = [folder for folder in folders if find_pair_file(folder) is not None]
    if not found:
        raise DataError("no block found: expected folders with pairFeatures.csv", root)
    return found


def read_pair_folder(folder: Path, d: int) -> PairBlock:
    """Read a block folder for a model of d features."""
    path = find_pair_file(folder)
    if path is None:
        raise DataError("no pair features, expected pairFeatures.csv", folder)
    table = read_text_table(path, n_keys=2)
    labels = folder / LABELS_FILE
    if labels.is_file():
        ids = read_clusters(labels)[0]
    else:
        ids = tuple(
            dict.fromkeys(str(key) for pair in zip(*table.keys, strict=True) for key in pair)
        )
    width = table.numbers.shape[1]
    if width not in (d, d + 1):
        raise DataError(
            f"the model has {d} features; received {width} columns of numbers. Use the features it "
            "was trained on",
            path,
        )
    _, _, position = pair_rows(table, ids, labels)
    features = np.empty((n_pairs(len(ids)), d), np.float32)
    features[position] = table.numbers[:, :d]
    return PairBlock(folder.name, ids, features)


def read_unlabelled_pair_table(path: Path, feature_names: Sequence[str]) -> Iterator[PairBlock]:
    """Read pair features in one table, block by block; the table is read whole."""
    frame = read_frame(path, ["block", "id_a", "id_b"])
    require_columns(frame, ["id_a", "id_b", *feature_names], path)
    by_block = "block" in frame.columns
    blocks = text_column(frame, "block", path) if by_block else [ONE_BLOCK] * len(frame)
    ends = [text_column(frame, name, path) for name in ("id_a", "id_b")]
    members: dict[str, dict[str, str]] = {}
    for block, *pair in zip(blocks, *ends, strict=True):
        members.setdefault(block, {}).update(dict.fromkeys(pair, ""))
    rows_of = _row_ends(frame, path, members, by_block)
    values = number_columns(frame, list(feature_names), path).astype(np.float32)
    for code, (block, people) in enumerate(members.items()):
        rows = np.flatnonzero(rows_of[:, 0] == code)
        features = np.empty((n_pairs(len(people)), len(feature_names)), np.float32)
        features[_positions(rows, rows_of, tuple(people), block, path)] = values[rows]
        yield PairBlock(block, tuple(people), features)
