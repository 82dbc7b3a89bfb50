"""Update = batch: random sequences of updates and corrections against the run from scratch."""

import pytest

from store_sequences import Life
from store_tables import linear_model, persons
from supclust.resolve import table_model
from supclust.resolve.blocking import candidates
from supclust.store import entity_store


@pytest.fixture
def small_limits(monkeypatch):
    """Limits that small tables cross: of all pairs, of records that share a key, of segments."""
    monkeypatch.setattr(table_model, "ALL_PAIRS", 60)
    monkeypatch.setattr(candidates, "LARGEST_GROUP", 6)
    monkeypatch.setattr(entity_store, "MOST_SEGMENTS", 3)


@pytest.mark.parametrize("seed", range(20))
def test_by_rules_with_keys_that_too_many_share(seed, tmp_path, small_limits):
    life = Life(tmp_path / "s", linear_model(), persons(60, seed), seed)
    for _ in range(6):
        life.step()


@pytest.mark.parametrize("seed", range(10))
def test_across_the_limit_of_all_pairs(seed, tmp_path, small_limits):
    life = Life(tmp_path / "s", linear_model(None), persons(30, seed), seed)
    for _ in range(6):
        life.step()
