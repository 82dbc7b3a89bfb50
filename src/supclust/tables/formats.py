"""Tables of strings as text, Markdown or LaTeX, with the marks of the paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


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
