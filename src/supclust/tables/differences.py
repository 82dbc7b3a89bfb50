"""Our numbers, the paper's, and the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from supclust.hac.family import METHODS
from supclust.tables.aggregate import METRICS, Cell, stand_in_warning, with_legend
from supclust.tables.formats import Markup, Table
from supclust.tables.paper import OBJECTIVES, Grid, grid_of
from supclust.tables.published import BEST_LINKAGE, COUNTERPARTS, Printed, printed

FAR, VERY_FAR = 2.0, 4.0
SIGNS = f"in %; † off by more than {FAR:g} points, ‡ by more than {VERY_FAR:g}"
# Mean and largest absolute difference that a full reproduction may have, in points.
BOUNDS = {"dendrogram_purity": (1.5, 4.0), "pairwise_f1": (3.0, 8.0)}
BOUND_DATASETS = ("faces", "aminer")
_SPARSEST = {BEST_LINKAGE: "best linkage", "rsc": "sparsest cut"}


@dataclass(frozen=True)
class Pair:
    """A number of ours beside the paper's.

    Attributes:
        cell: ours.
        linkage: name of the column.
        paper: the paper's.
    """

    cell: Cell
    linkage: str
    paper: Printed

    @property
    def difference(self) -> float:
        """Ours minus the paper's, in points of percent."""
        return 100 * self.cell.mean - self.paper.percent

    @property
    def text(self) -> str:
        """As in ``94.9 (95.3) −0.4``."""
        size = abs(self.difference)
        sign = " ‡" if size > VERY_FAR else " †" if size > FAR else ""
        return f"{self.cell.percent} ({self.paper.percent:.1f}) {signed(self.difference)}{sign}"


@dataclass(frozen=True)
class Distance:
    """How far a table of ours is from the paper's.

    Attributes:
        cells: number of cells that both have.
        mean: mean absolute difference, in points.
        largest: the cell that differs most.
        far: cells off by more than 2 points.
        very_far: cells off by more than 4 points.
    """

    cells: int
    mean: float
    largest: Pair
    far: int
    very_far: int

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> Distance:
        """Of at least one pair."""
        sizes = [abs(pair.difference) for pair in pairs]
        return cls(
            len(pairs),
            sum(sizes) / len(sizes),
            max(pairs, key=lambda pair: abs(pair.difference)),
            sum(size > FAR for size in sizes),
            sum(size > VERY_FAR for size in sizes),
        )


def pairs_of(grid: Grid, dataset: str, source: str, metric: str) -> list[Pair]:
    """Cells of the 8 x 4 grid that both have."""
    found = []
    for objective in OBJECTIVES:
        for linkage in METHODS:
            cell = grid.cells.get((dataset, source, objective, linkage, metric))
            paper = printed(dataset, objective, linkage, metric)
            if cell is not None and paper is not None:
                found.append(Pair(cell, linkage, paper))
    return found


def sparsest_pairs(grid: Grid, dataset: str, source: str) -> list[Pair]:
    """Best linkage and sparsest cut of every objective that has both."""
    found = []
    for objective in OBJECTIVES:
        cut = grid.cells.get((dataset, source, objective, "rsc", "dendrogram_purity"))
        best = grid.best_linkage(dataset, source, objective)
        for linkage, cell in ((BEST_LINKAGE, best), ("rsc", cut)):
            paper = printed(dataset, objective, linkage, "dendrogram_purity")
            if cut is not None and cell is not None and paper is not None:
                found.append(Pair(cell, linkage, paper))
    return found


def distances(grid: Grid) -> dict[tuple[str, str], Distance]:
    """By (data set, metric or ``sparsest cut``), of everything that both have."""
    found = {}
    for dataset, source in grid.datasets:
        tables = {metric: pairs_of(grid, dataset, source, metric) for metric in METRICS}
        cuts = [p for p in sparsest_pairs(grid, dataset, source) if p.linkage == "rsc"]
        for name, pairs in {**tables, "sparsest cut": cuts}.items():
            if pairs:
                found[dataset + stand_in_warning(source), name] = Distance.of(pairs)
    return found


def out_of_bounds(cells: Sequence[Cell]) -> list[str]:
    """What is further from the paper than `BOUNDS` allow, a line each."""
    lines = []
    for (dataset, metric), found in distances(grid_of(cells)).items():
        if dataset not in BOUND_DATASETS or metric not in BOUNDS:
            continue
        mean, largest = BOUNDS[metric]
        where = f"{dataset} {METRICS[metric]}"
        if found.mean > mean:
            lines.append(f"{where}: mean difference {found.mean:.2f}, allowed {mean:g}")
        if abs(found.largest.difference) > largest:
            cell = f"{found.largest.cell.objective} {found.largest.linkage}"
            size = signed(found.largest.difference)
            lines.append(f"{where}: {cell} is off by {size}, allowed {largest:g}")
    return lines


def distance_table(found: dict[tuple[str, str], Distance]) -> Table:
    """One row per data set and metric."""
    rows = [["table", "cells", "mean", "largest", f"off > {FAR:g}", f"off > {VERY_FAR:g}"]]
    for (dataset, name), distance in found.items():
        largest = distance.largest
        where = f"{OBJECTIVES[largest.cell.objective]} {largest.linkage}"
        beside = f" beside {COUNTERPARTS[dataset]}" if dataset in COUNTERPARTS else ""
        rows.append(
            [
                f"{dataset}{beside}: {METRICS.get(name, name)}",
                str(distance.cells),
                f"{distance.mean:.2f}",
                f"{signed(largest.difference)} ({where})",
                str(distance.far),
                str(distance.very_far),
            ]
        )
    return Table("Absolute differences from the paper, in points", rows)


def against_tables(cells: Sequence[Cell], markup: Markup) -> list[Table]:
    """A table per data set and metric, then one that sums up."""
    grid = grid_of(cells)
    found = []
    for dataset, source in grid.datasets:
        for metric, name in METRICS.items():
            pairs = pairs_of(grid, dataset, source, metric)
            if pairs:
                title = f"{dataset}{_remark(dataset, source)}: {name}, ours (paper) difference"
                found.append(_table(title, pairs, {name: name for name in METHODS}))
        pairs = sparsest_pairs(grid, dataset, source)
        if pairs:
            title = f"{dataset}{_remark(dataset, source)}: top-down trees, ours (paper) difference"
            found.append(_table(title, pairs, _SPARSEST))
    if not found:
        raise ValueError(
            "none of these results has a counterpart in the paper: its data sets are rexa, aminer, "
            "np_coref and faces. Make some with `supclust reproduce faces`."
        )
    found.append(distance_table(distances(grid)))
    return with_legend(found, SIGNS)


def against_rows(cells: Sequence[Cell]) -> list[list[str]]:
    """The same, a line per cell; for CSV."""
    grid = grid_of(cells)
    heads = ["dataset", "source", "metric", "objective", "linkage", "ours", "low", "high", "splits"]
    rows = [[*heads, "mark", "paper_dataset", "paper", "paper_mark", "difference"]]
    for dataset, source in grid.datasets:
        pairs = [p for metric in METRICS for p in pairs_of(grid, dataset, source, metric)]
        pairs += [p for p in sparsest_pairs(grid, dataset, source) if p.linkage == "rsc"]
        for pair in pairs:
            cell, paper = pair.cell, pair.paper
            ours = [f"{100 * v:.2f}" if v == v else "" for v in (cell.mean, cell.low, cell.high)]
            place = [dataset, source, cell.metric, cell.objective, pair.linkage]
            theirs = [COUNTERPARTS.get(dataset, dataset), f"{paper.percent:.1f}", paper.mark]
            tail = [str(cell.splits), cell.mark, *theirs, f"{pair.difference:.2f}"]
            rows.append([*place, *ours, *tail])
    return rows


def signed(points: float) -> str:
    """With a sign, one decimal, and a true minus.

    >>> signed(-0.44), signed(0.04)
    ('−0.4', '+0.0')
    """
    return f"{points:+.1f}".replace("-", "−")


def _table(title: str, pairs: Sequence[Pair], heads: dict[str, str]) -> Table:
    rows = [["objective", *heads.values()]]
    for objective, name in OBJECTIVES.items():
        by_linkage = {p.linkage: p.text for p in pairs if p.cell.objective == objective}
        if by_linkage:
            rows.append([name, *(by_linkage.get(linkage, "–") for linkage in heads)])
    return Table(title, rows)


def _remark(dataset: str, source: str) -> str:
    beside = COUNTERPARTS.get(dataset)
    text = f" beside the paper's {beside}, for orientation only" if beside else ""
    return text + stand_in_warning(source)
