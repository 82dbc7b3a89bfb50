"""Clustering a bare table: which columns are read."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from store_tables import clusters_of, from_scratch, linear_model, partition, persons, table_of
from supclust import EntityStore
from supclust.data.errors import DataError


def test_rules_may_name_columns_that_are_not_compared(tmp_path) -> None:
    model = linear_model()
    described = dict(model.records)
    described["columns"] = {**described["columns"], "town": "code"}
    described["candidates"] = [{"rule": "town & zip"}, *described["candidates"]]
    model = replace(model, record={"records": described})
    records = persons(60, seed=2)
    table = table_of(records)
    towns = pa.array([one["entity"] for one in records], pa.string())
    whole = table.append_column("town", towns)
    expected = partition(from_scratch(whole, model))
    assert len(expected) < len(records)
    store = EntityStore.create(tmp_path / "e", whole.slice(0, 50), model)
    store.update(whole)
    assert partition(clusters_of(store)) == expected
    with pytest.raises(DataError, match="town"):
        from_scratch(table, model)
