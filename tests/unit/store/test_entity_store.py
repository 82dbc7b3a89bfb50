"""The store: updates equal runs from scratch, corrections hold, bad input changes nothing."""

import pytest

from store_tables import clusters_of, from_scratch, linear_model, partition, persons, table_of
from supclust import EntityStore
from supclust.data.errors import DataError


@pytest.fixture(scope="module")
def records():
    return persons(120, seed=3)


@pytest.fixture
def store(records, tmp_path):
    return EntityStore.create(tmp_path / "entities", table_of(records[:200]), linear_model())


def test_new_records_give_the_run_from_scratch(store, records):
    changes = store.update(table_of(records))
    assert changes.count("added") == len(records) - 200
    assert partition(clusters_of(store)) == partition(from_scratch(table_of(records), store.model))
    again = EntityStore.open(store.folder)
    assert clusters_of(again) == clusters_of(store)
    assert again.version == 2


def test_the_same_records_again_change_nothing(store, records):
    assert not store.update(table_of(records[:200])).events
    assert store.version == 1


def test_corrections_hold_and_are_undone(store, records):
    before = clusters_of(store)
    a = records[0]["id"]
    b = next(id for id in before if before[id] != before[a])
    store.correct(together=[(a, b)])
    assert store.cluster_of(a) == store.cluster_of(b)
    store.update(table_of(records))
    assert store.cluster_of(a) == store.cluster_of(b)
    scratch = from_scratch(table_of(records), store.model, together=[(a, b)])
    assert partition(clusters_of(store)) == partition(scratch)
    store.correct(undo=True)
    assert partition(clusters_of(store)) == partition(from_scratch(table_of(records), store.model))


def test_a_contradiction_shows_its_chain(store, records):
    a, b, c = (one["id"] for one in records[:3])
    store.correct(together=[(a, b), (b, c)])
    with pytest.raises(ValueError, match=f"{a} = {b} = {c}. Leave it out, or undo an earlier one"):
        store.correct(apart=[(a, c)])
    assert store.version == 2


def test_parts_of_a_component(store, records):
    id = records[0]["id"]
    nodes = store.tree(store.component_of(id))
    assert id in nodes.ids
    assert nodes.to_scipy().shape == (len(nodes.ids) - 1, 4)
    pairs = store.pairs_of(store.component_of(id))
    assert set(pairs["left"].to_pylist()) <= set(nodes.ids)
    assert pairs.equals(store.pairs_of(nodes.ids))
    assert store.records([id])["name"].to_pylist() == [records[0]["name"]]


def test_bad_input_changes_nothing(store, records):
    with pytest.raises(DataError, match="distinct"):
        store.update(table_of([*records, records[-1]]))
    with pytest.raises(DataError, match="no record has the id 'nobody'"):
        store.update(delete=["nobody"])
    with pytest.raises(DataError, match="to be deleted, and among"):
        store.update(table_of(records[:3]), delete=[records[0]["id"]])
    assert EntityStore.open(store.folder).version == 1
