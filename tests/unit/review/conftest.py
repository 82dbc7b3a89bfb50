"""A store of persons whose merges are worth asking about."""

import shutil

import pytest

from store_tables import persons, table_of
from supclust import EntityStore
from trained_persons import trained


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store") / "entities"
    return EntityStore.create(folder, table_of(persons(120, seed=3)), trained())


@pytest.fixture
def store(made, tmp_path):
    """A copy that may be changed."""
    shutil.copytree(made.folder, tmp_path / "entities")
    return EntityStore.open(tmp_path / "entities")
