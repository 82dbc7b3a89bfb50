"""A new store, from a table that was clustered."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from supclust.data.errors import DataError
from supclust.data.files import atomic_folder, require_output
from supclust.data.records.columns import read_columns
from supclust.data.tables.reader import open_table
from supclust.model.locate import load
from supclust.model.trained import RECORDS, TrainedModel
from supclust.resolve.apply import Resolution, clusters_in_order
from supclust.resolve.scoring import Edges
from supclust.resolve.table_model import (
    keys_of,
    require_table_model,
    rules_of,
    takes_all_pairs,
    value_kinds,
    word_frequencies,
)
from supclust.store.batch import TYPES, check_ids
from supclust.store.changes import Changes, Event
from supclust.store.constraints import added, to_table
from supclust.store.folder.key_index import keys_table
from supclust.store.folder.manifest import MODEL, SEGMENTS, Manifest, write_manifest
from supclust.store.folder.segments import SCHEMAS, VALUES, Segment, records_table, write_segment
from supclust.store.new_pairs import rule_keys
from supclust.store.recluster import missing_of


def keeper(
    folder: Path, table: Path, model: TrainedModel, id: str | None
) -> Callable[[Resolution], None]:
    """What makes a store of a table that `resolve_table` clusters; checks first that it can."""
    require_new(folder)
    source = open_table(table)
    kinds = value_kinds(model, source)
    id = id_column(model, source.names, id, source.path)
    check_ids(pa.array(read_columns(source, {id: "text"})[id], pa.string()), id, source.path)
    return lambda resolution: create_store(folder, model, resolution, kinds)


def require_new(folder: Path) -> None:
    """Refuse a folder that holds something, or cannot be written."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError("exists already; name a new folder for the store", folder)
    require_output(folder)


def id_column(model: TrainedModel, names: Sequence[str], id: str | None, path: Path) -> str:
    """The column of ids: that asked for, or that of training, or ``id``."""
    trained = (model.records or {}).get("id")
    column = id or next((name for name in (trained, "id") if name in names), None)
    if column is None or column not in names:
        raise DataError(
            f"a store needs a column of ids that stay; received {column or 'none'}, and the "
            f"columns {', '.join(names[:12])}. Name one with --id",
            path,
        )
    return str(column)


def create_store(
    folder: Path, model: TrainedModel, resolution: Resolution, kinds: dict[str, Any]
) -> None:
    """Write the first version of a store.

    Args:
        folder: that does not exist yet.
        model: that clustered the table.
        resolution: the table, clustered.
        kinds: how the columns of the model are read.
    """
    n, own = len(resolution.ids), frozen(model, resolution.values)
    all_pairs = takes_all_pairs(own, n)
    labels = resolution.scored.forest.labels_at(resolution.threshold)
    clusters = clusters_in_order(labels, resolution.order)[resolution.order]
    ids = pa.array(resolution.ids, pa.string())
    segment = scored_segment(own, ids, resolution.values, kinds, resolution.scored.edges, all_pairs)
    changes = Changes(1, now(), "cluster", (Event("created"),), resolution.scored.pairs, n)
    segment.tables |= {"clusters": clusters_table(np.arange(n), clusters), "log": changes.table}
    if resolution.constraints is not None:
        read = resolution.constraints
        pairs = [
            [pair for pair, is_must in zip(read.pairs, read.must, strict=True) if is_must == must]
            for must in (True, False)
        ]
        segment.tables["constraints"] = to_table(added((), pairs[0], pairs[1], 1))
    with atomic_folder(folder, replace=False) as draft:
        own.save(draft / MODEL)
        name = segment_name(1)
        write_segment(draft / SEGMENTS / name, segment)
        manifest = Manifest(
            version=1,
            segments=(name,),
            rows=n,
            records=n,
            next_cluster=int(clusters.max(initial=-1)) + 1,
            all_pairs=all_pairs,
            threshold=resolution.threshold,
            id=resolution.id,
            columns=kinds,
            model=load(draft / MODEL).digest,
            trained=model.digest,
        )
        write_manifest(draft, manifest)


def scored_segment(
    model: TrainedModel,
    ids: Any,
    values: dict[str, Any],
    kinds: Any,
    edges: Edges,
    all_pairs: bool,
) -> Segment:
    """Records with all their pairs, without clusters and log; rows are in the order of the ids.

    Args:
        model: of the store.
        ids: array of strings.
        values: columns that the model reads.
        kinds: of these.
        edges: scored pairs.
        all_pairs: whether all pairs are candidates, so that no keys are needed.
    """
    schema = pa.schema([(name, TYPES[kind]) for name, kind in kinds.items()])
    tables = {
        "records": records_table(ids, 0),
        VALUES: pa.table(
            [pa.array(values[name], TYPES[kind], from_pandas=True) for name, kind in kinds.items()],
            schema=schema,
        ),
        "pairs": pairs_table(closer(edges, model)),
    }
    if not all_pairs:
        tables["keys"] = keys_table(rule_keys(model, values), 0)
    return Segment(tables)


def frozen(model: TrainedModel, values: dict[str, Any]) -> TrainedModel:
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


def closer(edges: Edges, model: TrainedModel) -> Edges:
    """Pairs that are closer than a pair that is not given."""
    return edges.where(edges.dissimilarity < missing_of(model))


def pairs_table(edges: Edges) -> Any:
    """Scored pairs as a table of a segment."""
    return pa.table(list(edges), schema=SCHEMAS["pairs"])


def clusters_table(rows: Any, clusters: Any) -> Any:
    """Clusters of rows as a table of a segment."""
    return pa.table([rows, clusters], schema=SCHEMAS["clusters"])


def segment_name(version: int) -> str:
    """A name that no other writer uses."""
    return f"{version:06d}-{os.urandom(4).hex()}"


def now() -> str:
    """The time, ISO 8601, UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
