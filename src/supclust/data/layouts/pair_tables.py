"""Reader of pair features in one table, with the clusters in another.

* Pairs: ``id_a``, ``id_b``, an optional ``block``, and features, one row per unordered pair of a
  block. Text among the numbers of a feature is an error; columns of text alone are left out with a
  note.
* Labels: ``id``, ``label``, and ``block`` where the pairs have one, one row per point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from supclust.data.block import (
    ONE_BLOCK,
    Block,
    Dataset,
    FloatArray,
    IntArray,
    encode_known,
    encode_labels,
    n_pairs,
)
from supclust.data.errors import DataError
from supclust.data.layouts.pairs import PairBlock, PairRows, pair_positions
from supclust.data.tables.columns import Table, read_table

VERSION = 2
SPECIAL = ("block", "id_a", "id_b")


def read_pair_table(
    path: str | Path,
    labels: str | Path,
    *,
    name: str = "pairs",
    features: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    labelled: Literal["all", "complete"] = "all",
) -> Dataset:
    """Read pair features and labels from two tables (CSV, TSV or Parquet, with headers).

    Args:
        path: The pairs.
        labels: The points and their clusters.
        name: Name of the data set.
        features: Feature columns; default: every other column of the pairs that holds numbers.
        ignore: Columns of the pairs that are not to be read at all.
        labelled: ``all``: every point has a label. ``complete``: the labelled clusters are
            complete, so points without a label are in other clusters, which are not known.
    """
    pairs, points = read_table(path).without(features, ignore), read_table(labels)
    pairs.require("id_a", "id_b", *(features or ()))
    by_block = "block" in pairs.columns
    points.require("id", "label", *(["block"] if by_block else []))
    chosen, notes = pairs.feature_names(SPECIAL, features)
    clusters = _clusters(points, by_block, labelled == "complete")
    values = pairs.numbers(chosen, ignorable=not features).astype(np.float32)
    unknown = f"has no label in {points.path}"
    blocks = []
    for block, ordered in _features_by_block(pairs, clusters, values, unknown):
        ids, known = tuple(clusters[block]), list(clusters[block].values())
        codes, names, strangers = encode_known(known)
        blocks.append(Block(block, ids, codes, "pairs", ordered, names, strangers=strangers))
    return Dataset(
        name=name,
        kind="pairs",
        source="file",
        blocks=tuple(blocks),
        feature_names=tuple(chosen),
        notes=notes,
        unit="cluster" if len(blocks) == 1 else "block",
    )


def read_unlabelled_pair_table(
    path: Path, feature_names: Sequence[str], labels: Path | None = None
) -> Iterator[PairBlock]:
    """Read pair features in one table to cluster; the table is read whole.

    Args:
        path: The pairs.
        feature_names: Columns that the model was trained on.
        labels: Table with id, label (and block, where the pairs have one) of known points.
    """
    known = {} if labels is None else _known_labels(labels)
    pairs = read_table(path)
    pairs.require("id_a", "id_b", *feature_names)
    members: dict[str, dict[str, None]] = {}
    for block, *ends in zip(_blocks(pairs), pairs.texts("id_a"), pairs.texts("id_b"), strict=True):
        members.setdefault(block, {}).update(dict.fromkeys(ends))
    ids = {(block, id) for block, points in members.items() for id in points}
    if labels is not None and not any((b, i) in known or (None, i) in known for b, i in ids):
        raise DataError(f"names none of the points of {path}; use the ids of its pairs", labels)
    values = pairs.numbers(list(feature_names)).astype(np.float32)
    for block, ordered in _features_by_block(pairs, members, values, "is not in the block"):
        given = (known.get((block, id), known.get((None, id))) for id in members[block])
        yield PairBlock(block, tuple(members[block]), ordered, tuple(given))


def _features_by_block(
    pairs: Table, members: Mapping[str, Mapping[str, object]], values: FloatArray, unknown: str
) -> Iterator[tuple[str, FloatArray]]:
    """Name and features (in condensed order) of every block of ``members``."""
    blocks = _blocks(pairs)
    ends = [np.array(pairs.texts(name), object) for name in ("id_a", "id_b")]
    for row, block in enumerate(blocks):
        if block not in members:
            raise pairs.error(f"id {ends[0][row]!r} of block {block!r} {unknown}", row)
    codes, names = encode_labels([*members, *blocks])
    for code, block in enumerate(names):
        rows = np.flatnonzero(codes[len(members) :] == code)
        read = PairRows(
            ends[0][rows],
            ends[1][rows],
            pairs.path,
            partial(_line, pairs, rows),
            block if "block" in pairs.columns else "",
        )
        _, _, position = pair_positions(read, tuple(members[block]), unknown)
        ordered = np.empty((n_pairs(len(members[block])), values.shape[1]), np.float32)
        ordered[position] = values[rows]
        yield block, ordered


def _line(pairs: Table, rows: IntArray, row: int) -> int | None:
    return pairs.source.line(int(rows[row]))


def _blocks(table: Table) -> list[str]:
    return table.texts("block") if "block" in table.columns else [ONE_BLOCK] * table.n


def _clusters(points: Table, by_block: bool, complete: bool) -> dict[str, dict[str, str | None]]:
    """Cluster of every point of every block, in the order of the file; ``None``: a stranger."""
    blocks = _blocks(points) if by_block else [ONE_BLOCK] * points.n
    clusters: dict[str, dict[str, str | None]] = {}
    labels = points.texts_or_none("label") if complete else points.texts("label")
    rows = zip(blocks, points.texts("id"), labels, strict=True)
    for row, (block, id, cluster) in enumerate(rows):
        if id in clusters.setdefault(block, {}):
            raise points.error(f"id {id!r} is repeated in block {block!r}", row)
        clusters[block][id] = cluster
    if not clusters:
        raise DataError("has a header but no rows", points.path)
    return clusters


def _known_labels(path: Path) -> dict[tuple[str | None, str], str]:
    """Label by block (``None`` where the table has no blocks) and id; empty labels are left out."""
    points = read_table(path)
    points.require("id", "label")
    points = points.where_present("label")
    blocks = points.texts("block") if "block" in points.columns else [None] * points.n
    known: dict[tuple[str | None, str], str] = {}
    for block, id, label in zip(blocks, points.texts("id"), points.texts("label"), strict=True):
        if known.setdefault((block, id), label) != label:
            raise DataError(f"gives point {id!r} two labels; keep one of the rows", path)
    return known
