"""Tables of persons for tests of the store, a model of them, and the run from scratch."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from supclust.cluster.table import Options
from supclust.data.layouts.link_pairs import LinkPairs
from supclust.data.records.learning import learn_comparisons
from supclust.model.trained import TrainedModel
from supclust.resolve.apply import resolve_table
from supclust.resolve.blocking.keys import KeyColumn
from supclust.resolve.blocking.rules import KeyTable, parse_rules
from supclust.resolve.pair_model import Logistic
from supclust.resolve.table_model import word_frequencies

LETTERS = list("abcdefghijklmnopqrstuvwxyz")
FIRST = ["ann", "bob", "carl", "dora", "emil", "fritz", "gina", "hans", "ida", "jonas", "mia"]


def persons(entities: int, seed: int = 0) -> list[dict[str, str | None]]:
    """Records of persons, one to five each, with typos and missing values, in random order."""
    rng = np.random.default_rng(seed)
    rows = []
    surnames = ["".join(rng.choice(LETTERS, 6)) for _ in range(max(3, entities // 2))]
    for k in range(entities):
        first, last = FIRST[rng.integers(len(FIRST))], surnames[rng.integers(len(surnames))]
        born = f"{rng.integers(1940, 2000)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}"
        zip_code = f"{rng.integers(100, 130)}00"
        for _ in range(rng.integers(1, 6)):
            typed = list(last)
            if rng.random() < 0.3:
                typed[rng.integers(6)] = LETTERS[rng.integers(26)]
            rows.append(
                {
                    "name": f"{first if rng.random() < 0.9 else first[:1]} {''.join(typed)}",
                    "born": born if rng.random() < 0.8 else None,
                    "zip": zip_code if rng.random() < 0.8 else None,
                    "entity": f"e{k}",
                }
            )
    order = rng.permutation(len(rows))
    return [{"id": f"r{rng.integers(10**6)}x{at}", **rows[k]} for at, k in enumerate(order)]


def table_of(records: list[dict[str, str | None]]) -> pa.Table:
    names = ["id", "name", "born", "zip", "entity"]
    return pa.table({n: pa.array([one[n] for one in records], pa.string()) for n in names})


RULES = "zip & first(name), rarest(name), similar(name) & year(born)"
WEIGHTS = {
    "name: same text": -2.0,
    "name: edit similarity": -9.0,
    "name: shared rare words": -1.5,
    "born: same date": -2.0,
    "born: missing": -0.7,
    "zip: same code": -1.5,
    "zip: missing": -0.6,
}


@functools.cache
def linear_model(rules: str | None = RULES, alpha: float = -0.2, **described) -> TrainedModel:
    """A model of persons with weights by hand, so that tests need no training.

    Args:
        rules: given by hand; ``None``: chosen, so that all pairs of small tables are candidates.
        alpha: of the linkage.
        described: further entries of the description of the table.
    """
    kinds = {"name": "text", "born": "date", "zip": "code"}
    table = table_of(persons(150, seed=1))
    values = {name: table[name].to_pylist() for name in kinds}
    left, right = np.triu_indices(len(table), 1)
    comparisons = learn_comparisons(kinds, values, left[::97], right[::97])
    parsed = parse_rules(rules or RULES, [*kinds, *filter(None, [described.get("block")])])
    names = comparisons.feature_names
    weight = np.array([WEIGHTS.get(name, 0.0) for name in names])
    made = Logistic(weight, 10.5)
    keys = KeyTable({name: KeyColumn.of(values[name], kind) for name, kind in kinds.items()})
    records = {
        "layout": "table",
        "id": "id",
        "columns": kinds,
        "comparisons": comparisons.to_json(),
        "candidates": [{"rule": str(rule)} for rule in parsed],
        "frequencies": word_frequencies(keys, parsed),
        "given": rules is not None,
        "missing": 4.0,
        **described,
    }
    return TrainedModel(
        made.spec, made.weights, "pairs", names, "exp", alpha, 0.0, record={"records": records}
    )


def from_scratch(records: pa.Table, model, together=(), apart=(), threshold=None) -> dict[str, int]:
    """Clusters by id, of `resolve_table` on all records: what a store must equal."""
    with tempfile.TemporaryDirectory() as name:
        path, out = Path(name) / "t.parquet", Path(name) / "c.parquet"
        pa.parquet.write_table(records, path)
        pairs = tuple((a, b) for a, b in (*together, *apart))
        must = (True,) * len(together) + (False,) * len(apart)
        links = LinkPairs(pairs, must, path) if pairs else None
        resolve_table(path, model, out, Options(id="id", threshold=threshold, constraints=links))
        found = pa.parquet.read_table(out)
    return dict(zip(found["id"].to_pylist(), found["cluster"].to_pylist(), strict=True))


def partition(clusters: dict[str, int]) -> set[frozenset[str]]:
    groups: dict[int, set[str]] = {}
    for id, cluster in clusters.items():
        groups.setdefault(cluster, set()).add(id)
    return {frozenset(group) for group in groups.values()}


def clusters_of(store) -> dict[str, int]:
    found = store.clusters()
    return dict(zip(*(column.to_pylist() for column in found.columns), strict=True))
