"""Results as one text: our own tables, the paper's, or the differences, in any format."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any

from supclust.model.aggregate import METRICS, Cell, legend, score_table, stand_in_warning
from supclust.tables.formats import TABLE_FORMATS, Table, TableFormat, with_note

FORMATS = (*TABLE_FORMATS, "csv")
LAYOUTS = ("results", "intervals", "paper", "against")


def render(cells: Sequence[Cell], layout: str = "results", fmt: str = "text") -> str:
    """Results as one text.

    Args:
        cells: of `supclust.model.aggregate.summarise`.
        layout: one of `LAYOUTS`: means and deviations; means and confidence intervals; the paper's
            tables; differences from the paper.
        fmt: one of `FORMATS`.
    """
    tables: Callable[[Sequence[Cell], TableFormat], list[Table]]
    rows: Callable[[Sequence[Cell]], list[list[Any]]]
    if layout == "paper":
        from supclust.tables.paper import paper_rows as rows
        from supclust.tables.paper import paper_tables as tables
    elif layout == "against":
        from supclust.tables.differences import difference_rows as rows
        from supclust.tables.differences import difference_tables as tables
    else:
        rows, tables = _cell_rows, interval_tables if layout == "intervals" else result_tables
    if fmt == "csv":
        return as_csv(rows(cells))
    return TABLE_FORMATS[fmt].page(tables(cells, TABLE_FORMATS[fmt]))


def as_csv(rows: Sequence[Sequence[Any]]) -> str:
    """Rows as CSV, the header first."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def result_tables(
    cells: Sequence[Cell], style: TableFormat, *, intervals: bool = False
) -> list[Table]:
    """A table per data set and metric: objectives down, linkages across.

    Args:
        cells: of `summarise`.
        style: format of the tables.
        intervals: confidence intervals in place of standard deviations.
    """
    tables = []
    for dataset, source, metric in dict.fromkeys((c.dataset, c.source, c.metric) for c in cells):
        chosen = [c for c in cells if (c.dataset, c.source, c.metric) == (dataset, source, metric)]
        linkages, rows = score_table(chosen)
        body = [["objective", *linkages, "splits"]]
        for row in rows:
            scores = ["–"] * len(linkages)
            for i, cell in enumerate(row.cells):
                if cell is not None:
                    text = cell.interval_text if intervals else cell.text
                    scores[i] = style.marked(text, cell.mark)
            body.append([row.objective, *scores, "-".join(map(str, row.splits))])
        tables.append(Table(f"{dataset}{stand_in_warning(source)}: {METRICS[metric]}", body))
    note = legend(cells, best=style.about_best, worse=style.about_worse, intervals=intervals)
    return with_note(tables, note)


def interval_tables(cells: Sequence[Cell], style: TableFormat) -> list[Table]:
    """`result_tables` with confidence intervals."""
    return result_tables(cells, style, intervals=True)


def _cell_rows(cells: Sequence[Cell]) -> list[list[Any]]:
    """One row per cell; NaN becomes empty."""
    fields = list(Cell.__dataclass_fields__)
    values = [[getattr(cell, field) for field in fields] for cell in cells]
    return [fields, *([("" if value != value else value) for value in row] for row in values)]
