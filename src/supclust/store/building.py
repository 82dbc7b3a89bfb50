"""The first segment of a store, and of one whose candidates are found in another way than before.

Everything is scored and clustered from scratch; a record keeps its id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.hac.graph.constraints import merged_groups
from supclust.model.trained import RECORDS, TrainedModel
from supclust.resolve.apply import id_order, keys_of, require_table_model, score_values
from supclust.resolve.fit import rules_of, word_frequencies
from supclust.resolve.scoring import Edges, Progress
from supclust.store.batch import Batch, columns_of
from supclust.store.constraints import Constraint, links
from supclust.store.key_index import keys_table
from supclust.store.new_pairs import rule_keys
from supclust.store.segments import SCHEMAS, VALUES, Segment

Ints = NDArray[np.int64]


class Built(NamedTuple):
    """A segment without clusters and log.

    Attributes:
        segment: of records in the order of their ids.
        order: position, among the records given, of every row.
        labels: cluster of every row, numbered from 0.
        pairs: that were compared.
    """

    segment: Segment
    order: Ints
    labels: Ints
    pairs: int


def build(
    batch: Batch,
    model: TrainedModel,
    threshold: float,
    all_pairs: bool,
    constraints: tuple[Constraint, ...] = (),
    say: Callable[[str], None] = lambda line: None,
    progress: Progress | None = None,
) -> Built:
    """Score and cluster records from scratch.

    Args:
        batch: all records.
        model: of the store.
        threshold: height to cut at.
        all_pairs: whether all pairs are candidates, so that no keys are needed.
        constraints: of the store.
        say: receives lines about what is done.
        progress: called with the number of pairs compared, and of all.
    """
    order = id_order(batch.ids)
    at = pa.array(order)
    ids, values = batch.ids.take(at), batch.values.take(at)
    columns = columns_of(values)
    names = ids.to_pylist()
    named = {id for one in constraints for id in (one.id_a, one.id_b)}
    must, cannot = links(constraints, {name: k for k, name in enumerate(names) if name in named})
    try:
        merged_groups(must, cannot, len(names), lambda node: names[node])
    except ValueError as problem:
        raise DataError(str(problem)) from None
    scored = score_values(columns, model, (must, cannot), say, progress)
    tables = {
        "records": pa.table([ids], schema=SCHEMAS["records"]),
        VALUES: values,
        "pairs": pairs_table(closer(scored.edges, model)),
    }
    if not all_pairs:
        tables["keys"] = keys_table(rule_keys(model, columns), 0)
    return Built(Segment(tables), order, scored.forest.labels_at(threshold), scored.pairs)


def closer(edges: Edges, model: TrainedModel) -> Edges:
    """Pairs that are closer than a pair that is not given."""
    kept = edges.dissimilarity < float((model.records or {})["missing"])
    return edges.where(kept)


def pairs_table(edges: Edges) -> Any:
    """Scored pairs as a table of a segment."""
    return pa.table(list(edges), schema=SCHEMAS["pairs"])


def frozen(model: TrainedModel, values: Mapping[str, Any]) -> TrainedModel:
    """The model with all that it reads from a table: how rare words are.

    Models of today have it from training; for others it is counted here, once.
    """
    described = require_table_model(model)
    if "frequencies" in described:
        return model
    rules = rules_of(model)
    counted = word_frequencies(keys_of(model, values, rules), rules)
    record = {**model.record, RECORDS: {**described, "frequencies": counted}}
    return replace(model, record=record)
