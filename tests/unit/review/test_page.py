"""The report of a store: merges with their waterfalls, confidence, escaped text."""

from __future__ import annotations

import math

import numpy as np
import pytest

from store_tables import clusters_of, persons, table_of
from supclust import EntityStore
from supclust.cli.main import main
from supclust.report.training import calibration_chart
from supclust.review.stored import StoredComponent
from trained_persons import trained


def test_report_of_a_store(made, tmp_path) -> None:
    path = tmp_path / "page.html"
    assert main(["report", str(made.folder), "-o", str(path)]) == 0
    content = path.read_text()
    assert "Merges that decide most" in content
    assert "Calibration of the confidence" in content
    assert content.count('<th scope="row">height</th>') == 12
    assert "http-equiv" in content  # with a content security policy


def test_hostile_ids_are_escaped(tmp_path) -> None:
    records = persons(60, seed=5)
    for one in records:
        one["id"] = f"<script>{one['id']}</script>"
    store = EntityStore.create(tmp_path / "e", table_of(records), trained())
    assert main(["report", str(store.folder), "-o", str(tmp_path / "p.html")]) == 0
    content = (tmp_path / "p.html").read_text()
    assert "<script>r" not in content
    assert "&lt;script&gt;r" in content


def test_confidence_of_a_store_is_that_of_its_components(made) -> None:
    table = made.confidence()
    clusters = clusters_of(made)
    assert table.column_names == ["id", "cluster", "confidence", "margin"]
    for row in table.to_pylist()[::9]:
        assert row["cluster"] == clusters[row["id"]]
        found = StoredComponent.of(made, row["id"])
        expected = found.facts["confidence"][found.node[row["id"]]]
        if math.isnan(expected):
            assert row["confidence"] is None
        else:
            assert row["confidence"] == pytest.approx(expected)
    assert np.isfinite(table["margin"].to_numpy()).all()


def test_models_without_confidence_have_no_chart() -> None:
    assert calibration_chart({}) is None
    assert calibration_chart({"confidence": None}) is None
