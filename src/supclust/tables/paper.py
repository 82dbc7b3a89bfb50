"""Results in the paper's own form: a row per objective, four linkages of every data set across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from supclust.hac.family import METHODS, TOP_DOWN
from supclust.tables.aggregate import METRICS, Cell, stand_in_warning, with_legend
from supclust.tables.formats import Markup, Table

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


class Grid(NamedTuple):
    """Cells of the paper's eight objectives, found by their place.

    Attributes:
        datasets: (name, source), in the paper's order, then others.
        cells: by (data set, source, objective, linkage, metric).
    """

    datasets: list[tuple[str, str]]
    cells: dict[tuple[str, str, str, str, str], Cell]

    def best_linkage(self, dataset: str, source: str, objective: str) -> Cell | None:
        """The cell of the linkage with the highest mean purity."""
        found = [
            cell
            for linkage in METHODS
            if (cell := self.cells.get((dataset, source, objective, linkage, "dendrogram_purity")))
        ]
        return max(found, key=lambda cell: cell.mean) if len(found) == len(METHODS) else None


def grid_of(cells: Sequence[Cell]) -> Grid:
    """Sort cells into a grid; rows of further axes have no place in it."""
    chosen = [cell for cell in cells if cell.objective in OBJECTIVES]
    if not chosen:
        raise ValueError(
            "the paper's tables need results of its objectives without further axes; received "
            f"{', '.join(sorted({c.objective for c in cells})) or 'none'}. Use --layout results."
        )
    names = dict.fromkeys((cell.dataset, cell.source) for cell in chosen)
    places = {name: place for place, name in enumerate(DATASETS)}
    return Grid(
        sorted(names, key=lambda name: (places.get(name[0], len(places)), name)),
        {(c.dataset, c.source, c.objective, c.linkage, c.metric): c for c in chosen},
    )


def paper_tables(cells: Sequence[Cell], markup: Markup) -> list[Table]:
    """The paper's three tables: purity, F1, and the sparsest cut beside the best linkage."""
    grid = grid_of(cells)
    found = [table for metric in METRICS if (table := _scores(grid, metric, markup)) is not None]
    cut = _sparsest_cut(grid)
    shown = [*found, cut] if cut is not None else found
    counts = sorted({cell.splits for cell in grid.cells.values()})
    means = f"test scores in %, means over {'-'.join(map(str, counts))} splits"
    legend = means + markup.legend(cell.mark for cell in grid.cells.values())
    heads = "SL single, AL average, CL complete, EL exponential linkage"
    return with_legend(shown, f"{legend}. {heads}.")


def paper_rows(cells: Sequence[Cell]) -> list[list[str]]:
    """The same numbers, a line each, in the paper's order; for CSV."""
    grid = grid_of(cells)
    rows = [["metric", "dataset", "source", "objective", "linkage", "percent", "mark", "splits"]]
    for metric in METRICS:
        for dataset, source in grid.datasets:
            for objective in OBJECTIVES:
                for linkage in (*METHODS, *TOP_DOWN):
                    cell = grid.cells.get((dataset, source, objective, linkage, metric))
                    if cell is not None:
                        place = [metric, dataset, source, objective, linkage]
                        rows.append([*place, cell.percent, cell.mark, str(cell.splits)])
    return rows


def shown_mark(cell: Cell, column: Sequence[Cell]) -> str:
    """The mark that is printed: what ties with the best at one decimal is as bold as it is."""
    best = next((other for other in column if other.mark == "best"), None)
    tied = best is not None and cell.mark == "" and cell.percent == best.percent
    return "best" if tied else cell.mark


def _scores(grid: Grid, metric: str, markup: Markup) -> Table | None:
    columns = {
        (dataset, source, linkage): [
            cell
            for objective in OBJECTIVES
            if (cell := grid.cells.get((dataset, source, objective, linkage, metric)))
        ]
        for dataset, source in grid.datasets
        for linkage in METHODS
    }
    columns = {key: column for key, column in columns.items() if column}
    if not columns:
        return None
    rows = [["objective", *(f"{dataset} {HEADS[linkage]}" for dataset, _, linkage in columns)]]
    for objective, name in OBJECTIVES.items():
        shown = []
        for (dataset, source, linkage), column in columns.items():
            cell = grid.cells.get((dataset, source, objective, linkage, metric))
            mark = shown_mark(cell, column) if cell else ""
            shown.append(markup.marked(cell.percent, mark) if cell else "–")
        if set(shown) != {"–"}:
            rows.append([name, *shown])
    name = METRICS[metric]
    return Table(f"{name[0].upper()}{name[1:]}{_sources(grid)}", rows)


def _sparsest_cut(grid: Grid) -> Table | None:
    """Best linkage and sparsest cut; the random floor below."""
    metric = "dendrogram_purity"
    cuts = {key: cell for key, cell in grid.cells.items() if key[3] == "rsc"}
    if not cuts:
        return None
    datasets = [d for d in grid.datasets if any(key[:2] == d for key in cuts)]
    heads = [f"{dataset} {kind}" for dataset, _ in datasets for kind in ("HAC", "RSC")]
    rows = [["objective", *heads]]
    for objective, name in OBJECTIVES.items():
        shown = []
        for dataset in datasets:
            best, cut = (
                grid.best_linkage(*dataset, objective),
                cuts.get((*dataset, objective, "rsc", metric)),
            )
            shown += [cell.percent if cell else "–" for cell in (best, cut)]
        if set(shown) != {"–"}:
            rows.append([name, *shown])
    floors = [
        f"{cell.dataset} {cell.percent}"
        for dataset in datasets
        for key, cell in grid.cells.items()
        if key[:2] == dataset and key[3] == "random"
    ]
    notes = (f"random tree: {', '.join(floors)}",) if floors else ()
    title = f"Dendrogram purity: best linkage (HAC), recursive sparsest cut (RSC){_sources(grid)}"
    return Table(title, rows, notes)


def _sources(grid: Grid) -> str:
    return "".join(
        f" {dataset}{stand_in_warning(source)}"
        for dataset, source in grid.datasets
        if source == "stand-in"
    )
