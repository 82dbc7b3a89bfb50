"""Which tables a folder of results is shown as: our own, the paper's, or beside the paper's."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from supclust.tables.aggregate import Cell, as_csv, result_tables
from supclust.tables.differences import against_rows, against_tables
from supclust.tables.formats import MARKUPS, Markup, Table
from supclust.tables.paper import paper_rows, paper_tables

FORMATS = (*MARKUPS, "csv")
LAYOUTS: dict[str, Callable[[Sequence[Cell], Markup], list[Table]]] = {
    "results": result_tables,
    "intervals": lambda cells, markup: result_tables(cells, markup, intervals=True),
    "paper": paper_tables,
    "against": against_tables,
}
_CSV: dict[str, Callable[[Sequence[Cell]], list[list[str]]]] = {
    "paper": paper_rows,
    "against": against_rows,
}


def render(cells: Sequence[Cell], layout: str = "results", form: str = "text") -> str:
    """Results as one text.

    Args:
        cells: of `summarise`.
        layout: of `LAYOUTS`.
        form: of `FORMATS`.
    """
    if form != "csv":
        return MARKUPS[form].page(LAYOUTS[layout](cells, MARKUPS[form]))
    if layout not in _CSV:
        return as_csv(cells)
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(_CSV[layout](cells))
    return stream.getvalue()
