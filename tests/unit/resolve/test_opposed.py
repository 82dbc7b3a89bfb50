"""Columns whose values records of one entity share less often than others."""

from itertools import combinations

import numpy as np
import pytest

from person_tables import persons, write
from supclust.cli.main import main
from supclust.data.records.table import ColumnChoice, read_records
from supclust.model import load
from supclust.resolve.blocking.table_rules import key_table
from supclust.resolve.opposed import Opposed, hint, opposed_columns


def two_catalogues(entities, seed=0):
    """Two records of every person, one of each source; zip codes are equal or missing."""
    rows, labels = persons(entities, seed)
    kept = [k for k in range(len(rows)) if k % 3 < 2]
    rows = [rows[k] | {"source": ("a", "b")[k % 3]} for k in kept]
    return rows, labels[kept]


def read(path, rows, labels):
    choice = ColumnChoice(label="entity")
    return read_records(write(path, rows, labels), choice)


def test_the_column_of_the_catalogue_is_found(tmp_path):
    rows, labels = two_catalogues(60)
    records = read(tmp_path / "t.csv", rows, labels)
    (found,) = opposed_columns(key_table(records), records, records.labels)
    assert (found.column, found.share) == ("source", 0.0)
    assert found.chance == pytest.approx(59 / 119)
    assert "--distinct source" in hint([found])
    assert opposed_columns(key_table(records), records, np.full(records.n, -1)) == []


def test_shares_are_those_of_all_pairs(tmp_path):
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 5, 200)
    labels = np.repeat(np.arange(200), sizes)
    rows = []
    for k, source in enumerate(np.concatenate([rng.permutation(4)[:size] for size in sizes])):
        named = "" if rng.random() < 0.1 else "abcd"[0 if rng.random() < 0.1 else source]
        rows.append({"name": f"name {k % 97}", "source": named})
    shares, same = {}, []
    for i, j in combinations(range(len(rows)), 2):
        one, other = rows[i]["source"], rows[j]["source"]
        if one and other:
            same.append(one == other)
            if labels[i] == labels[j]:
                shares.setdefault(labels[i], []).append(one == other)
    records = read(tmp_path / "t.csv", rows, labels)
    (found,) = opposed_columns(key_table(records), records, records.labels)
    assert found.share == pytest.approx(np.mean([np.mean(of) for of in shares.values()]))
    assert found.chance == pytest.approx(np.mean(same))
    assert 0 < found.share < found.chance


def test_few_entities_show_nothing(tmp_path):
    rows, labels = two_catalogues(60)
    records = read(tmp_path / "t.csv", rows, labels)
    few = np.where(records.labels < 5, records.labels, -1)
    assert opposed_columns(key_table(records), records, few) == []


def test_values_that_are_equal_in_normal_form_are_shared(tmp_path):
    rows, labels = two_catalogues(60)
    for k, row in enumerate(rows):
        row["source"] = ("Male", "MALE ")[k % 2]
    records = read(tmp_path / "t.csv", rows, labels)
    assert opposed_columns(key_table(records), records, records.labels) == []


def test_a_column_that_is_nearly_constant_shows_nothing(tmp_path):
    rows, labels = two_catalogues(300)
    for k, row in enumerate(rows):
        row["source"] = "FR" if k == 0 else "US"
    records = read(tmp_path / "t.csv", rows, labels)
    only_first = np.where(records.labels == records.labels[0], records.labels, -1)
    assert opposed_columns(key_table(records), records, only_first) == []


def test_the_hint_names_the_column_that_records_share_most_often():
    assert hint([Opposed("x", 0.1, 0.5)]) is None
    assert "--distinct b " in hint([Opposed("a", 0.0, 0.1), Opposed("b", 0.0, 0.5)])


def test_fit_holds_the_same_catalogue_against_a_match(tmp_path, capsys):
    rows, labels = two_catalogues(150)
    known = [f"p{k}" if k < 100 else "" for k in labels]
    table = write(tmp_path / "t.csv", rows, known)
    assert main(["fit", str(table), "--label", "entity", "-o", str(tmp_path / "m")]) == 0
    assert "source: 0% of the pairs of one entity share a value" in capsys.readouterr().out
    model = load(tmp_path / "m")
    marked = [one["column"] for one in model.records["comparisons"] if one.get("opposed")]
    assert marked == ["source"]
    weights = dict(zip(model.feature_names, model.weights["average_weight"], strict=True))
    assert weights["source: same text"] > 0  # the dissimilarity rises
