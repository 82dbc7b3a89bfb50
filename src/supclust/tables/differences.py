"""Differences between our results and the paper's printed numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from supclust.hac.family import METHODS
from supclust.model.aggregate import METRICS, Cell, stand_in_warning
from supclust.tables.paper import (
    BEST_LINKAGE,
    COUNTERPARTS,
    OBJECTIVES,
    Grid,
    Printed,
    grid_of,
    printed,
)
from supclust.tables.render import Table, TableFormat, with_note

FAR, VERY_FAR = 2.0, 4.0
SIGNS = f"in %; † off by more than {FAR:g} points, ‡ by more than {VERY_FAR:g}"
# Mean and largest absolute difference that a full reproduction may have, in points.
BOUNDS = {"dendrogram_purity": (1.5, 4.0), "pairwise_f1": (3.0, 8.0)}
BOUND_DATASETS = ("faces", "aminer")
SPARSEST = "sparsest cut"


class Pair(NamedTuple):
    """One of our numbers and the paper's."""

    table: str
    """A metric, or `SPARSEST`."""
    cell: Cell
    linkage: str
    """Name of the column."""
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


def pairs_of(grid: Grid) -> list[Pair]:
    """All cells that both have, table by table.

    The table `SPARSEST` has, of every objective with a sparsest cut, that and the best linkage.
    """
    pairs = []
    for dataset, source in grid.datasets:
        cells: list[tuple[str, str, str, str, Cell | None]] = []
        for metric in METRICS:
            for objective in OBJECTIVES:
                for linkage in METHODS:
                    cell = grid.cells.get((dataset, source, objective, linkage, metric))
                    cells.append((metric, metric, objective, linkage, cell))
        for objective in OBJECTIVES:
            cut = grid.cells.get((dataset, source, objective, "rsc", "dendrogram_purity"))
            best = grid.best_linkage(dataset, source, objective) if cut else None
            cells.append((SPARSEST, "dendrogram_purity", objective, BEST_LINKAGE, best))
            cells.append((SPARSEST, "dendrogram_purity", objective, "rsc", cut))
        for table, metric, objective, linkage, cell in cells:
            paper = printed(dataset, objective, linkage, metric)
            if cell is not None and paper is not None:
                pairs.append(Pair(table, cell, linkage, paper))
    return pairs


def distances(grid: Grid) -> dict[tuple[str, str], list[Pair]]:
    """Pairs by (data set, metric or `SPARSEST`), without the column of the best linkage."""
    tables: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs_of(grid):
        if pair.linkage != BEST_LINKAGE:
            dataset = pair.cell.dataset + stand_in_warning(pair.cell.source)
            tables.setdefault((dataset, pair.table), []).append(pair)
    return tables


def out_of_bounds(cells: Sequence[Cell]) -> list[str]:
    """Differences from the paper that exceed `BOUNDS`, one line each."""
    lines = []
    for (dataset, metric), pairs in distances(grid_of(cells)).items():
        if dataset not in BOUND_DATASETS or metric not in BOUNDS:
            continue
        most, largest = BOUNDS[metric]
        table, mean, worst = f"{dataset} {METRICS[metric]}", _mean(pairs), _largest(pairs)
        if mean > most:
            lines.append(f"{table}: mean difference {mean:.2f}, allowed {most:g}")
        if abs(worst.difference) > largest:
            cell, off = f"{worst.cell.objective} {worst.linkage}", signed(worst.difference)
            lines.append(f"{table}: {cell} is off by {off}, allowed {largest:g}")
    return lines


def distance_table(tables: dict[tuple[str, str], list[Pair]]) -> Table:
    """Mean and largest absolute difference: one row per data set and metric."""
    rows = [["table", "cells", "mean", "largest", f"off > {FAR:g}", f"off > {VERY_FAR:g}"]]
    for (dataset, name), pairs in tables.items():
        worst = _largest(pairs)
        cell = f"{OBJECTIVES[worst.cell.objective]} {worst.linkage}"
        beside = f" beside {COUNTERPARTS[dataset]}" if dataset in COUNTERPARTS else ""
        title = f"{dataset}{beside}: {METRICS.get(name, name)}"
        far = [str(sum(abs(p.difference) > size for p in pairs)) for size in (FAR, VERY_FAR)]
        largest = f"{signed(worst.difference)} ({cell})"
        rows.append([title, str(len(pairs)), f"{_mean(pairs):.2f}", largest, *far])
    return Table("Absolute differences from the paper, in points", rows)


def difference_tables(cells: Sequence[Cell], style: TableFormat) -> list[Table]:
    """A table per data set and metric, then the summaries; all formats show the same text."""
    grid = grid_of(cells)
    groups: dict[tuple[str, str, str], list[Pair]] = {}
    for pair in pairs_of(grid):
        groups.setdefault((pair.cell.dataset, pair.cell.source, pair.table), []).append(pair)
    if not groups:
        raise ValueError(
            "none of these results has a counterpart in the paper: its data sets are rexa, aminer, "
            "np_coref and faces. Make some with `supclust reproduce faces`."
        )
    tables = []
    for (dataset, source, table), pairs in groups.items():
        columns = (BEST_LINKAGE, "rsc") if table == SPARSEST else METHODS
        rows = [["objective", *(SPARSEST if name == "rsc" else name for name in columns)]]
        for objective, name in OBJECTIVES.items():
            texts = {pair.linkage: pair.text for pair in pairs if pair.cell.objective == objective}
            if texts:
                rows.append([name, *(texts.get(linkage, "–") for linkage in columns)])
        beside = COUNTERPARTS.get(dataset)
        remark = f" beside the paper's {beside}, for orientation only" if beside else ""
        title = (
            f"{dataset}{remark}{stand_in_warning(source)}: {METRICS.get(table, 'top-down trees')}"
        )
        tables.append(Table(f"{title}, ours (paper) difference", rows))
    return with_note([*tables, distance_table(distances(grid))], SIGNS)


def difference_rows(cells: Sequence[Cell]) -> list[list[str]]:
    """The same numbers for CSV, one pair per row."""
    heads = ["dataset", "source", "metric", "objective", "linkage", "ours", "low", "high", "splits"]
    rows = [[*heads, "mark", "paper_dataset", "paper", "paper_mark", "difference"]]
    for pairs in distances(grid_of(cells)).values():
        for pair in pairs:
            cell, paper = pair.cell, pair.paper
            ours = [f"{100 * v:.2f}" if v == v else "" for v in (cell.mean, cell.low, cell.high)]
            key = [cell.dataset, cell.source, cell.metric, cell.objective, pair.linkage]
            name = COUNTERPARTS.get(cell.dataset, cell.dataset)
            theirs = [name, f"{paper.percent:.1f}", paper.mark, f"{pair.difference:.2f}"]
            rows.append([*key, *ours, str(cell.splits), cell.mark, *theirs])
    return rows


def signed(points: float) -> str:
    """With a sign, one decimal, and U+2212 as minus.

    >>> signed(-0.44), signed(0.04)
    ('−0.4', '+0.0')
    """
    return f"{points:+.1f}".replace("-", "−")


def _mean(pairs: Sequence[Pair]) -> float:
    return sum(abs(pair.difference) for pair in pairs) / len(pairs)


def _largest(pairs: Sequence[Pair]) -> Pair:
    return max(pairs, key=lambda pair: abs(pair.difference))
