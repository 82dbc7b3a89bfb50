"""A model of the persons of `store_tables`, trained once per process."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import pyarrow.csv

from store_tables import persons, table_of
from supclust.model import load
from supclust.model.trained import TrainedModel

RULES = "zip & first(name), rarest(name), similar(name) & year(born)"


@functools.cache
def trained(rules: str | None = RULES) -> TrainedModel:
    """Its rules given by hand, or chosen."""
    from supclust.cli.main import main

    folder = Path(tempfile.mkdtemp())
    pyarrow.csv.write_csv(table_of(persons(150, seed=1)), folder / "t.csv")
    words = ["fit", str(folder / "t.csv"), "--label", "entity", "-o", str(folder / "m")]
    assert main([*words, *(["--candidates", rules] if rules else [])]) == 0
    return load(folder / "m")
