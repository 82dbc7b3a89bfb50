"""Blocks of pair features as ``supclust cluster`` reads them, with clusters where these are known.

* A table of pairs (``id_a``, ``id_b``, perhaps ``block``), with the clusters of some or all points
  in another one.
* Folders of blocks, some or all without ``gtClusters.tsv``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from supclust.data.errors import DataError
from supclust.data.layouts.pair_folders import LABELS_FILE, read_clusters
from supclust.data.layouts.unlabelled_pairs import (
    PairBlock,
    pair_block_folders,
    read_pair_folder,
    read_unlabelled_pair_table,
)
from supclust.data.tables.frames import read_frame, require_columns, text_column

if TYPE_CHECKING:
    from supclust.model.trained import TrainedModel


class LabelledPairs(NamedTuple):
    """A block of pair features, and the cluster of every point; ``None`` where it is not known."""

    block: PairBlock
    labels: list[str | None]


def read_pair_table_blocks(
    model: TrainedModel, path: Path, labels: Path | None
) -> Iterator[LabelledPairs]:
    """Read a table of pairs.

    Args:
        model: of pair features.
        path: the table.
        labels: table with id, label (and block, where the pairs have one) of known points.
    """
    known = {} if labels is None else _known_labels(labels)
    by_block = any(block is not None for block, _ in known)
    found = False
    for block in read_unlabelled_pair_table(path, model.feature_names):
        name = block.name if by_block else None
        given = [known.get((name, id)) for id in block.ids]
        found |= any(label is not None for label in given)
        yield LabelledPairs(block, given)
    if labels is not None and not found:
        raise DataError(f"names none of the points of {path}; use the ids of its pairs", labels)


def read_pair_folder_blocks(model: TrainedModel, path: Path) -> Iterator[LabelledPairs]:
    """Read folders of blocks."""
    _require_pairs(model, path)
    for folder in pair_block_folders(path):
        block = read_pair_folder(folder, model.d)
        there = folder / LABELS_FILE
        known = dict(zip(*read_clusters(there), strict=True)) if there.is_file() else {}
        yield LabelledPairs(block, [known.get(id) for id in block.ids])


def takes_pairs(model: TrainedModel) -> bool:
    """Whether a model takes features of pairs as they are, and does not make them of records."""
    noted = model.record.get("records") or {}
    return model.kind == "pairs" and noted.get("comparisons") is None


def _require_pairs(model: TrainedModel, path: Path) -> None:
    if not takes_pairs(model):
        raise DataError(
            "holds features of pairs, but the model was trained on records; name a table of "
            "records",
            path,
        )


def _known_labels(path: Path) -> dict[tuple[str | None, str], str]:
    """Label by block (``None`` where the table has no blocks) and id."""
    frame = read_frame(path, ["block", "id", "label"])
    require_columns(frame, ["id", "label"], path)
    frame = frame[frame["label"].notna()].reset_index(drop=True)  # empty: not known
    ids, labels = (text_column(frame, name, path) for name in ("id", "label"))
    by_block = "block" in frame.columns
    blocks = text_column(frame, "block", path) if by_block else [None] * len(ids)
    known: dict[tuple[str | None, str], str] = {}
    for block, id, label in zip(blocks, ids, labels, strict=True):
        if known.setdefault((block, id), label) != label:
            raise DataError(f"gives point {id!r} two labels; keep one of the rows", path)
    return known
