"""A table of scores as matplotlib axes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from supclust.model.aggregate import (
    METRICS,
    STARS,
    Cell,
    legend,
    score_table,
    stand_in_warning,
    summarise,
)
from supclust.model.results import find_results
from supclust.plot.palette import SOFT, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.table import Cell as TableCell

TINT = "#dcebf7"
WORSE = "* p < 0.05 and ** p < 0.01 against it (paired t-test over splits)"


def table(
    source: Iterable[Cell] | str | Path,
    ax: Axes | None = None,
    *,
    metric: str = "dendrogram_purity",
    dataset: str | None = None,
) -> Axes:
    """Draw a table of scores: objectives by linkages, the best of a column in bold on a tint.

    ``*`` and ``**`` mark scores below the best of their column at p < 0.05 and p < 0.01.

    Args:
        source: cells (`supclust.model.aggregate.summarise`), or a folder of results.
        ax: axes to draw in; default: a new figure of the right size.
        metric: ``dendrogram_purity`` or ``pairwise_f1``.
        dataset: title of the data set; may be left out where there is one only.

    Returns:
        The axes; the table is ``ax.tables[0]``.
    """
    from matplotlib.transforms import Bbox

    cells = summarise(find_results(source)) if isinstance(source, str | Path) else list(source)
    cells = _one_table(cells, metric, dataset)
    linkages, rows = score_table(cells)
    head = ["objective", *linkages, "splits"]
    axes = axes_or_new(ax, (1.6 + 1.35 * len(head), 1.0 + 0.32 * len(rows)))
    axes.set_axis_off()
    body = [[row.objective, *map(_text, row.cells), "-".join(map(str, row.splits))] for row in rows]
    drawn = axes.table(body, colLabels=head, cellLoc="center", bbox=Bbox.unit())
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(10)
    best = {
        (i, j)
        for i, row in enumerate(rows, start=1)
        for j, cell in enumerate(row.cells, start=1)
        if cell is not None and cell.mark == "best"
    }
    for at, drawn_cell in drawn.get_celld().items():
        _style(drawn_cell, heading=at[0] == 0, best=at in best)
    name, origin = cells[0].dataset, cells[0].source
    axes.set_title(f"{name}{stand_in_warning(origin)}: {METRICS[metric]}", fontsize=11)
    note = legend(cells, best="best of a column in bold", worse=WORSE).replace("; ", "\n")
    axes.text(0, -0.03, note, transform=axes.transAxes, va="top", fontsize=8, color=SOFT)
    return axes


def _text(cell: Cell | None) -> str:
    return "–" if cell is None else cell.text + STARS.get(cell.mark, "")


def _style(cell: TableCell, *, heading: bool, best: bool) -> None:
    cell.visible_edges = "horizontal" if heading else "closed" if best else "open"
    cell.set_edgecolor(TINT if best else SOFT)
    if best:
        cell.set_facecolor(TINT)
        cell.set_text_props(weight="bold")


def _one_table(cells: list[Cell], metric: str, dataset: str | None) -> list[Cell]:
    """The cells of one metric and one data set."""
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}; received {metric!r}.")
    chosen = [cell for cell in cells if cell.metric == metric and dataset in (None, cell.dataset)]
    names = sorted({cell.dataset for cell in cells})
    if not chosen:
        raise ValueError(
            f"no score of {metric} for data set {dataset!r}. "
            f"There are: {', '.join(names) or 'none'}."
        )
    if len({(cell.dataset, cell.source) for cell in chosen}) > 1:
        raise ValueError(
            f"a picture holds the table of one data set; received {', '.join(names)}. "
            f"Choose with dataset={names[0]!r} (and cells of one source)."
        )
    return chosen
