"""One self-contained page: everything inline, nothing loaded, nothing from data as markup."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib.resources import files
from pathlib import Path

import supclust
from supclust.data.files import write_text
from supclust.report.data import DatasetResults, Report
from supclust.report.escape import text
from supclust.report.figures import symbols
from supclust.report.provenance import failures, provenance, stand_in_warning
from supclust.report.sections import cut_charts, linkage_legend, score_tables, split_strips
from supclust.report.training_section import alpha_charts, part_charts, training_charts
from supclust.report.tree_section import tree_section
from supclust.tables.aggregate import Cell, row_name

STYLES = ("page.css", "charts.css", "tree.css")
SCRIPTS = ("tree_model.js", "tree_view.js", "tree_controls.js", "page.js")


def write_report(report: Report, path: Path) -> Path:
    """Write the page of a folder of results; it is there completely or not at all."""
    return write_page(path, results_page(report))


def write_page(path: Path, content: str) -> Path:
    """Write a page atomically."""
    write_text(path, content)
    return path


def results_page(report: Report) -> str:
    """The page of a folder of results."""
    sections: list[tuple[str, str, str]] = []
    for i, group in enumerate(report.groups):
        name = group.dataset if len(report.groups) == 1 else f"{group.dataset} ({group.source})"
        sections.append((f"data-{i}", name, _dataset(group, f"tree{i}")))
    sections.append(("failed", f"Failed runs ({len(report.failed)})", failures(report)))
    origin = "".join(f"<h3>{text(g.dataset)}</h3>{provenance(g)}" for g in report.groups)
    sections.append(("provenance", "Where the numbers come from", origin or "<p>Nothing.</p>"))
    lead = "".join(_headline(group) for group in report.groups)
    count = sum(len(group.results) for group in report.groups)
    lead += f'<p class="note">{count} finished results, {len(report.failed)} failed.</p>'
    names = ", ".join(dict.fromkeys(group.dataset for group in report.groups))
    title = f"Clustering results: {names}" if names else "Clustering results"
    return page(title, stand_in_warning(report.groups) + lead, sections)


def page(title: str, lead: str, sections: Sequence[tuple[str, str, str]]) -> str:
    """A page from its parts.

    Args:
        title: of the page.
        lead: HTML below the title.
        sections: (anchor, heading, HTML).
    """
    script = f"(() => {{\n'use strict';\n{''.join(_asset(name) for name in SCRIPTS)}}})();"
    style = "".join(_asset(name) for name in STYLES)
    links = "".join(f'<li><a href="#{key}">{text(name)}</a></li>' for key, name, _ in sections)
    body = "".join(
        f'<section id="{key}" aria-labelledby="{key}-h"><h2 id="{key}-h">{text(name)}</h2>'
        f"{content}</section>"
        for key, name, content in sections
    )
    made = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<link rel="icon" href="data:,"><title>{text(title)}</title><style>{style}</style></head>'
        f'<body>{symbols()}<a class="skip" href="#main">Skip to the results</a>'
        f"<header><h1>{text(title)}</h1>{lead}"
        f'<nav aria-label="Parts of the report"><ul>{links}</ul></nav></header>'
        f'<main id="main">{body}</main><footer><p>Made by supclust {text(supclust.__version__)}, '
        f"{made}. This page is complete: it loads nothing.</p></footer>"
        f"<script>{script}</script></body></html>\n"
    )


def _policy(script: str) -> str:
    """Only this script may run, and nothing may be loaded: a second wall behind the escaping."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return files("supclust.report").joinpath("assets", name).read_text(encoding="utf-8")


def _headline(group: DatasetResults) -> str:
    by_metric = {
        cell.metric: cell
        for cell in group.cells
        if (cell.objective, cell.linkage) == (group.best, group.linkage)
    }
    purity, f1 = by_metric.get("dendrogram_purity"), by_metric.get("pairwise_f1")
    figures = [("dendrogram purity", purity), ("pairwise F1", f1)]
    cards = "".join(_card(name, cell) for name, cell in figures if cell is not None)
    rows = len(group.rows)
    of = f", the highest purity of {rows} objectives" if rows > 1 else ""
    alike = [
        cell.objective
        for cell in group.cells
        if (cell.metric, cell.linkage) == ("dendrogram_purity", group.linkage)
        and cell.mark in ("", "best")
        and cell.objective != group.best
    ]
    tied = f" (cannot be told apart from {', '.join(alike)} with these splits)" if alike else ""
    return (
        f'<div class="headline"><p><strong>{text(group.dataset)}</strong> '
        f'<span class="source {text(group.source)}">{text(group.source)} data</span><br>'
        f"trained with <strong>{text(group.best)}</strong>{text(of + tied)}, "
        f"clustered by {text(group.linkage)} linkage</p>{cards}</div>"
    )


def _card(name: str, cell: Cell) -> str:
    spread = "" if cell.deviation != cell.deviation else f" ± {100 * cell.deviation:.1f}"
    splits = f"{cell.splits} split" + ("" if cell.splits == 1 else "s")
    return (
        f'<p class="card"><b>{100 * cell.mean:.1f} %</b> {text(name)}'
        f"<br><small>{spread.strip()} over {splits}, test</small></p>"
    )


def _dataset(group: DatasetResults, key: str) -> str:
    notes = "".join(f"<li>{text(note)}</li>" for note in group.notes)
    parts = [
        f'<ul class="notes">{notes}</ul>' if notes else "",
        f"<h3>Scores</h3>{score_tables(group)}",
        f"<h3>Split by split</h3>{_splits_control(group)}{linkage_legend(group)}",
        split_strips(group),
        _trees(group, key),
        '<h3>Training</h3><ul class="legend" aria-label="Lines"><li><span class="sample train">'
        '</span>train</li><li><span class="sample dev"></span>dev (dashed)</li></ul>',
        training_charts(group),
        part_charts(group),
    ]
    alphas = alpha_charts(group)
    parts.append(f"<h3>Alpha, the learned linkage</h3>{alphas}" if alphas else "")
    return "".join(parts)


def _splits_control(group: DatasetResults) -> str:
    splits = sorted({result["split"] for result in group.results})
    options = "".join(f'<option value="{split}">split {split}</option>' for split in splits)
    return (
        '<div class="controls"><label>Highlight <select data-role="highlight" autocomplete="off">'
        f'<option value="">all splits</option>{options}</select></label>'
        '<span class="note">in every chart of this data set</span></div>'
    )


def _trees(group: DatasetResults, key: str) -> str:
    case = group.case
    if case is None:
        return (
            "<h3>Cut and tree</h3>"
            f'<p class="missing"><strong>Left out:</strong> {text(group.no_case)}.</p>'
        )
    of = f"{row_name(case.result)}, split {case.result['split']}, seed {case.result['seed']}"
    return (
        f'<h3>Where to cut</h3><p class="note">{text(of)}: F1 at every possible cut. '
        '<span class="sample test"></span>test, <span class="sample dev"></span>dev (dashed), '
        "| the cut chosen on dev.</p>"
        f"{cut_charts(case, group.linkage)}"
        f'<h3>The tree of a test block</h3><p class="note">{text(of)}.</p>'
        f"{tree_section(case, group.linkage, key)}"
    )
