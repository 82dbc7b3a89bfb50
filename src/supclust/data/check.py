"""What a file or folder of data contains, or precisely what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from supclust.data import (
    aminer,
    faces,
    gum_coref,
    gum_mentions,
    pair_folders,
    shapes,
    vector_files,
)
from supclust.data.block import Block, Dataset
from supclust.data.errors import DataError
from supclust.data.frames import TABLE_SUFFIXES, read_frame, suffix_of


@dataclass(frozen=True)
class Report:
    """The outcome of a check that found nothing wrong.

    Attributes:
        path: What was checked.
        layout: The layout it was read as.
        dataset: What is in it.
    """

    path: Path
    layout: str
    dataset: Dataset

    def lines(self) -> list[str]:
        """The report as text."""
        data = self.dataset
        sizes = [block.n for block in data.blocks]
        text = [
            f"{self.path}: {self.layout}",
            f"  {data.kind}: {len(data.blocks)} block(s), {data.n} points, {data.n_clusters} "
            f"clusters, "
            f"{data.n_pairs} pairs, {data.d} features",
            f"  points a block: {min(sizes)} to {max(sizes)}, median {float(np.median(sizes)):g}",
        ]
        return text + [f"  note: {note}" for note in data.notes]


def check_path(path: str | Path) -> list[Report]:
    """Read whatever is at ``path``, strictly.

    Args:
        path: A file, a folder in one of the layouts, or a data folder holding several sets.

    Returns:
        One report per data set found.

    Raises:
        DataError: With file and line, for the first thing that is wrong, or if no layout fits.
    """
    path = Path(path)
    if path.is_file():
        return [_check_file(path)]
    if not path.is_dir():
        raise DataError("no such file or folder", path)
    if (path / pair_folders.LABELS_FILE).is_file():
        block = pair_folders.read_pair_block(path)
        return [_report(path, "one block folder", block)]
    found = _check_folder(path)
    if not found:
        for folder in sorted(entry for entry in path.iterdir() if entry.is_dir()):
            found += _check_folder(folder)
    if not found:
        raise DataError(
            f"no known layout: expected {faces.UMIST_FILE}, {aminer.INDEX_FILE} with blocks/, "
            f"block folders "
            f"with {pair_folders.LABELS_FILE}, <name>.data.gz with labels, the tables of GUM "
            f"coreference, or folders of these",
            path,
        )
    return found


def _check_folder(path: Path) -> list[Report]:
    if (path / faces.UMIST_FILE).is_file():
        return [Report(path, "UMIST faces", faces.read_umist(path))]
    if (path / aminer.INDEX_FILE).is_file() and (path / "blocks").is_dir():
        return [Report(path, "AMINER", aminer.read_aminer(path))]
    if gum_mentions.has_tables(path):
        return [Report(path, "GUM coreference", gum_coref.read_gum_coref(path))]
    if any((entry / pair_folders.LABELS_FILE).is_file() for entry in path.iterdir()):
        return [Report(path, "block folders", pair_folders.read_pair_folders(path))]
    names = sorted({entry.name.split(".data")[0] for entry in path.glob("*.data*")})
    return [_report(path, f"2-D shape {name}", shapes.read_shape(path, name)) for name in names]


def _check_file(path: Path) -> Report:
    if path.suffix == ".npz":
        if _holds(path, faces.UMIST_ARRAYS):
            return Report(path, "UMIST faces", faces.read_umist(path))
        return Report(path, "vectors (.npz)", vector_files.read_vectors(path))
    if suffix_of(path) not in TABLE_SUFFIXES:
        raise DataError(f"expected a file ending in .npz, {', '.join(TABLE_SUFFIXES)}", path)
    if suffix_of(path) != ".parquet" and vector_files.is_headerless(path):
        layout = "vectors, `id label feature...` without a header"
        return Report(path, layout, vector_files.read_vectors(path))
    if {"id_a", "id_b"} <= set(read_frame(path).columns):
        raise DataError(
            "is a table of pairs, which is checked together with its labels: load it with "
            "dataset=pairs dataset.path=... dataset.labels=...",
            path,
        )
    return Report(path, "vectors, a table with a header", vector_files.read_vectors(path))


def _holds(path: Path, arrays: tuple[str, ...]) -> bool:
    """Whether an ``.npz`` file has these arrays; a damaged file is left to its reader to report."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return set(arrays) <= set(archive)
    except (OSError, ValueError, EOFError, BadZipFile):
        return False


def _report(path: Path, layout: str, block: Block) -> Report:
    names = tuple(f"feature_{i + 1}" for i in range(block.d))
    return Report(
        path, layout, Dataset(path.name, block.kind, "file", (block,), names, unit="cluster")
    )
