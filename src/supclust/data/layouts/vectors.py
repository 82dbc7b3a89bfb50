"""Readers of points in a vector space: the authors' text, tables with a header, ``.npz``.

* Authors' layout: a line per point, ``id label feature...``, separated by white space or commas,
  no header.
* Table (CSV, TSV, Parquet) with a header: a label column, optional id and block columns; features
  are the columns named, or all others that hold numbers. Text among the numbers of a feature is an
  error; columns of text alone are left out with a note.
* ``.npz``: ``features`` (or ``X``), ``labels`` (or ``y``), optionally ``ids``, ``blocks`` (or
  ``groups``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from supclust.data.block import Block, Dataset, FloatArray, Source, encode_known, encode_labels
from supclust.data.errors import DataError, require_file
from supclust.data.files import load_npz
from supclust.data.tables.numeric_text import (
    content_lines,
    fields_of,
    read_text_table,
    separator_of,
)
from supclust.data.tables.reader import TEXT_SUFFIXES, suffix_of

VERSION = 2
NPZ_NAMES = {
    "features": ("features", "X", "x"),
    "labels": ("labels", "label", "y"),
    "ids": ("ids", "id"),
    "blocks": ("blocks", "block", "groups"),
}


def read_vectors(
    path: str | Path,
    *,
    name: str = "vectors",
    source: Source = "file",
    label: str = "label",
    block: str | None = None,
    id: str | None = None,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    labelled: Literal["all", "complete"] = "all",
) -> Dataset:
    """Read a set of labelled vectors from one file, in any of the layouts of this module.

    Args:
        path: ``.csv``, ``.tsv`` (either also ``.gz``), ``.txt``, ``.parquet`` or ``.npz``.
        name: Name of the data set.
        source: Where the data come from.
        label: Column of true clusters.
        block: Column of blocks; default: ``block`` where there is such a column, else one block.
        id: Column of point ids, distinct in a block; default: ``id`` where there is one, else row
            numbers.
        features: Feature columns; default: every other column that holds numbers.
        ignore: Columns of a table that are not to be read at all.
        labelled: ``all``: every row has a label. ``complete``: the labelled clusters of a table are
            complete, so rows without a label are in other clusters, which are not known.
    """
    path = require_file(path)
    if labelled == "complete" and (path.suffix == ".npz" or is_headerless(path, label)):
        raise DataError("dataset.labelled=complete needs a table with a column of labels", path)
    if path.suffix == ".npz":
        return _read_npz(path, name, source)
    if is_headerless(path, label):
        return _read_authors_text(path, name, source)
    from supclust.data.tables.columns import read_table

    table = read_table(path).without(features, ignore)
    block = block or ("block" if "block" in table.columns else None)
    id = id or ("id" if "id" in table.columns else None)
    special = [column for column in (label, block, id) if column is not None]
    table.require(*special, *(features or ()))
    if table.n == 0:
        raise DataError("has a header but no rows", path)
    chosen, notes = table.feature_names(special, features)
    blocks = table.texts(block) if block else None
    ids = table.texts(id) if id else None
    if ids is not None:
        keys = ids if blocks is None else [f"{b}\0{i}" for b, i in zip(blocks, ids, strict=True)]
        row = _first_repeat(keys)
        if row is not None:
            raise table.error(f"id {ids[row]!r} is repeated", row)
    return vector_dataset(
        table.numbers(chosen, ignorable=not features),
        table.texts_or_none(label) if labelled == "complete" else table.texts(label),
        name=name,
        source=source,
        ids=ids,
        blocks=blocks,
        feature_names=chosen,
        notes=notes,
    )


def is_headerless(path: Path, label: str = "label") -> bool:
    """Whether a text file starts with a point (``id label number...``) rather than column names."""
    if suffix_of(path) not in TEXT_SUFFIXES:
        return False
    first = next(content_lines(path), None)
    if first is None:
        raise DataError("is empty", path)
    fields = fields_of(first[1], separator_of(first[1]))
    if label in fields or len(fields) < 3:
        return False
    try:
        [float(field) for field in fields[2:]]
    except ValueError:
        return False
    return True


def vector_dataset(
    points: FloatArray,
    labels: Sequence[str | None],
    *,
    name: str,
    source: Source,
    ids: Sequence[str] | None = None,
    blocks: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    notes: tuple[str, ...] = (),
) -> Dataset:
    """Group points (n, d) into blocks; one block is split by cluster, several by block.

    A point whose label is ``None`` is a stranger: in none of the labelled clusters.
    """
    ids = [str(i) for i in range(len(points))] if ids is None else ids
    groups = [name] * len(points) if blocks is None else blocks
    codes, block_names = encode_labels(groups)
    grouped = []
    for code, block_name in enumerate(block_names):
        rows = np.flatnonzero(codes == code).tolist()
        local, clusters, strangers = encode_known([labels[row] for row in rows])
        grouped.append(
            Block(
                block_name,
                tuple(ids[row] for row in rows),
                local,
                "vectors",
                points[rows],
                clusters,
                strangers=strangers,
            )
        )
    return Dataset(
        name=name,
        kind="vectors",
        source=source,
        blocks=tuple(grouped),
        feature_names=tuple(feature_names or (f"x{i + 1}" for i in range(points.shape[1]))),
        notes=notes,
        unit="cluster" if len(grouped) == 1 else "block",
    )


def _read_authors_text(path: Path, name: str, source: Source) -> Dataset:
    table = read_text_table(path, n_keys=2)
    ids, labels = (keys.tolist() for keys in table.keys)
    row = _first_repeat(ids)
    if row is not None:
        raise DataError(f"id {ids[row]!r} is repeated", path, table.line(row))
    return vector_dataset(table.numbers, labels, name=name, source=source, ids=ids)


def _first_repeat(keys: Sequence[str]) -> int | None:
    seen: set[str] = set()
    for row, key in enumerate(keys):
        if key in seen:
            return row
        seen.add(key)
    return None


def _read_npz(path: Path, name: str, source: Source) -> Dataset:
    roles = {key: role for role, keys in NPZ_NAMES.items() for key in keys}
    arrays, present = load_npz(path, roles)
    by_role = {roles[key]: array for key, array in arrays.items()}
    for role in ("features", "labels"):
        if role not in by_role:
            raise DataError(
                f"needs an array {' or '.join(NPZ_NAMES[role])}, holds {', '.join(present)}", path
            )
    points = by_role.pop("features")
    if points.ndim != 2 or points.dtype.kind not in "fiub":
        raise DataError(
            f"features must be numbers of shape (n, d); received {points.dtype} {points.shape}",
            path,
        )
    for role, array in by_role.items():
        if array.shape != (len(points),):
            raise DataError(
                f"{role} must have one entry per row, shape ({len(points)},); received "
                f"{array.shape}",
                path,
            )
    if not np.isfinite(points).all():
        row = int(np.argmin(np.isfinite(points).all(axis=1)))
        raise DataError(f"features must be finite, row {row} is not", path)
    texts = {role: [str(value) for value in array] for role, array in by_role.items()}
    kept = points if points.dtype in (np.float32, np.float64) else points.astype(np.float64)
    return vector_dataset(
        kept,
        texts["labels"],
        name=name,
        source=source,
        ids=texts.get("ids"),
        blocks=texts.get("blocks"),
    )
