"""Samples of the historical records, and a model of them; only where the data set is there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

LABELLED = 4_000


def _records() -> Any:
    path = Path(os.environ.get("SUPCLUST_DATA", "data"), "historical_50k", "records.parquet")
    return pq.read_table(path) if path.exists() else None


def trained(folder: Path) -> Any:
    """A model of the first clusters of the set; ``None`` where the set is not there."""
    from supclust.cli.main import main
    from supclust.model import load

    table = _records()
    if table is None:
        return None
    pq.write_table(table.slice(0, LABELLED), folder / "labelled.parquet")
    words = ["fit", folder / "labelled.parquet", "--label", "cluster", "--id", _id(table)]
    if main([str(word) for word in (*words, "-o", folder / "historical")]) != 0:
        raise RuntimeError("the model of the historical records could not be fitted")
    return load(folder / "historical")


def _id(table: Any) -> str:
    return next(name for name in table.column_names if "id" in name.lower())


def sample(n: int, seed: int) -> list[dict[str, str | None]]:
    """About n records of whole clusters, with an ``id``."""
    table = _records()
    rng = np.random.default_rng(seed)
    clusters = np.array(table["cluster"].to_pylist())
    names = rng.permutation(np.unique(clusters))
    chosen = np.flatnonzero(np.isin(clusters, names[: n // 8]))[:n]
    id = _id(table)
    rows = table.take(chosen).to_pylist()
    columns = [name for name in table.column_names if name not in (id, "cluster")]
    return [
        {"id": str(row[id]), **{k: None if row[k] is None else str(row[k]) for k in columns}}
        for row in rows
    ]
