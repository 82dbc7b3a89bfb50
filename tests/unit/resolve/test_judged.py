"""Judged pairs as supervision, alone and beside labels."""

import csv

import numpy as np
import pytest

from person_tables import persons, write
from supclust.cli.main import main
from supclust.data.errors import DataError
from supclust.data.records.judged_pairs import JudgedPairs
from supclust.hac import graph_linkage
from supclust.metrics import pairwise_scores
from supclust.model import load
from supclust.resolve.judged import judged_curve, with_matches
from supclust.resolve.training_pairs import LabelledPairs as TrainingPairs


def judged(pairs):
    left, right, match = (np.array(part) for part in zip(*pairs, strict=True))
    return JudgedPairs(left, right, match.astype(bool), 0)


def write_pairs(path, pairs):
    with path.open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["id_a", "id_b", "match"])
        out.writerows(pairs)


def test_matches_complete_labels():
    pairs = judged([(0, 1, 1), (1, 2, 1), (3, 4, 1), (5, 0, 0)])
    assert with_matches(np.array([-1, 7, -1, -1, -1, -1]), pairs).tolist() == [7, 7, 7, 8, 8, -1]


@pytest.mark.parametrize(
    ("labels", "pairs", "message"),
    [
        ([0, 1, -1], [(0, 2, 1), (1, 2, 1)], "connected to another"),
        ([-1, -1, -1], [(0, 1, 1), (1, 2, 1), (0, 2, 0)], "do not match although"),
        ([3, 3, -1], [(0, 1, 0)], "do not match although"),
    ],
)
def test_contradictions_are_refused(labels, pairs, message):
    with pytest.raises(DataError, match=message):
        with_matches(np.array(labels), judged(pairs))


def test_the_curve_is_that_of_the_pairs_at_every_threshold():
    rng = np.random.default_rng(0)
    n = 40
    a, b = np.triu_indices(n, 1)
    kept = rng.random(len(a)) < 0.2
    edges = (a[kept], b[kept], rng.normal(0, 2, int(kept.sum())))
    forest = graph_linkage(edges, n, "exp", alpha=0.0, missing=3.0)
    some = rng.choice(len(a), 60, replace=False)
    weight = rng.random(60)
    pairs = TrainingPairs(a[some], b[some], rng.random(60) < 0.4, weight)
    curve = judged_curve(forest, pairs)
    for k in np.flatnonzero(np.isfinite(curve.thresholds)):
        clusters = forest.labels_at(curve.thresholds[k])
        together = clusters[pairs.left] == clusters[pairs.right]
        right, true = weight[together & pairs.same].sum(), weight[pairs.same].sum()
        assert curve.recall[k] == pytest.approx(right / true)
        assert curve.f1[k] == pytest.approx(2 * right / (weight[together].sum() + true))


@pytest.fixture
def table(tmp_path):
    """A table of persons, 300 judged pairs of them, half of these matches."""
    rows, labels = persons(120)
    rng = np.random.default_rng(1)
    path = tmp_path / "table.csv"
    write(path, [{"id": f"r{k}", **row} for k, row in enumerate(rows)], labels)
    pairs = []
    for _ in range(150):
        entity = rng.integers(120)
        a, b = rng.choice(np.flatnonzero(labels == entity), 2, replace=False)
        pairs.append((f"r{a}", f"r{b}", 1))
        same_name = [k for k in range(len(rows)) if rows[k]["given"] == rows[a]["given"]]
        other = [k for k in same_name if labels[k] != labels[a]]
        pairs.append((f"r{a}", f"r{rng.choice(other)}", 0))
    write_pairs(tmp_path / "pairs.csv", dict.fromkeys(pairs))
    return path, labels


def test_judged_pairs_alone_are_enough(table, tmp_path, capsys):
    path, labels = table
    model, out = tmp_path / "model", tmp_path / "entities.csv"
    words = ["fit", str(path), "--pairs", str(tmp_path / "pairs.csv"), "--ignore", "entity"]
    assert main([*words, "-o", str(model)]) == 0
    said = capsys.readouterr().out
    assert "that do not" in said
    assert "of the judged pairs" in said
    assert load(model).record["bcubed"] is None
    assert main(["cluster", str(path), "--model", str(model), "-o", str(out)]) == 0
    with out.open() as stream:
        found = [row["cluster"] for row in csv.DictReader(stream)]
    assert pairwise_scores(labels, found).f1 > 0.95


def test_judged_pairs_go_beside_labels(table, tmp_path):
    path, _ = table
    words = ["fit", str(path), "--label", "entity", "--pairs", str(tmp_path / "pairs.csv")]
    assert main([*words, "-o", str(tmp_path / "model")]) == 0
    assert load(tmp_path / "model").record["dev"]["pairwise_f1"] > 0.95
