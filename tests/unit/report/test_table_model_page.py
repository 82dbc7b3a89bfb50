"""The report of a model of a bare table."""

import numpy as np
import pytest

from person_tables import persons, write
from supclust.cli.main import main
from supclust.hac import graph_linkage
from supclust.report.table_model_page import doubtful_merges
from supclust.resolve import apply
from supclust.resolve.apply import score_values


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    rows, labels = persons(60)
    rows[0]["surname"] = "<b>smith</b>"
    write(folder / "table.csv", rows, labels)
    words = ["fit", str(folder / "table.csv"), "--label", "entity", "-o", str(folder / "model")]
    assert main(words) == 0
    return folder


def test_the_page_shows_rules_features_merges_and_trees(model, tmp_path):
    page = tmp_path / "page.html"
    words = ["report", str(model / "model"), "--data", str(model / "table.csv"), "-o", str(page)]
    assert main(words) == 0
    text = page.read_text()
    for part in ("never compared", "surname: ", "doubtful merges", "component ", "Where to cut"):
        assert part in text
    assert "<b>smith" not in text


def test_the_page_clusters_in_the_order_of_ids_as_the_command_does(tmp_path, monkeypatch):
    rows, labels = persons(40)
    rows = [{"id": f"r{k:03d}", **row} for k, row in enumerate(rows)]
    folder = tmp_path / "model"
    words = ["--label", "entity", "--id", "id", "-o", str(folder)]
    assert main(["fit", str(write(tmp_path / "t.csv", rows, labels)), *words]) == 0
    shuffled = write(tmp_path / "s.csv", rows[::-1], labels[::-1])
    seen = []

    def score(values, *rest):
        seen.append(values["surname"])
        return score_values(values, *rest)

    monkeypatch.setattr(apply, "score_values", score)
    assert (
        main(["report", str(folder), "--data", str(shuffled), "-o", str(tmp_path / "p.html")]) == 0
    )
    assert seen == [[row["surname"] or None for row in rows]]


def test_without_data_the_page_shows_what_was_learned(model, tmp_path):
    page = tmp_path / "page.html"
    assert main(["report", str(model / "model"), "-o", str(page)]) == 0
    text = page.read_text()
    assert "Which records are compared" in text
    assert "Some components" not in text


def test_doubtful_merges_are_nearest_to_the_cut_one_of_a_component():
    left, right = np.array([0, 1, 3, 5]), np.array([1, 2, 4, 6])
    forest = graph_linkage((left, right, np.array([0.0, 0.9, 1.1, 5.0])), 7, "single")
    found = doubtful_merges(forest, 1.0, most=2)
    assert [(height, a.tolist(), b.tolist()) for height, a, b in found] in (
        [(0.9, [0, 1], [2]), (1.1, [3], [4])],
        [(0.9, [2], [0, 1]), (1.1, [3], [4])],
    )
