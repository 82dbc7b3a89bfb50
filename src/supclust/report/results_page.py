"""The page of a folder of results: scores, cuts, trees, training, failures, provenance."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from supclust.experiment.checks import flat
from supclust.model.aggregate import METRICS
from supclust.report.charts import COLOURS
from supclust.report.data import DatasetResults, Report
from supclust.report.page import page, render, write_page
from supclust.report.scores import cut_charts, in_order, marker_of, score_tables, split_strips
from supclust.report.training import training_charts
from supclust.report.tree_section import tree_section

MOST_VALUES = 6


def write_report(report: Report, path: Path) -> Path:
    """Write the page of a folder of results atomically."""
    return write_page(path, results_page(report))


def results_page(report: Report) -> str:
    """The page of a folder of results."""
    sections = []
    for i, group in enumerate(report.groups):
        name = group.dataset if len(report.groups) == 1 else f"{group.dataset} ({group.source})"
        sections.append((f"data-{i}", name, render("dataset.html", **_dataset(group, f"tree{i}"))))
    failures = render("failures.html", failed=report.failed, unreadable=report.unreadable)
    sections.append(("failed", f"Failed runs ({len(report.failed)})", failures))
    origin = [(group.dataset, provenance(group)) for group in report.groups]
    provenances = render("provenance.html", groups=origin)
    sections.append(("provenance", "Where the numbers come from", provenances))
    lead = render(
        "results_lead.html",
        stand_ins=[group.dataset for group in report.groups if group.source == "stand-in"],
        headlines=[_headline(group) for group in report.groups],
        finished=sum(len(group.results) for group in report.groups),
        failed=len(report.failed),
    )
    names = ", ".join(dict.fromkeys(group.dataset for group in report.groups))
    return page(f"Clustering results: {names}" if names else "Clustering results", lead, sections)


def _headline(group: DatasetResults) -> dict[str, Any]:
    """Scores of the best objective, and the objectives not significantly below it."""
    shown = {
        cell.metric: cell
        for cell in group.cells
        if (cell.objective, cell.linkage) == (group.best, group.linkage)
    }
    ties = [
        cell.objective
        for cell in group.cells
        if (cell.metric, cell.linkage) == ("dendrogram_purity", group.linkage)
        and cell.mark in ("", "best")
        and cell.objective != group.best
    ]
    cards = [(name, shown[metric]) for metric, name in METRICS.items() if metric in shown]
    return {"group": group, "ties": ties, "cards": cards}


def _dataset(group: DatasetResults, key: str) -> dict[str, Any]:
    values: dict[str, Any] = {
        "group": group,
        "tables": score_tables(group),
        "strips": split_strips(group),
        "markers": [(marker_of(n), n) for n in in_order(cell.linkage for cell in group.cells)],
        "colours": COLOURS,
        "splits": sorted({result["split"] for result in group.results}),
        "training": training_charts(group),
    }
    if group.trees is not None:
        values["cuts"] = cut_charts(group.trees, group.linkage)
        values["tree"] = tree_section(group.trees, group.linkage, key)
    return values


def provenance(group: DatasetResults) -> dict[str, Any]:
    """Versions, commit, data and settings of the results on one data set."""
    results = group.results
    digests = _values(_short(result["config"].get("data")) for result in results)
    facts = [
        ("data", f"{group.source}, SHA-256 {digests}"),
        ("notes", "; ".join(group.notes) or "none"),
        ("commit", _values(r.get("commit") for r in results) or "not recorded"),
    ]
    for name in dict.fromkeys(key for r in results for key in r.get("versions", {})):
        facts.append((name, _values(r.get("versions", {}).get(name) for r in results)))
    seconds = [r["seconds"] for r in results if isinstance(r.get("seconds"), int | float)]
    facts.append(("training time", f"{sum(seconds):.0f} s for {len(seconds)} results"))
    facts.append(("trees recomputed", _recomputed(group)))
    settings = [flat(r["config"]) for r in results]
    keys = [k for k in dict.fromkeys(k for s in settings for k in s) if k not in ("data", "split")]
    return {
        "facts": facts,
        "settings": [(key, _values(s.get(key) for s in settings)) for key in keys],
        "hashes": [(result, _short(result["config_hash"])) for result in results],
    }


def _recomputed(group: DatasetResults) -> str:
    """Whether the recomputed trees have the stored scores."""
    if group.trees is None:
        return f"no: {group.no_trees}"
    pairs = [(t.f1_recomputed, t.f1_stored) for t in group.trees.linkages.values()]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    worst = max((abs(a - b) for a, b in known), default=0.0)
    if worst <= 1e-6:
        return f"yes; {len(known)} test F1 scores agree with the stored ones"
    return f"yes, but a test F1 score differs from the stored one by {worst:.2g}"


def _values(values: Iterable[Any]) -> str:
    """The different values, as text."""
    known = list(dict.fromkeys(str(value) for value in values if value is not None))
    more = f" and {len(known) - MOST_VALUES} more" if len(known) > MOST_VALUES else ""
    return ", ".join(known[:MOST_VALUES]) + more


def _short(digest: Any) -> str:
    return str(digest)[:16]
