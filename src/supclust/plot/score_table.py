"""A table of scores as matplotlib axes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from supclust.plot.palette import SOFT, axes_or_new
from supclust.tables.aggregate import METRICS, Cell, result_tables
from supclust.tables.formats import MARKUPS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.table import Cell as TableCell

BEST = MARKUPS["text"].best("")
TINT = "#dcebf7"


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
        source: cells (`supclust.tables.aggregate.summarise`), or a folder of results.
        ax: axes to draw in; default: a new figure of the right size.
        metric: ``dendrogram_purity`` or ``pairwise_f1``.
        dataset: title of the data set; may be left out where there is one only.

    Returns:
        The axes; the table is ``ax.tables[0]``.
    """
    from matplotlib.transforms import Bbox

    cells = _cells_below(Path(source)) if isinstance(source, str | Path) else list(source)
    ((title, (head, *body), notes),) = result_tables(
        _one_table(cells, metric, dataset), MARKUPS["text"]
    )
    axes = axes_or_new(ax, (1.6 + 1.35 * len(head), 1.0 + 0.32 * len(body)))
    axes.set_axis_off()
    plain = [[text.removesuffix(BEST) for text in row] for row in body]
    drawn = axes.table(plain, colLabels=head, cellLoc="center", bbox=Bbox.unit())
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(10)
    for (row, column), cell in drawn.get_celld().items():
        _style(cell, heading=row == 0, best=row > 0 and body[row - 1][column].endswith(BEST))
    axes.set_title(title, fontsize=11)
    note = "".join(notes).replace("marked <", "in bold").replace("; ", "\n")
    axes.text(0, -0.03, note, transform=axes.transAxes, va="top", fontsize=8, color=SOFT)
    return axes


def _style(cell: TableCell, *, heading: bool, best: bool) -> None:
    cell.visible_edges = "horizontal" if heading else "closed" if best else "open"
    cell.set_edgecolor(TINT if best else SOFT)
    if best:
        cell.set_facecolor(TINT)
        cell.set_text_props(weight="bold")


def _cells_below(folder: Path) -> list[Cell]:
    from supclust.report.data import ReportOptions, gather

    groups = gather(folder, ReportOptions(trees=False)).groups
    return [cell for group in groups for cell in group.cells]


def _one_table(cells: list[Cell], metric: str, dataset: str | None) -> list[Cell]:
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}; received {metric!r}.")
    fitting = [cell for cell in cells if cell.metric == metric and dataset in (None, cell.dataset)]
    there = sorted({cell.dataset for cell in cells})
    if not fitting:
        raise ValueError(
            f"no score of {metric} for data set {dataset!r}. "
            f"There are: {', '.join(there) or 'none'}."
        )
    if len({(cell.dataset, cell.source) for cell in fitting}) > 1:
        raise ValueError(
            f"a picture holds the table of one data set; received {', '.join(there)}. "
            f"Choose with dataset={there[0]!r} (and cells of one source)."
        )
    return fitting
