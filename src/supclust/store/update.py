"""A change of a store, worked out: the segment that makes it, and what it changes.

Update = batch: only pairs of new records are scored and only components that they touch are
clustered again, and the clusters are those of a run from scratch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from supclust.resolve.kept_apart import components
from supclust.resolve.pair_model import pair_model
from supclust.resolve.scoring import Edges, PairList, score_candidates
from supclust.resolve.table_model import compared
from supclust.store.batch import Batch, columns_of, flat
from supclust.store.changes import Moves
from supclust.store.constraints import Constraint, links
from supclust.store.creation import closer, clusters_table, pairs_table
from supclust.store.folder.key_index import keys_table
from supclust.store.folder.segments import SCHEMAS, VALUES, Segment, records_table
from supclust.store.folder.state import State, rows_by_id
from supclust.store.identity import matched_ids
from supclust.store.new_pairs import PairChanges, all_new_pairs, changed_pairs
from supclust.store.recluster import Nodes, clustered, missing_of

Ints = NDArray[np.int64]


class Change(NamedTuple):
    """What is to change.

    Attributes:
        batch: records that are new or have other values.
        replaced: (batch,) row that a record had; -1: it is new.
        deleted: rows of records that go.
        constraints: of the store afterwards.
        corrected: ids that a correction is about.
    """

    batch: Batch
    replaced: Ints
    deleted: Ints
    constraints: tuple[Constraint, ...]
    corrected: tuple[str, ...] = ()

    @property
    def removed(self) -> Ints:
        """Rows that are gone afterwards."""
        return np.concatenate([self.replaced[self.replaced >= 0], self.deleted])

    def former(self, state: State) -> Ints:
        """(batch,) cluster that a record was in; -1: it is new."""
        return np.append(state.cluster, -1)[self.replaced]

    def moves(self, state: State, rows: Sequence[str], before: Ints, after: Ints) -> Moves:
        """What is logged of records that were clustered again."""
        ids = self.batch.ids.to_pylist()
        fresh = self.replaced < 0
        gone = state.ids.take(pa.array(self.deleted)).to_pylist()
        return Moves(
            list(rows),
            before,
            after,
            dict(zip(gone, state.cluster[self.deleted].tolist(), strict=True)),
            frozenset(id for id, new in zip(ids, fresh, strict=True) if new),
            frozenset(id for id, new in zip(ids, fresh, strict=True) if not new),
        )


class Worked(NamedTuple):
    """A segment without log, the moves, the next cluster, and how much was done."""

    segment: Segment
    moves: Moves
    next_cluster: int
    scored: int
    touched: int


def work_out(state: State, change: Change) -> Worked:
    """Work a change out; the state is not changed."""
    new, first, removed = len(change.batch.ids), state.n_rows, change.removed
    pairs = _pairs(state, change)
    ids = pa.concat_arrays([state.ids, change.batch.ids])
    edges = _scored(state, change, pairs, ids)
    dropped = pa.table(
        [pairs.dropped[:, k].astype(np.int32) for k in (0, 1)], schema=SCHEMAS["dropped"]
    )
    kept = state.edges_without(removed, dropped)
    now = kept.and_also(edges)
    alive = np.concatenate([state.alive, np.ones(new, np.bool_)])
    alive[removed] = False
    touched = _touched(state, change, edges, pairs.dropped, ids, alive)
    nodes = _clustered(state, change, touched, now, ids)
    before = np.concatenate([state.cluster, change.former(state)])[nodes.rows]
    labels = nodes.forest.labels_at(state.manifest.threshold) if len(before) else before
    assigned, next_cluster = matched_ids(labels, before, state.manifest.next_cluster)
    after = assigned[labels]
    written = (before != after) | (nodes.rows >= first)
    tables = {
        "records": records_table(change.batch.ids, first),
        VALUES: change.batch.values,
        "removed": pa.table([np.sort(removed)], schema=SCHEMAS["removed"]),
        "pairs": pairs_table(edges),
        "dropped": dropped,
        "keys": keys_table(pairs.keys, first),
        "clusters": clusters_table(nodes.rows[written], after[written]),
    }
    moves = change.moves(state, nodes.ids, before, after)
    return Worked(Segment(tables), moves, next_cluster, len(pairs.left), len(nodes.rows))


def _pairs(state: State, change: Change) -> PairChanges:
    new, removed = len(change.batch.ids), change.removed
    if not new and not len(removed):
        nothing = np.empty(0, np.int64)
        return PairChanges(nothing, nothing, np.empty((0, 2), np.int64), [])
    if state.manifest.all_pairs:
        return all_new_pairs(state, new, removed)
    gone = columns_of(state.values.take(pa.array(removed)))
    return changed_pairs(state, columns_of(change.batch.values), removed, gone)


def _scored(state: State, change: Change, pairs: PairChanges, ids: Any) -> Edges:
    """Score the new pairs; the record with the smaller id comes first, as in a run from scratch."""
    import pyarrow.compute as pc

    if not len(pairs.left):
        return Edges.none()
    names = [ids.take(pa.array(rows)) for rows in (pairs.left, pairs.right)]
    swap = pc.greater(*names).to_numpy(zero_copy_only=False)
    left = np.where(swap, pairs.right, pairs.left)
    right = np.where(swap, pairs.left, pairs.right)
    rows, local = np.unique(np.concatenate([left, right]), return_inverse=True)
    values = pa.concat_tables([state.values, change.batch.values]).take(pa.array(rows))
    edges = score_candidates(
        PairList(local[: len(left)], local[len(left) :]),
        compared(state.model, columns_of(values)),
        [pair_model(state.model.spec, state.model.weights)],
        most=missing_of(state.model),
    )
    edges = closer(edges, state.model)
    places = rows.astype(np.int32)
    return Edges(places[edges.left], places[edges.right], edges.dissimilarity)


def _touched(
    state: State, change: Change, edges: Edges, dropped: Ints, ids: Any, alive: NDArray[np.bool_]
) -> Ints:
    """Rows of all components that the change touches, before or after it.

    Components are those of pairs up to the cut: the clusters are decided inside of these.
    """
    n = len(alive)
    former = edges.where((edges.left < state.n_rows) & (edges.right < state.n_rows))
    corrected = _rows_of(change.corrected, ids, alive)
    seeds = np.concatenate(
        [
            np.arange(state.n_rows, n),
            change.removed,
            dropped.ravel(),
            former.left,
            former.right,
            corrected[corrected >= 0],
        ]
    ).astype(np.int64)
    must = [
        row_links(constraints, ids, there)
        for constraints, there in (
            (state.constraints, np.concatenate([state.alive, np.zeros(n - state.n_rows, bool)])),
            (change.constraints, alive),
        )
    ]
    limit = state.manifest.threshold
    component = components(n, state.edges.and_also(edges), np.concatenate(must), limit)
    marked = np.zeros(n, np.bool_)
    marked[component[seeds]] = True
    return np.flatnonzero(marked[component] & alive)


def row_links(constraints: tuple[Constraint, ...], ids: Any, alive: NDArray[np.bool_]) -> Ints:
    """Must-links of a store, (k, 2) rows."""
    active = [one for one in constraints if one.active]
    names = list(dict.fromkeys(id for one in active for id in (one.id_a, one.id_b)))
    rows = _rows_of(names, ids, alive)
    position = {name: int(row) for name, row in zip(names, rows, strict=True) if row >= 0}
    return links(active, position)[0]


def _rows_of(names: Sequence[str], ids: Any, alive: NDArray[np.bool_]) -> Ints:
    """Row of every distinct id, -1 where no record has it."""
    if not names:
        return np.empty(0, np.int64)
    return rows_by_id(ids, alive, pa.array(list(dict.fromkeys(names)), pa.string()))


def _clustered(state: State, change: Change, touched: Ints, edges: Edges, ids: Any) -> Nodes:
    """Trees of the rows that are touched."""
    limit, more = state.manifest.threshold, change.batch.values
    return component_trees(state, touched, edges, ids, change.constraints, limit, more)


def component_trees(
    state: State,
    rows: Ints,
    edges: Edges,
    ids: Any,
    constraints: tuple[Constraint, ...],
    limit: float = np.inf,
    more: Any = None,
) -> Nodes:
    """Trees of whole components of pairs up to a limit.

    Args:
        state: of the store.
        rows: of the components.
        edges: all scored pairs.
        ids: of all rows.
        constraints: of the store.
        limit: height up to which clusters are merged.
        more: values of rows after those of the state.
    """
    here = np.zeros(len(ids), np.bool_)
    here[rows] = True
    own = here[edges.left] & here[edges.right]
    column = (state.model.records or {}).get("distinct")
    distinct = None
    if column in state.manifest.columns:
        parts = [state.values.select([column]), *([] if more is None else [more.select([column])])]
        distinct = flat(pa.concat_tables(parts).take(pa.array(rows)).column(column)).to_pylist()
    chosen = edges.where(own)
    return clustered(
        state.model, rows, ids.take(pa.array(rows)), distinct, chosen, constraints, limit
    )
