"""The paper's tables: the numbers that it printed, and our results in the same layout."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from supclust.hac.family import METHODS, TOP_DOWN
from supclust.model.aggregate import METRICS, Cell, mark_legend, stand_in_warning
from supclust.tables.render import Table, TableFormat, with_note

# The order of the paper's rows and columns, and its names.
OBJECTIVES = {
    "best": "Bst",
    "mst": "MST",
    "exp_minus": "Exp-",
    "all_pairs": "AP",
    "triplet": "Trp",
    "exp_zero": "Exp0",
    "exp_plus": "Exp+",
    "exp_alpha": "Exp-alpha",
}
DATASETS = ("rexa", "aminer", "np_coref", "gum_coref", "faces")
HEADS = {"single": "SL", "average": "AL", "complete": "CL", "exp": "EL"}
BEST_LINKAGE = "best linkage"
"""Column of the sparsest-cut table: the best of the four linkages."""
COUNTERPARTS = {"gum_coref": "np_coref"}
"""Data sets of ours that are compared with another one of the paper, for orientation only."""


class Key(NamedTuple):
    """Identifies one printed number."""

    dataset: str
    objective: str
    linkage: str
    metric: str


class Printed(NamedTuple):
    """One printed number."""

    percent: float
    mark: str
    """``best``, ``p<0.05``, ``p<0.01`` or empty."""


@lru_cache(maxsize=1)
def published() -> dict[Key, Printed]:
    """Every number of the paper's three tables.

    >>> published()[Key("faces", "mst", "single", "dendrogram_purity")]
    Printed(percent=95.3, mark='best')
    """
    numbers = {}
    for metric in METRICS:
        for row in _published_rows(metric):
            key = Key(row["dataset"], row["objective"], row["linkage"], metric)
            numbers[key] = Printed(float(row["mean_over_50_splits"]), row["mark"])
    for row in _published_rows("recursive_sparsest_cut"):
        for linkage, column in (("rsc", "rsc_dp"), (BEST_LINKAGE, "hac_best_linkage_dp")):
            key = Key(row["dataset"], row["objective"], linkage, "dendrogram_purity")
            numbers[key] = Printed(float(row[column]), "")
    return numbers


def printed(dataset: str, objective: str, linkage: str, metric: str) -> Printed | None:
    """The paper's number for a cell of ours, if it has one."""
    name = COUNTERPARTS.get(dataset, dataset)
    return published().get(Key(name, objective, linkage, metric))


def _published_rows(name: str) -> list[dict[str, str]]:
    path = files("supclust.tables") / "published_numbers" / f"{name}.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


class Grid(NamedTuple):
    """Cells of the paper's eight objectives.

    Attributes:
        datasets: (name, source), in the paper's order, then others.
        cells: by (data set, source, objective, linkage, metric).
    """

    datasets: list[tuple[str, str]]
    cells: dict[tuple[str, str, str, str, str], Cell]

    def best_linkage(self, dataset: str, source: str, objective: str) -> Cell | None:
        """The cell of the linkage with the highest mean purity; ``None`` if one is missing."""
        key = (dataset, source, objective)
        cells = [self.cells.get((*key, linkage, "dendrogram_purity")) for linkage in METHODS]
        known = [cell for cell in cells if cell is not None]
        return max(known, key=lambda cell: cell.mean) if len(known) == len(METHODS) else None


def grid_of(cells: Sequence[Cell]) -> Grid:
    """Index the cells of the paper's objectives; rows with further axes are left out."""
    chosen = [cell for cell in cells if cell.objective in OBJECTIVES]
    if not chosen:
        raise ValueError(
            "the paper's tables need results of its objectives without further axes; received "
            f"{', '.join(sorted({c.objective for c in cells})) or 'none'}. Use --layout results."
        )
    names = dict.fromkeys((cell.dataset, cell.source) for cell in chosen)
    order = {name: i for i, name in enumerate(DATASETS)}
    return Grid(
        sorted(names, key=lambda name: (order.get(name[0], len(order)), name)),
        {(c.dataset, c.source, c.objective, c.linkage, c.metric): c for c in chosen},
    )


def paper_tables(cells: Sequence[Cell], style: TableFormat) -> list[Table]:
    """The paper's three tables: purity, F1, and the sparsest cut beside the best linkage."""
    grid = grid_of(cells)
    tables = [*(_scores(grid, metric, style) for metric in METRICS), _sparsest_cut(grid)]
    shown = list(grid.cells.values())
    counts = "-".join(map(str, sorted({cell.splits for cell in shown})))
    marks = mark_legend(shown, best=style.about_best, worse=style.about_worse)
    note = (
        f"test scores in %, means over {counts} splits{marks}. "
        "SL single, AL average, CL complete, EL exponential linkage."
    )
    return with_note([table for table in tables if table is not None], note)


def paper_rows(cells: Sequence[Cell]) -> list[list[str]]:
    """The same numbers for CSV, one per row, in the paper's order."""
    grid = grid_of(cells)
    rows = [["metric", "dataset", "source", "objective", "linkage", "percent", "mark", "splits"]]
    for metric in METRICS:
        for dataset, source in grid.datasets:
            for objective in OBJECTIVES:
                for linkage in (*METHODS, *TOP_DOWN):
                    cell = grid.cells.get((dataset, source, objective, linkage, metric))
                    if cell is not None:
                        key = [metric, dataset, source, objective, linkage]
                        rows.append([*key, cell.percent, cell.mark, str(cell.splits)])
    return rows


def _scores(grid: Grid, metric: str, style: TableFormat) -> Table | None:
    columns: dict[tuple[str, str, str], dict[str, Cell]] = {}
    for dataset, source in grid.datasets:
        for linkage in METHODS:
            for objective in OBJECTIVES:
                cell = grid.cells.get((dataset, source, objective, linkage, metric))
                if cell is not None:
                    columns.setdefault((dataset, source, linkage), {})[objective] = cell
    if not columns:
        return None
    rows = [["objective", *(f"{dataset} {HEADS[linkage]}" for dataset, _, linkage in columns)]]
    for objective, name in OBJECTIVES.items():
        shown = [_marked(column, objective, style) for column in columns.values()]
        if set(shown) != {"–"}:
            rows.append([name, *shown])
    name = METRICS[metric]
    return Table(f"{name[0].upper()}{name[1:]}{_sources(grid)}", rows)


def _marked(column: dict[str, Cell], objective: str, style: TableFormat) -> str:
    """A score with its mark; one that equals the best to one decimal is marked like the best."""
    cell = column.get(objective)
    if cell is None:
        return "–"
    best = next((other.percent for other in column.values() if other.mark == "best"), None)
    return style.marked(cell.percent, cell.mark or ("best" if cell.percent == best else ""))


def _sparsest_cut(grid: Grid) -> Table | None:
    """Best linkage and recursive sparsest cut, with random trees in a note."""
    cuts = {key[:3]: cell for key, cell in grid.cells.items() if key[3] == "rsc"}
    if not cuts:
        return None
    datasets = [name for name in grid.datasets if any(key[:2] == name for key in cuts)]
    rows = [["objective", *(f"{name} {kind}" for name, _ in datasets for kind in ("HAC", "RSC"))]]
    for objective, name in OBJECTIVES.items():
        shown = []
        for dataset in datasets:
            pair = (grid.best_linkage(*dataset, objective), cuts.get((*dataset, objective)))
            shown += [cell.percent if cell else "–" for cell in pair]
        if set(shown) != {"–"}:
            rows.append([name, *shown])
    random = [
        f"{cell.dataset} {cell.percent}"
        for dataset in datasets
        for key, cell in grid.cells.items()
        if key[:2] == dataset and key[3] == "random"
    ]
    notes = (f"random tree: {', '.join(random)}",) if random else ()
    title = f"Dendrogram purity: best linkage (HAC), recursive sparsest cut (RSC){_sources(grid)}"
    return Table(title, rows, notes)


def _sources(grid: Grid) -> str:
    return "".join(
        f" {dataset}{stand_in_warning(source)}"
        for dataset, source in grid.datasets
        if source == "stand-in"
    )
