"""Check of a file or folder of data: what it contains, or what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supclust.data.block import Block, Dataset
from supclust.data.errors import DataError, require_file
from supclust.data.files import load_npz
from supclust.data.layouts import pair_folders
from supclust.data.layouts import vectors as vector_files
from supclust.data.layouts.pair_tables import read_pair_table
from supclust.data.sets import aminer, faces, shapes
from supclust.data.sets.gum import dataset as gum_coref
from supclust.data.sets.gum import mentions as gum_mentions
from supclust.data.tables.columns import Table, read_table
from supclust.data.tables.reader import TEXT_SUFFIXES, open_table, require_suffix

if TYPE_CHECKING:
    from supclust.data.records.report import RecordsReport


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


def check_path(
    path: str | Path, *, labels: str | Path | None = None, flag: bool = True, **columns: Any
) -> list[Report | RecordsReport]:
    """Read whatever is at ``path``, strictly.

    Args:
        path: A file, a folder in one of the layouts, or a data folder holding several sets.
        labels: The clusters of the points, for a table of pairs.
        flag: Whether the last column of pairs in block folders says that they are in one cluster.
        **columns: Which columns of a table mean what: attributes of
            `supclust.data.records.labelled.ColumnChoice`.

    Returns:
        One report per data set found.

    Raises:
        DataError: With file and line, for the first thing that is wrong, or if no layout fits.
    """
    path = Path(path)
    if path.is_file():
        report = _check_file(path, labels, columns)
        if isinstance(report, Report):
            _require_match(report)
        return [report]
    if not path.is_dir():
        require_file(path)
    named = [*columns, *(["labels"] if labels else [])]
    if named:
        raise DataError(f"--{named[0]} goes with a table, this is a folder; leave it out", path)
    if (path / pair_folders.LABELS_FILE).is_file():
        block = pair_folders.read_pair_block(path, flag=flag)
        return [_report(path, "one block folder", block)]
    reports: list[Report | RecordsReport] = [*_check_folder(path, flag)]
    if not reports:
        for folder in sorted(entry for entry in path.iterdir() if entry.is_dir()):
            reports += _check_folder(folder, flag)
    if not reports:
        raise DataError(
            f"no known layout: expected {faces.UMIST_FILE}, {aminer.INDEX_FILE} with blocks/, "
            f"block folders "
            f"with {pair_folders.LABELS_FILE}, <name>.data.gz with labels, the tables of GUM "
            f"coreference, or folders of these",
            path,
        )
    return reports


def _require_match(report: Report) -> None:
    """Refuse points that no model can be trained on: each is a cluster of its own."""
    if any(block.n_clusters < block.n for block in report.dataset.blocks):
        return
    raise DataError(
        f"training needs two points with one label in one block; received {report.dataset.n:,} "
        "points, each alone with its label. Give points of one cluster one label; --label names "
        "the column of a table",
        report.path,
    )


def _check_folder(path: Path, flag: bool) -> list[Report]:
    if (path / faces.UMIST_FILE).is_file():
        return [Report(path, "UMIST faces", faces.read_umist(path))]
    if (path / aminer.INDEX_FILE).is_file() and (path / "blocks").is_dir():
        return [Report(path, "AMINER", aminer.read_aminer(path))]
    if gum_mentions.has_tables(path):
        return [Report(path, "GUM coreference", gum_coref.read_gum_coref(path))]
    if any((entry / pair_folders.LABELS_FILE).is_file() for entry in path.iterdir()):
        return [Report(path, "block folders", pair_folders.read_pair_folders(path, flag=flag))]
    names = sorted({entry.name.split(".data")[0] for entry in path.glob("*.data*")})
    return [_report(path, f"2-D shape {name}", shapes.read_shape(path, name)) for name in names]


def _check_file(
    path: Path, labels: str | Path | None, columns: dict[str, Any]
) -> Report | RecordsReport:
    if path.suffix == ".npz":
        if columns:
            return _check_records(path, columns)
        if set(faces.UMIST_ARRAYS) <= set(load_npz(path, ())[1]):
            return Report(path, "UMIST faces", faces.read_umist(path))
        return Report(path, "vectors (.npz)", vector_files.read_vectors(path))
    suffix, label = require_suffix(path), columns.get("label", "label")
    if suffix in TEXT_SUFFIXES and vector_files.is_headerless(path, label):
        if columns:
            raise DataError(f"has no header that --{next(iter(columns))} could mean; add one", path)
        layout = "vectors, `id label feature...` without a header"
        return Report(path, layout, vector_files.read_vectors(path))
    table = read_table(path)
    if table.source.holds_pairs:
        if labels is None:
            raise DataError(
                "is a table of pairs, which is checked together with its labels: name their table "
                "with --labels",
                path,
            )
        if columns:
            raise DataError(f"is a table of pairs; --{next(iter(columns))} is for records", path)
        return Report(path, "a table of pairs", read_pair_table(path, labels))
    if labels is not None:
        raise DataError("--labels goes with a table of pairs (id_a, id_b); leave it out", path)
    if "label" in columns and label not in table.columns:
        table.require(label)
    if label not in table.columns or (columns and _is_for_comparing(table, label, columns)):
        return _check_records(path, columns)
    dataset = vector_files.read_vectors(
        path,
        label=label,
        block=columns.get("block"),
        id=columns.get("id"),
        features=columns.get("columns"),
        ignore=columns.get("ignore"),
    )
    return Report(path, "vectors, a table with a header", dataset)


def _is_for_comparing(table: Table, label: str, columns: dict[str, Any]) -> bool:
    """Whether ``supclust fit`` would compare columns, or do without some labels."""
    special = {
        label,
        columns.get("block", "block"),
        columns.get("id", "id"),
        *columns.get("ignore", ()),
    }
    used = columns.get("columns") or [name for name in table.columns if name not in special]
    texts = [name for name in used if name in table.columns and not table.holds_numbers(name)]
    asked = columns.get("text") or columns.get("kinds") or columns.get("where")
    return bool(texts or asked or table.has_missing(label))


def _check_records(path: Path, columns: dict[str, Any]) -> RecordsReport:
    """Read a table as ``supclust fit`` does."""
    from supclust.data.records.report import check_records
    from supclust.data.records.table import ColumnChoice

    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in columns.items()
    }
    names = open_table(path).names
    given = {**{name: name for name in ("label", "block") if name in names}, **given}
    return check_records(path, ColumnChoice(**given))


def _report(path: Path, layout: str, block: Block) -> Report:
    names = tuple(f"feature_{i + 1}" for i in range(block.d))
    return Report(
        path, layout, Dataset(path.name, block.kind, "file", (block,), names, unit="cluster")
    )
