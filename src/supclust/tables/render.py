"""Results as one text: our own tables, the paper's, or the differences, in any format.

The formats are text, Markdown and LaTeX, with the marks of the paper, and CSV.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from supclust.model.aggregate import METRICS, Cell, legend, score_table, stand_in_warning


class Table(NamedTuple):
    """A table to be shown: title above, rows with the header first, notes below."""

    title: str
    rows: list[list[str]]
    notes: tuple[str, ...] = ()


class TableFormat(NamedTuple):
    """How one format shows a table, and a score that is best or significantly lower."""

    marks: dict[str, str]
    """Mark of a `Cell` -> pattern in which ``%s`` is the score."""
    about_best: str
    about_worse: str
    page: Callable[[Sequence[Table]], str]

    def marked(self, text: str, mark: str) -> str:
        """A score with its mark."""
        return self.marks.get(mark, "%s") % text


def with_note(tables: Sequence[Table], note: str) -> list[Table]:
    """The tables, with a note below the last."""
    *first, last = tables
    return [*first, last._replace(notes=(*last.notes, "", note))]


def as_text(tables: Sequence[Table]) -> str:
    """Aligned columns for a terminal."""
    blocks = []
    for table in tables:
        widths = [max(len(row[i]) for row in table.rows) for i in range(len(table.rows[0]))]
        lines = [
            "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in table.rows
        ]
        lines.insert(1, "  ".join("-" * width for width in widths))
        blocks.append("\n".join([table.title, *(line.rstrip() for line in lines), *table.notes]))
    return "\n\n".join(blocks) + "\n"


def as_markdown(tables: Sequence[Table]) -> str:
    """GitHub tables."""
    blocks = []
    for table in tables:
        lines = [f"| {' | '.join(row)} |" for row in table.rows]
        lines.insert(1, "|" + " --- |" * len(table.rows[0]))
        notes = [line for note in table.notes if note for line in ("", note)]
        blocks.append("\n".join([f"### {table.title}", "", *lines, *notes]))
    return "\n\n".join(blocks) + "\n"


def as_latex(tables: Sequence[Table]) -> str:
    """``tabular`` environments, with booktabs."""
    blocks = []
    for table in tables:
        head, *body = [" & ".join(map(_latex, row)) + r" \\" for row in table.rows]
        lines = [
            f"% {table.title}",
            f"\\begin{{tabular}}{{l{'c' * (len(table.rows[0]) - 1)}}}",
            *("\\toprule", head, "\\midrule", *body, "\\bottomrule", "\\end{tabular}"),
            *(f"% {note}" for note in table.notes if note),
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _latex(text: str) -> str:
    for sign, escaped in _LATEX.items():
        text = text.replace(sign, escaped)
    return text


_LATEX = {
    "_": r"\_",
    "%": r"\%",
    "±": r"$\pm$",
    "–": "--",
    "−": "$-$",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    ">": "$>$",
}


_STARS = "* p < 0.05 and ** p < 0.01 against it (paired t-test over splits)"
TABLE_FORMATS = {
    "text": TableFormat(
        {"best": "%s <", "p<0.05": "%s*", "p<0.01": "%s**"},
        "best of a column marked <",
        _STARS,
        as_text,
    ),
    "markdown": TableFormat(
        {"best": "**%s**", "p<0.05": "%s\\*", "p<0.01": "%s\\*\\*"},
        "best of a column in bold",
        _STARS.replace("*", "\\*"),
        as_markdown,
    ),
    "latex": TableFormat(
        {
            "best": "\\textbf{%s}",
            "p<0.05": "\\underline{%s}",
            "p<0.01": "\\underline{\\underline{%s}}",
        },
        "best of a column in bold",
        "underlined once at p < 0.05 and twice at p < 0.01 against it (paired t-test over splits)",
        as_latex,
    ),
}
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
