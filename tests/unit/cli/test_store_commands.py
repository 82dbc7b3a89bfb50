"""The commands of a store: cluster --store, update, correct, history."""

import csv

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from store_tables import clusters_of, linear_model, persons, table_of
from supclust import EntityStore
from supclust.cli.main import main


def run(*words):
    return main([str(word) for word in words])


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    records = persons(60, seed=5)
    linear_model().save(folder / "model")
    pq.write_table(table_of(records[:120]), folder / "first.parquet")
    pq.write_table(table_of(records[100:]), folder / "new.parquet")
    return folder, records


@pytest.fixture
def store(tables, tmp_path):
    folder, _ = tables
    words = ("cluster", folder / "first.parquet", "--model", folder / "model")
    assert run(*words, "-o", tmp_path / "out.parquet", "--store", tmp_path / "e") == 0
    return tmp_path / "e"


def test_cluster_makes_a_store_with_the_numbers_of_the_output(store, tmp_path):
    written = pq.read_table(tmp_path / "out.parquet")
    numbers = dict(zip(written["id"].to_pylist(), written["cluster"].to_pylist(), strict=True))
    assert clusters_of(EntityStore.open(store)) == numbers


def test_update_prints_and_writes_what_changed(tables, store, tmp_path, capsys):
    folder, records = tables
    (tmp_path / "gone.csv").write_text(f"id\n{records[0]['id']}\n")
    words = ("update", store, folder / "new.parquet", "--delete", tmp_path / "gone.csv")
    assert run(*words, "-o", tmp_path / "changes.csv", "--model", folder / "model") == 0
    shown = capsys.readouterr().out
    assert f"records: {len(records) - 120} added, 1 deleted" in shown
    assert "clustered again" in shown
    with (tmp_path / "changes.csv").open() as stream:
        events = [row["event"] for row in csv.DictReader(stream)]
    assert events.count("deleted") == 1
    assert events.count("added") == len(records) - 120


def test_export_writes_the_present_clusters(tables, store, tmp_path, capsys):
    folder, records = tables
    assert run("update", store, folder / "new.parquet") == 0
    capsys.readouterr()
    assert run("export", store, "-o", tmp_path / "now.csv") == 0
    assert f"{len(records)} records, " in capsys.readouterr().out
    with (tmp_path / "now.csv").open() as stream:
        written = {row["id"]: int(row["cluster"]) for row in csv.DictReader(stream)}
    assert written == clusters_of(EntityStore.open(store))


def test_correct_list_undo_and_history(tables, store, tmp_path, capsys):
    a, b = (one["id"] for one in tables[1][:2])
    assert run("correct", store, "--together", a, b) == 0
    (tmp_path / "pairs.csv").write_text(f"id_a,id_b,constraint\n{a},{b},must\n")
    assert run("correct", store, "--pairs", tmp_path / "pairs.csv") == 0
    assert run("correct", store, "--undo") == 0
    capsys.readouterr()
    assert run("correct", store, "--list") == 0
    assert capsys.readouterr().out.splitlines()[1].endswith("(undone)")
    assert run("history", store, "--id", a) == 0
    shown = capsys.readouterr().out
    assert "together" in shown
    assert shown.splitlines()[-1].startswith("now in cluster")
    cluster = EntityStore.open(store).cluster_of(a)
    assert run("history", store, "--cluster", cluster) == 0
    assert run("history", store, "-o", tmp_path / "log.parquet") == 0
    assert "together" in pq.read_table(tmp_path / "log.parquet")["event"].to_pylist()


def test_wrong_input_is_refused(tables, store, tmp_path, capsys):
    folder, records = tables
    first = ("cluster", folder / "first.parquet", "--model", folder / "model")
    a, b, c = (one["id"] for one in records[:3])
    (tmp_path / "gone.csv").write_text("id\nnobody\n")
    pq.write_table(table_of([records[0]] * 2), tmp_path / "twice.parquet")
    pq.write_table(pa.table({"id": ["x"]}), tmp_path / "short.parquet")
    linear_model(None).save(tmp_path / "other")
    assert run("correct", store, "--together", a, b, "--together", b, c) == 0
    cases = [
        ((*first, "-o", tmp_path / "o.csv", "--store", store), "exists already"),
        ((*first, "-o", tmp_path / "o.csv", "--store", tmp_path / "n", "--id", "entity"),
         "must be distinct"),
        (("update", store), "received neither"),
        (("update", store, "--delete", tmp_path / "gone.csv"), "no record has the id 'nobody'"),
        (("update", store, tmp_path / "twice.parquet"), "must be distinct"),
        (("update", store, tmp_path / "short.parquet"), "column 'name' not found"),
        (("update", tmp_path, folder / "new.parquet"), "is no entity store"),
        (("update", tmp_path / "nowhere", folder / "new.parquet"), "no such file or folder"),
        (("update", store, "--delete", tmp_path / "gone.csv", "--model", tmp_path / "other"),
         "received another"),
        (("correct", store), "received neither"),
        (("correct", store, "--apart", a, c), f"{a} = {b} = {c}"),
        (("correct", store, "--together", a, "nobody"), "no record has the id 'nobody'"),
        (("correct", store, "--undo", 9), "cannot be undone"),
        (("history", store, "--id", "nobody"), "no record has, or had"),
        (("history", store, "--cluster", 10**6), "no cluster has, or had"),
    ]  # fmt: skip
    for words, problem in cases:
        capsys.readouterr()
        assert run(*words) == 2, words
        assert problem in capsys.readouterr().err, words
        assert EntityStore.open(store).version == 2
