"""Blocks, records that are never of one entity, old models, damaged and busy stores."""

import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from store_sequences import Life
from store_tables import clusters_of, from_scratch, linear_model, partition, persons, table_of
from supclust import EntityStore
from supclust.data.errors import DataError
from supclust.resolve.apply import resolve_table
from supclust.resolve.blocking import candidates
from supclust.store.folder.manifest import writing


@pytest.mark.parametrize("seed", range(4))
def test_candidates_of_blocks(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(candidates, "LARGEST_IN_BLOCK", 6)
    model = linear_model("zip & first(name) & city, rarest(name) & city", block="city")
    records = [{**one, "city": one["entity"][-1]} for one in persons(60, seed)]
    life = Life(tmp_path / "s", model, records, seed)
    for _ in range(5):
        life.step()


@pytest.mark.parametrize("seed", range(2))
def test_a_model_with_larger_groups(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(candidates, "LARGEST_GROUP", 2)
    model = linear_model("zip & first(name), rarest(name)", largest_group=5)
    life = Life(tmp_path / "s", model, persons(60, seed), seed)
    for _ in range(5):
        life.step()


@pytest.mark.parametrize("limit", [3, "many", None])
def test_a_damaged_limit_of_groups_is_refused(limit, tmp_path):
    model = linear_model("zip & first(name)", largest_group=limit)
    with pytest.raises(DataError, match="largest_group of a model must be a number from 1,000 on"):
        EntityStore.create(tmp_path / "s", table_of(persons(20, 0)), model)


@pytest.mark.parametrize("seed", range(4))
def test_records_with_one_value_of_distinct_stay_apart(seed, tmp_path):
    model = linear_model(distinct="source")
    records = [{**one, "source": f"s{k % 3}"} for k, one in enumerate(persons(60, seed))]
    life = Life(tmp_path / "s", model, records, seed)
    for _ in range(5):
        life.step()
    sources = {one["id"]: one["source"] for one in life.here.values()}
    for group in partition(clusters_of(life.store)):
        if not life.corrections:
            assert len({sources[id] for id in group}) == len(group)


def test_a_model_without_frequencies_gets_those_of_the_first_table(tmp_path):
    model = linear_model()
    described = {k: v for k, v in model.records.items() if k != "frequencies"}
    old = replace(model, record={"records": described})
    records = persons(60, seed=2)
    store = EntityStore.create(tmp_path / "s", table_of(records[:100]), old)
    first = from_scratch(table_of(records[:100]), old)
    assert partition(clusters_of(store)) == partition(first)
    assert set(store.model.records["frequencies"]) == {"name"}
    store.update(table_of(records[100:]))
    assert partition(clusters_of(store)) == partition(from_scratch(table_of(records), store.model))
    old.save(tmp_path / "old")
    store.require_model(tmp_path / "old")  # it was made with this one


def test_an_empty_store_is_filled_again(tmp_path):
    records = persons(20, seed=2)
    store = EntityStore.create(tmp_path / "s", table_of(records), linear_model(None))
    used = set(clusters_of(store).values())
    store.update(delete=[one["id"] for one in records])
    assert len(store) == 0
    assert len(EntityStore.open(store.folder).clusters()) == 0
    store.update(table_of(records))
    assert partition(clusters_of(store)) == partition(from_scratch(table_of(records), store.model))
    assert not used & set(clusters_of(store).values())


def test_order_of_rows_does_not_matter(tmp_path):
    records = persons(80, seed=4)
    found = []
    for k, order in enumerate((records, records[::-1])):
        pq.write_table(table_of(order), tmp_path / f"{k}.parquet")
        resolve_table(tmp_path / f"{k}.parquet", linear_model(), tmp_path / f"{k}.out.parquet")
        table = pq.read_table(tmp_path / f"{k}.out.parquet")
        found.append(dict(zip(table["id"].to_pylist(), table["cluster"].to_pylist(), strict=True)))
    assert partition(found[0]) == partition(found[1])


@pytest.fixture
def store(tmp_path):
    return EntityStore.create(tmp_path / "s", table_of(persons(30, seed=1)), linear_model())


def test_a_store_that_is_being_written_is_refused(store):
    new = table_of(persons(3, seed=9))
    with writing(store.folder):
        with pytest.raises(DataError, match="being written by another process"):
            store.update(new)
        assert len(EntityStore.open(store.folder)) == len(store)  # reading goes on
    store.update(new)


def test_two_writers_take_turns(store):
    other = EntityStore.open(store.folder)
    first, second = persons(3, seed=8), persons(3, seed=9)
    store.update(table_of(first))
    other.update(table_of(second))
    assert other.version == 3
    assert {one["id"] for one in (*first, *second)} <= set(clusters_of(other))


def test_another_version_and_damage_are_refused(store):
    path = store.folder / "store.json"
    described = json.loads(path.read_text())
    path.write_text(json.dumps({**described, "format": 9}))
    with pytest.raises(DataError, match="received format 9"):
        EntityStore.open(store.folder)
    for field, value in (("rows", 7), ("segments", ["../x"]), ("version", "a"), ("model", "x")):
        path.write_text(json.dumps({**described, field: value}))
        with pytest.raises(DataError):
            EntityStore.open(store.folder)
    path.write_text(json.dumps(described))
    (segment,) = (store.folder / "segments").iterdir()
    for name in ("pairs", "clusters", "records"):
        content = (segment / f"{name}.parquet").read_bytes()
        (segment / f"{name}.parquet").write_bytes(content[: len(content) // 2])
        with pytest.raises(DataError, match="is damaged"):
            EntityStore.open(store.folder)
        (segment / f"{name}.parquet").write_bytes(content)
    pairs = pq.read_table(segment / "pairs.parquet")
    wrong = pairs.set_column(0, "left", pa.array([10**6] * len(pairs), pa.int32()))
    pq.write_table(wrong, segment / "pairs.parquet")
    with pytest.raises(DataError, match="rows must lie between"):
        EntityStore.open(store.folder)


def test_data_frames_and_numbers(tmp_path):
    pandas = pytest.importorskip("pandas")
    records = persons(30, seed=1)
    store = EntityStore.create(tmp_path / "s", pandas.DataFrame(records[:60]), linear_model())
    store.update(pandas.DataFrame(records[60:]))
    assert partition(clusters_of(store)) == partition(from_scratch(table_of(records), store.model))
