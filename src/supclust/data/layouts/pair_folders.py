"""Reader of block folders: ``<block>/gtClusters.tsv`` with ``<block>/pairFeatures.csv|tsv[.gz]``.

The layout of the paper's authors, and of Rexa and AMINER:

* ``gtClusters.tsv``: a line per point, ``id cluster``, separated by white space or a comma, no
  header.
* ``pairFeatures``: a line per unordered pair of points, in any order, ``id id feature... flag``,
  no header; the flag is 1 when the two are in the same cluster, else 0. It is checked against the
  clusters and is never a feature. Files without that column are read with ``flag=False``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from supclust.data.block import Block, Dataset, IntArray, Source, encode_labels, n_pairs
from supclust.data.errors import DataError
from supclust.data.layouts.pairs import PairBlock, PairRows, pair_positions
from supclust.data.tables.numeric_text import (
    TextTable,
    content_lines,
    fields_of,
    read_text_table,
    separator_of,
)

VERSION = 1
LABELS_FILE = "gtClusters.tsv"
PAIR_FILES = tuple(f"pairFeatures.{kind}{gz}" for kind in ("csv", "tsv") for gz in ("", ".gz"))


def find_pair_file(folder: Path) -> Path | None:
    """The pair features of a block folder, or ``None``; two of them are an error."""
    files = [folder / name for name in PAIR_FILES if (folder / name).is_file()]
    if len(files) > 1:
        names = ", ".join(path.name for path in files)
        raise DataError(f"holds {names}: keep one of them", folder)
    return files[0] if files else None


def block_folders(root: Path) -> list[Path]:
    """Folders below ``root`` that hold a ``gtClusters.tsv``, by name."""
    if not root.is_dir():
        raise DataError("is not a folder", root)
    folders = sorted(folder for folder in root.iterdir() if (folder / LABELS_FILE).is_file())
    if not folders:
        raise DataError(
            f"no block found: expected folders with {LABELS_FILE} and pairFeatures.csv", root
        )
    return folders


def input_files(folders: Sequence[Path]) -> list[Path]:
    """Every file that reading these block folders depends on."""
    files = [folder / LABELS_FILE for folder in folders]
    return files + [path for folder in folders if (path := find_pair_file(folder)) is not None]


def read_clusters(path: Path) -> tuple[tuple[str, ...], list[str]]:
    """Ids and cluster names of a ``gtClusters.tsv``, in the order of the file."""
    line_of: dict[str, int] = {}
    clusters: list[str] = []
    for number, line in content_lines(path):
        fields = fields_of(line, separator_of(line))
        if len(fields) != 2:
            raise DataError(f"expected `id cluster`; received {len(fields)} field(s)", path, number)
        if fields[0] in line_of:
            raise DataError(
                f"id {fields[0]!r} is repeated, it is already on line {line_of[fields[0]]}",
                path,
                number,
            )
        line_of[fields[0]] = number
        clusters.append(fields[1])
    if not clusters:
        raise DataError("is empty, expected a line `id cluster` per point", path)
    return tuple(line_of), clusters


def read_pair_block(folder: Path, flag: bool = True) -> Block:
    """Read one block folder.

    Args:
        folder: Holds ``gtClusters.tsv`` and one ``pairFeatures`` file.
        flag: Whether the last column is the same-cluster flag.
    """
    ids, clusters = read_clusters(folder / LABELS_FILE)
    labels, names = encode_labels(clusters)
    table = read_text_table(_require_pair_file(folder), n_keys=2, minimum_numbers=2 if flag else 1)
    first, second, position = _positions(table, ids, folder)
    numbers = table.numbers
    if flag:
        _check_flag(table, labels, first, second)
        numbers = numbers[:, :-1]
    features = np.empty((n_pairs(len(ids)), numbers.shape[1]), dtype=np.float32)
    features[position] = numbers
    return Block(folder.name, ids, labels, "pairs", features, names)


def read_unlabelled_pair_folder(folder: Path, d: int) -> PairBlock:
    """Read a block folder to cluster with a model of d features.

    Ids are those of ``gtClusters.tsv`` where it is there, in its order, else those of the pairs in
    order of appearance. A last column beyond the d features is the flag and is ignored.
    """
    path = _require_pair_file(folder)
    table = read_text_table(path, n_keys=2)
    clusters: dict[str, str | None]
    if (folder / LABELS_FILE).is_file():
        clusters = dict(zip(*read_clusters(folder / LABELS_FILE), strict=True))
    else:
        clusters = {str(id): None for pair in zip(*table.keys, strict=True) for id in pair}
    width = table.numbers.shape[1]
    if width not in (d, d + 1):
        raise DataError(
            f"the model has {d} features; received {width} columns of numbers. Use the features it "
            "was trained on",
            path,
        )
    _, _, position = _positions(table, tuple(clusters), folder)
    features = np.empty((n_pairs(len(clusters)), d), np.float32)
    features[position] = table.numbers[:, :d]
    return PairBlock(folder.name, tuple(clusters), features, tuple(clusters.values()))


def _require_pair_file(folder: Path) -> Path:
    path = find_pair_file(folder)
    if path is None:
        raise DataError(f"no pair features, expected one of {', '.join(PAIR_FILES)}", folder)
    return path


def _positions(
    table: TextTable, ids: Sequence[str], folder: Path
) -> tuple[IntArray, IntArray, IntArray]:
    rows = PairRows(table.keys[0], table.keys[1], table.path, table.line)
    return pair_positions(rows, ids, f"has no cluster in {folder / LABELS_FILE}")


def _check_flag(table: TextTable, labels: IntArray, first: IntArray, second: IntArray) -> None:
    flag = table.numbers[:, -1]
    neither = np.flatnonzero((flag != 0) & (flag != 1))
    if len(neither):
        row = int(neither[0])
        raise DataError(
            f"the last field must be the same-cluster flag 0 or 1; received {flag[row]:g}; if "
            "the file has no such column read it with flag=false",
            table.path,
            table.line(row),
        )
    wrong = np.flatnonzero((labels[first] == labels[second]) != (flag == 1))
    if len(wrong):
        row = int(wrong[0])
        a, b = (keys[row] for keys in table.keys)
        relation = "the same cluster" if flag[row] == 0 else "different clusters"
        raise DataError(
            f"the last field says {flag[row]:g} but {LABELS_FILE} puts {a!r} and {b!r} in "
            f"{relation}",
            table.path,
            table.line(row),
        )


def read_pair_folders(
    root: str | Path,
    name: str = "pairs",
    source: Source = "file",
    *,
    folders: Sequence[Path] | None = None,
    sizes: dict[int, tuple[int, int, int]] | None = None,
    flag: bool = True,
) -> Dataset:
    """Read every block folder below ``root``.

    A folder with clusters but without pair features is left out, with a note in the data set.

    Args:
        root: Folder of block folders.
        name: Name of the data set.
        source: Where the data come from.
        folders: The block folders to read; default: all.
        sizes: Split sizes by number of blocks read; other numbers split by fractions.
        flag: Whether the last column of the pair features is the same-cluster flag.
    """
    root = Path(root)
    candidates = list(folders) if folders is not None else block_folders(root)
    usable = [folder for folder in candidates if find_pair_file(folder) is not None]
    if not usable:
        raise DataError(f"no block has pair features ({', '.join(PAIR_FILES)})", root)
    left_out = [folder.name for folder in candidates if folder not in usable]
    blocks = tuple(read_pair_block(folder, flag) for folder in usable)
    for block, folder in zip(blocks, usable, strict=True):
        if block.d != blocks[0].d:
            raise DataError(
                f"has {block.d} features where block {blocks[0].name} has {blocks[0].d}; every "
                "block needs the same features",
                find_pair_file(folder),
            )
    notes = [f"block {missing} left out: it has no pair features" for missing in left_out]
    if sizes and len(blocks) not in sizes:
        expected = " or ".join(str(count) for count in sizes)
        notes.append(f"{len(blocks)} blocks where {expected} were expected; split by fractions")
    return Dataset(
        name=name,
        kind="pairs",
        source=source,
        blocks=blocks,
        feature_names=tuple(f"feature_{i + 1}" for i in range(blocks[0].d)),
        notes=tuple(notes),
        unit="cluster" if len(blocks) == 1 else "block",
        sizes=(sizes or {}).get(len(blocks)),
    )
