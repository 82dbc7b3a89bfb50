"""Reader of the AMINER set: ``blocks.csv`` names the block folders and the 100 of the paper."""

from __future__ import annotations

import csv
from pathlib import Path

from supclust.data.block import Dataset, n_pairs
from supclust.data.errors import DataError
from supclust.data.layouts.pair_folders import LABELS_FILE, find_pair_file, read_pair_folders

VERSION = 1
INDEX_FILE = "blocks.csv"
SIZES = {100: (60, 10, 30), 109: (66, 10, 33)}
COLUMNS = ("folder", "records", "in_100")


def chosen_rows(root: Path, names: int = 100) -> list[dict[str, str]]:
    """Rows of ``blocks.csv``: those with ``in_100`` = 1, or all 109 as the authors' reader."""
    path = root / INDEX_FILE
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise DataError(f"column {missing[0]!r} not found", path, 1)
        rows = []
        for row in reader:
            if any(row[name] is None for name in COLUMNS) or not row["records"].isdigit():
                raise DataError(
                    "expected a number of records and every field", path, reader.line_num
                )
            if names == 109 or row["in_100"] == "1":
                rows.append(row)
    if not rows:
        raise DataError("no row has in_100 = 1", path)
    return rows


def chosen_folders(root: Path, names: int = 100) -> list[Path]:
    """Folders of the chosen blocks, by name."""
    folders = sorted(root / "blocks" / row["folder"] for row in chosen_rows(root, names))
    for folder in folders:
        if not (folder / LABELS_FILE).is_file():
            raise DataError(f"{LABELS_FILE} not found, {INDEX_FILE} names this block", folder)
    return folders


def pair_block_folders(root: Path) -> list[Path]:
    """Folders of blocks below a root: those that ``blocks.csv`` chooses, or all with pairs."""
    if (root / INDEX_FILE).is_file() and (root / "blocks").is_dir():
        return chosen_folders(root)
    folders = sorted(folder for folder in root.iterdir() if folder.is_dir())
    with_pairs = [folder for folder in folders if find_pair_file(folder) is not None]
    if not with_pairs:
        raise DataError("no block found: expected folders with pairFeatures.csv", root)
    return with_pairs


def read_aminer(root: str | Path, names: int = 100) -> Dataset:
    """Read the chosen blocks and check their counts against ``blocks.csv``."""
    root = Path(root)
    dataset = read_pair_folders(
        root / "blocks", "aminer", "real", folders=chosen_folders(root, names), sizes=SIZES
    )
    expected = {row["folder"]: int(row["records"]) for row in chosen_rows(root, names)}
    for block in dataset.blocks:
        if block.n != expected[block.name]:
            raise DataError(
                f"block {block.name}: {block.n} records ({n_pairs(block.n)} pairs), {INDEX_FILE} "
                f"says {expected[block.name]}",
                root / "blocks" / block.name / LABELS_FILE,
            )
    return dataset
