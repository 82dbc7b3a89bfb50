"""Reader of pair features in one table, with the clusters in another.

* Pairs: ``id_a``, ``id_b``, an optional ``block``, and features, one row per unordered pair of a
  block. Text among the numbers of a feature is an error; columns of text alone are left out with a
  note.
* Labels: ``id``, ``label``, and ``block`` where the pairs have one, one row per point.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from supclust.data.block import (
    ONE_BLOCK,
    Block,
    Dataset,
    IntArray,
    condensed_index,
    encode_labels,
    n_pairs,
)
from supclust.data.errors import DataError
from supclust.data.tables.frames import (
    feature_columns,
    number_columns,
    read_frame,
    require_columns,
    row_line,
    text_column,
    without_columns,
)

if TYPE_CHECKING:
    import pandas as pd

VERSION = 2


def read_pair_table(
    path: str | Path,
    labels: str | Path,
    *,
    name: str = "pairs",
    features: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
) -> Dataset:
    """Read pair features and labels from two tables (CSV, TSV or Parquet, with headers).

    Args:
        path: The pairs.
        labels: The points and their clusters.
        name: Name of the data set.
        features: Feature columns; default: every other column of the pairs that holds numbers.
        ignore: Columns of the pairs that are not to be read at all.
    """
    path, labels = Path(path), Path(labels)
    frame = read_frame(path, ["block", "id_a", "id_b"])
    frame = without_columns(frame, features, ignore, path)
    points = read_frame(labels, ["block", "id", "label"])
    require_columns(frame, ["id_a", "id_b", *(features or ())], path)
    by_block = "block" in frame.columns
    require_columns(points, ["id", "label", *(["block"] if by_block else [])], labels)
    chosen, notes = feature_columns(frame, ["block", "id_a", "id_b"], features, path)
    members = _members(points, labels, by_block)
    ends = _row_ends(frame, path, members, by_block)
    values = number_columns(frame, chosen, path, ignorable=not features).astype(np.float32)
    blocks = []
    for code, (block, people) in enumerate(members.items()):
        rows = np.flatnonzero(ends[:, 0] == code)
        position = _positions(rows, ends, tuple(people), block, path)
        codes, clusters = encode_labels(list(people.values()))
        ordered = np.empty((n_pairs(len(people)), len(chosen)), dtype=np.float32)
        ordered[position] = values[rows]
        blocks.append(Block(block, tuple(people), codes, "pairs", ordered, clusters))
    return Dataset(
        name=name,
        kind="pairs",
        source="file",
        blocks=tuple(blocks),
        feature_names=tuple(chosen),
        notes=notes,
        unit="cluster" if len(blocks) == 1 else "block",
    )


def _members(points: pd.DataFrame, path: Path, by_block: bool) -> dict[str, dict[str, str]]:
    """Cluster of every point of every block, in the order of the file."""
    ids, clusters = text_column(points, "id", path), text_column(points, "label", path)
    blocks = text_column(points, "block", path) if by_block else [ONE_BLOCK] * len(points)
    members: dict[str, dict[str, str]] = {}
    for row, (block, point, cluster) in enumerate(zip(blocks, ids, clusters, strict=True)):
        people = members.setdefault(block, {})
        if point in people:
            raise DataError(
                f"id {point!r} is repeated in block {block!r}", path, row_line(path, row)
            )
        people[point] = cluster
    if not members:
        raise DataError("has a header but no rows", path)
    return members


def _row_ends(
    frame: pd.DataFrame, path: Path, members: dict[str, dict[str, str]], by_block: bool
) -> IntArray:
    """Block code, smaller point and larger point of every row of the pairs, (rows, 3)."""
    import pandas as pd

    names = [(block, point) for block, people in members.items() for point in people]
    index = pd.MultiIndex.from_tuples(names)
    sizes = [len(people) for people in members.values()]
    block_of = np.repeat(np.arange(len(sizes)), sizes)
    place_in_block = np.arange(len(names)) - np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
    blocks = text_column(frame, "block", path) if by_block else [ONE_BLOCK] * len(frame)
    columns = [text_column(frame, end, path) for end in ("id_a", "id_b")]
    found = [
        np.asarray(index.get_indexer(pd.MultiIndex.from_arrays([blocks, ids]))) for ids in columns
    ]
    for ids, rows in zip(columns, found, strict=True):
        if (rows < 0).any():
            row = int((rows < 0).argmax())
            raise DataError(
                f"id {ids[row]!r} of block {blocks[row]!r} has no label", path, row_line(path, row)
            )
    loops = np.flatnonzero(found[0] == found[1])
    if len(loops):
        row = int(loops[0])
        raise DataError(
            f"a pair needs two different points, got {columns[0][row]!r} twice",
            path,
            row_line(path, row),
        )
    ends = np.sort(np.stack([place_in_block[rows] for rows in found], axis=1), axis=1)
    return np.column_stack([block_of[found[0]], ends]).astype(np.int64)


def _positions(
    rows: IntArray, ends: IntArray, ids: tuple[str, ...], block: str, path: Path
) -> IntArray:
    """Condensed position of each of a block's rows; every pair exactly once."""
    n = len(ids)
    position = condensed_index(ends[rows, 1], ends[rows, 2], n)
    _, first, inverse = np.unique(position, return_index=True, return_inverse=True)
    repeated = np.flatnonzero(first[inverse] != np.arange(len(rows)))
    if len(repeated):
        row = int(rows[repeated[0]])
        a, b = ids[ends[row, 1]], ids[ends[row, 2]]
        raise DataError(
            f"the pair {a!r}, {b!r} of block {block!r} is repeated", path, row_line(path, row)
        )
    if len(position) < n_pairs(n):
        missing = int(np.flatnonzero(np.bincount(position, minlength=n_pairs(n)) == 0)[0])
        i, j = (int(axis[missing]) for axis in np.triu_indices(n, 1))
        raise DataError(
            f"block {block!r}: {n_pairs(n) - len(position)} of {n_pairs(n)} pairs are missing, "
            f"the first "
            f"is {ids[i]!r}, {ids[j]!r}",
            path,
        )
    return position
