"""The report of an entity store: its merges explained, and how sure its clusters are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supclust.explain.records import explain_sides
from supclust.report.page import page, render, write_page
from supclust.report.training import calibration_chart
from supclust.review.answers import active_constraints
from supclust.review.questions import Question, questions
from supclust.review.stored import StoredComponent
from supclust.store.entity_store import EntityStore

MERGES = 12
"""Merges that are shown."""
_CLUSTERS = 20  # least certain clusters that are listed
_MEMBERS = 8  # records of a side or cluster that are named
_COLUMNS = 10  # parts of a waterfall


def write_store_report(folder: Path, path: Path) -> Path:
    """Write the page of a store.

    Args:
        folder: of the store.
        path: of the page.
    """
    store = EntityStore.open(folder)
    trees = store.trees()
    asked = questions(trees.forest, trees.ids, store.threshold, MERGES)
    merges = render(
        "store_merges.html",
        merges=[_merge(store, one) for one in asked],
        threshold=store.threshold,
        most=_MEMBERS,
    )
    table = store.confidence()
    clusters = table.column("cluster").to_numpy()
    corrections = len({one["correction"] for one in active_constraints(store)})
    cards = [
        (f"{len(store):,}", "records", f"{len(np.unique(clusters)):,} clusters"),
        (f"{corrections:,}", "corrections", "that hold"),
    ]
    sections = [("merges", "Merges that decide most", merges)]
    if "confidence" in table.column_names:
        ids = table.column(store.id).to_pylist()
        each = table.column("confidence").to_numpy()
        shown = render(
            "store_confidence.html",
            charts=[chart for chart in [calibration_chart(store.model.record)] if chart],
            clusters=_least_certain(ids, clusters, each),
            most=_MEMBERS,
        )
        sections.insert(0, ("confidence", "How sure the clusters are", shown))
        cards.append((f"{100 * np.nanmean(each):.1f} %", "mean confidence", "of a record"))
    lead = render("store_lead.html", version=store.version, cards=cards)
    return write_page(path, page(f"Entity store {folder.resolve().name}", lead, sections))


def _merge(store: EntityStore, question: Question) -> dict[str, Any]:
    stored = StoredComponent.of(store, question.left[0])
    left, right = (
        np.array([stored.node[id] for id in side]) for side in (question.left, question.right)
    )
    facts = explain_sides(stored.component, stored.ids, left, right)
    waterfall = facts["waterfall"]
    rows = list(waterfall["columns"].items())[:_COLUMNS]
    rest = sum(waterfall["columns"].values()) - sum(part for _, part in rows)
    rows += [("other columns", rest)] if len(waterfall["columns"]) > _COLUMNS else []
    rows += [("always", waterfall["always"])]
    rows += [("pairs not compared or not close", waterfall["not_given"])]
    largest = max(abs(part) for _, part in rows) or 1.0
    return {**facts, "merged": question.merged, "rows": rows, "largest": largest}


def _least_certain(
    ids: list[str], clusters: np.ndarray[Any, Any], confidence: np.ndarray[Any, Any]
) -> list[tuple[int, float, list[str]]]:
    """Clusters of several records with the lowest mean confidence, their records by confidence."""
    names, inverse, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    mean = np.bincount(inverse, confidence) / sizes
    several = sizes > 1
    most = mean[several].max(initial=-np.inf)
    listed = []
    for k in np.argsort(np.where(several, mean, np.inf), kind="stable")[:_CLUSTERS]:
        if several[k] and mean[k] < most:  # equally certain clusters are not listed
            rows = np.flatnonzero(inverse == k)
            rows = rows[np.argsort(confidence[rows], kind="stable")]
            listed.append((int(names[k]), float(mean[k]), [ids[int(row)] for row in rows]))
    return listed
