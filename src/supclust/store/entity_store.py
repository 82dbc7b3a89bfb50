"""`EntityStore`: entities of a table that are kept up to date, with ids that stay."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.files import atomic_folder
from supclust.model.locate import load
from supclust.model.trained import TrainedModel
from supclust.resolve.apply import takes_all_pairs, value_kinds
from supclust.resolve.scoring import Progress
from supclust.store.batch import Batch, Source, columns_of, read_batch, source_table
from supclust.store.building import build, frozen
from supclust.store.changes import Changes, Event
from supclust.store.constraints import Pairs, added, to_table, undone
from supclust.store.identity import matched_ids
from supclust.store.log import events_of
from supclust.store.manifest import (
    MODEL,
    SEGMENTS,
    Manifest,
    read_manifest,
    write_manifest,
    writing,
)
from supclust.store.recluster import Nodes, components
from supclust.store.segments import SCHEMAS, read_table_of, write_segment
from supclust.store.state import State
from supclust.store.update import Change, Worked, component_trees, row_links, work_out

Ints = NDArray[np.int64]


class EntityStore:
    """The entities of a table, in a folder: records, scored pairs, clusters, corrections, log.

    >>> store = EntityStore.open("entities")  # doctest: +SKIP
    >>> print(store.update("new.parquet"))  # doctest: +SKIP
    version 2: records: 1,000 added; clusters: 411 created, 3 merged
    """

    def __init__(self, folder: Path, manifest: Manifest, model: TrainedModel) -> None:
        self.folder = folder
        self.model = model
        self._state = State(folder, manifest, model)
        self._component: NDArray[np.int32] | None = None

    @classmethod
    def create(
        cls,
        folder: str | Path,
        table: Source,
        model: TrainedModel | str | Path,
        id: str | None = None,
        *,
        threshold: float | None = None,
        say: Callable[[str], None] = lambda line: None,
        progress: Progress | None = None,
    ) -> EntityStore:
        """Cluster a table and keep the result.

        Args:
            folder: of the store; must not exist yet.
            table: path, pandas data frame or pyarrow table.
            model: of a table without blocks, or its folder.
            id: column of ids, which must be distinct. Default: that of training, or ``id``.
            threshold: height to cut at. Default: the model's.
            say: receives lines about what is done.
            progress: called with the number of pairs compared, and of all.
        """
        folder = Path(folder)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise DataError("exists already; name a new folder for the store", folder)
        given = model if isinstance(model, TrainedModel) else load(model)
        source = source_table(table)
        kinds = value_kinds(given, source)
        id = _id_column(given, source.names, id, source.path)
        batch = read_batch(table, kinds, id)
        if not len(batch.ids):
            raise DataError("has a header but no records; add some", source.path)
        own = frozen(given, columns_of(batch.values))
        height = own.threshold if threshold is None else float(threshold)
        all_pairs = takes_all_pairs(own, len(batch.ids))
        built = build(batch, own, height, all_pairs, say=say, progress=progress)
        number = _numbered(built.labels, built.order)
        changes = Changes(1, _now(), "create", (Event("created"),), built.pairs, len(number))
        built.segment.tables |= {
            "clusters": pa.table([np.arange(len(number)), number], schema=SCHEMAS["clusters"]),
            "log": changes.table,
        }
        with atomic_folder(folder, replace=False) as draft:
            own.save(draft / MODEL)
            saved = load(draft / MODEL)
            name = _segment_name(1)
            manifest = Manifest(
                *(1, (name,), len(number), len(number), int(number.max()) + 1, all_pairs),
                *(height, id, dict(kinds), saved.digest, given.digest),
            )
            write_segment(draft / SEGMENTS / name, built.segment)
            write_manifest(draft, manifest)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: str | Path) -> EntityStore:
        """Open a store; everything that is read is checked."""
        folder = Path(folder)
        manifest = read_manifest(folder)
        model = load(folder / MODEL)
        if model.digest != manifest.model:
            raise DataError(
                "the model in the store is not the one that it was made with; restore the whole "
                "store",
                folder / MODEL,
            )
        return cls(folder, manifest, model)

    # -- what is there ------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """Counts the changes, from 1."""
        return self._state.manifest.version

    @property
    def id(self) -> str:
        """Name of the column of ids."""
        return self._state.manifest.id

    @property
    def threshold(self) -> float:
        """Height at which trees are cut."""
        return self._state.manifest.threshold

    def __len__(self) -> int:
        """Number of records."""
        return self._state.manifest.records

    def __repr__(self) -> str:
        return f"EntityStore({str(self.folder)!r}, version {self.version}, {len(self)} records)"

    def clusters(self) -> Any:
        """Table of pyarrow: the column of ids, and ``cluster``, by arrival."""
        rows = pa.array(np.flatnonzero(self._state.alive))
        return pa.table(
            {self.id: self._state.ids.take(rows), "cluster": self._state.cluster[self._state.alive]}
        )

    def members(self, cluster: int) -> list[str]:
        """Ids of the records of a cluster."""
        rows = np.flatnonzero(self._state.cluster == cluster)
        if not len(rows):
            last = self._state.manifest.next_cluster
            why = "it is retired" if 0 <= cluster < last else "there never was one"
            raise DataError(f"no cluster has the id {cluster}: {why}", self.folder)
        found: list[str] = self._state.ids.take(pa.array(rows)).to_pylist()
        return sorted(found)

    def cluster_of(self, id: str) -> int:
        """Cluster of a record."""
        return int(self._state.cluster[self._row(id)])

    def records(self, ids: Iterable[str]) -> Any:
        """Table of pyarrow: ids and the values that the model reads, in the order asked for."""
        names = [str(id) for id in ids]
        values = self._state.values.take(pa.array(self._rows(names)))
        if self.id in values.column_names:
            values = values.drop_columns([self.id])
        return values.add_column(0, self.id, pa.array(names, pa.string()))

    def component_of(self, id: str) -> int:
        """Component of a record: a number that holds for this version."""
        return int(self._components[self._row(id)])

    def pairs_of(self, which: int | Iterable[str]) -> Any:
        """Scored candidate pairs closer than a pair that is not given.

        Args:
            which: a component, or ids: pairs among these.

        Returns:
            Table of pyarrow: ids ``left`` and ``right``, and ``dissimilarity``.
        """
        rows = self._in_component(which) if isinstance(which, int) else self._rows(list(which))
        here = np.zeros(self._state.n_rows, np.bool_)
        here[rows] = True
        edges = self._state.edges
        own = np.flatnonzero(here[edges.left] & here[edges.right])
        ends = {
            name: self._state.ids.take(pa.array(getattr(edges, name)[own]))
            for name in ("left", "right")
        }
        return pa.table({**ends, "dissimilarity": edges.dissimilarity[own]})

    def tree(self, component: int) -> Nodes:
        """Ids and tree of a component, from all pairs and constraints there are."""
        state = self._state
        rows = self._in_component(component)
        return component_trees(state, rows, state.edges, state.ids, state.constraints)

    def constraints(self) -> Any:
        """Table of pyarrow: all constraints, with those that were undone (not ``active``)."""
        return to_table(self._state.constraints)

    def log(self) -> Any:
        """Table of pyarrow: every change of every version."""
        parts = [
            read_table_of(self.folder / SEGMENTS / name, "log", SCHEMAS["log"])
            for name in self._state.manifest.segments
        ]
        return pa.concat_tables(parts)

    def history(self, id: str) -> Any:
        """Rows of the log that are about a record."""
        log = self.log()
        mine = pc.or_(
            pc.fill_null(pc.equal(log.column("record"), id), False),
            pc.fill_null(pc.equal(log.column("other_record"), id), False),
        )
        return log.filter(mine)

    # -- changes ------------------------------------------------------------------------------

    def update(
        self, table: Source | None = None, delete: Iterable[str] = (), *, command: str = "update"
    ) -> Changes:
        """Add and change records, and delete some.

        Args:
            table: path, data frame or pyarrow table with new records, and records with other
                values; they are known by their ids. Those with the same values are left alone.
            delete: ids of records that go.
            command: what the log says.
        """
        with writing(self.folder):
            state = self._current()
            if table is None:
                schema = state.values.schema
                batch = Batch(pa.array([], pa.string()), schema.empty_table())
            else:
                batch = read_batch(table, state.manifest.columns, self.id)
            gone = self._to_delete(delete, batch)
            rows = state.rows_of(batch.ids)
            taken = rows < 0
            known = np.flatnonzero(rows >= 0)
            if len(known):
                taken[known] = _differ(
                    batch.values.take(pa.array(known)), state.values.take(pa.array(rows[known]))
                )
            at = pa.array(np.flatnonzero(taken))
            change = Change(
                Batch(batch.ids.take(at), batch.values.take(at).combine_chunks()),
                rows[taken],
                gone,
                state.constraints,
            )
            return self._commit(change, command)

    def correct(
        self,
        together: Pairs = (),
        apart: Pairs = (),
        *,
        undo: bool | int = False,
        command: str = "correct",
    ) -> Changes:
        """Say which records are, and which are not, of one entity; holds in later updates, too.

        Args:
            together: pairs of ids that must be in one cluster.
            apart: pairs of ids that must not.
            undo: take back the last correction (true), or that of a number.
            command: what the log says.
        """
        together, apart = ([(str(a), str(b)) for a, b in pairs] for pairs in (together, apart))
        if bool(undo) == bool(together or apart):
            raise ValueError(
                "give pairs, or undo a correction; received "
                f"{'both' if undo else 'neither'}. Do one of them."
            )
        with writing(self.folder):
            state = self._current()
            if undo:
                number = None if undo is True else undo
                constraints, number = undone(state.constraints, number)
                about = [one for one in state.constraints if one.correction == number]
                events = [Event("undone", None, None, one.id_a, one.id_b) for one in about]
                ids = [id for one in about for id in (one.id_a, one.id_b)]
            else:
                ids = [id for pair in (*together, *apart) for id in pair]
                self._rows(ids)
                constraints = added(state.constraints, together, apart, self.version + 1)
                events = [
                    Event(kind, None, None, a, b)
                    for kind, pairs in (("together", together), ("apart", apart))
                    for a, b in pairs
                ]
            nothing = Batch(pa.array([], pa.string()), state.values.schema.empty_table())
            empty = np.empty(0, np.int64)
            change = Change(nothing, empty, empty, constraints, tuple(ids))
            return self._commit(change, command, events)

    def _commit(self, change: Change, command: str, events: Sequence[Event] = ()) -> Changes:
        """Write a change as the next version."""
        state, manifest = self._state, self._state.manifest
        removed = change.removed
        if not events and not len(change.batch.ids) and not len(removed):
            return Changes(manifest.version, _now(), command, ())
        records = manifest.records - len(removed) + len(change.batch.ids)
        all_pairs = takes_all_pairs(self.model, records)
        again = all_pairs != manifest.all_pairs and records > 0
        worked = self._rebuilt(change, all_pairs) if again else work_out(state, change)
        made = (*events, *events_of(worked.moves))
        changes = Changes(
            manifest.version + 1, _now(), command, made, worked.scored, worked.touched
        )
        tables = worked.segment.tables
        old = [self.log()] if again else []
        tables["log"] = pa.concat_tables([*old, changes.table])
        if again or change.constraints != state.constraints:
            tables["constraints"] = to_table(change.constraints)
        name = _segment_name(changes.version)
        write_segment(self.folder / SEGMENTS / name, worked.segment)
        after = manifest.after(
            segments=(name,) if again else (*manifest.segments, name),
            rows=(0 if again else manifest.rows) + len(worked.segment["records"]),
            records=records,
            next_cluster=worked.next_cluster,
            all_pairs=all_pairs if records else manifest.all_pairs,
        )
        write_manifest(self.folder, after)
        self._component = None
        if again:
            self._state = State(self.folder, after, self.model)
        else:
            state.manifest = after
            state.add(worked.segment)
        return changes

    def _rebuilt(self, change: Change, all_pairs: bool) -> Worked:
        """Everything from scratch, where candidates are found in another way than before."""
        state = self._state
        alive = state.alive.copy()
        alive[change.removed] = False
        kept = np.flatnonzero(alive)
        at = pa.array(kept)
        batch = Batch(
            pa.concat_arrays([state.ids.take(at), change.batch.ids]),
            pa.concat_tables([state.values.take(at), change.batch.values]).combine_chunks(),
        )
        built = build(batch, self.model, self.threshold, all_pairs, change.constraints)
        former = np.full(len(change.replaced), -1)
        again = change.replaced >= 0
        former[again] = state.cluster[change.replaced[again]]
        before = np.concatenate([state.cluster[kept], former])[built.order]
        assigned, next_cluster = matched_ids(built.labels, before, state.manifest.next_cluster)
        after = assigned[built.labels]
        built.segment.tables["clusters"] = pa.table(
            [np.arange(len(after)), after], schema=SCHEMAS["clusters"]
        )
        ids = built.segment["records"].column("id").to_pylist()
        moves = change.moves(state, ids, before, after)
        return Worked(built.segment, moves, next_cluster, built.pairs, len(after))

    # -- rows -----------------------------------------------------------------------------------

    def _current(self) -> State:
        """The state of the current version, read again if another process has changed it."""
        manifest = read_manifest(self.folder)
        if manifest.model != self._state.manifest.model:
            raise DataError("is another store than the one that was opened; open it", self.folder)
        if manifest.version != self.version:
            self._state = State(self.folder, manifest, self.model)
            self._component = None
        return self._state

    @property
    def _components(self) -> NDArray[np.int32]:
        if self._component is None:
            state = self._state
            must = row_links(state.constraints, state.ids, state.alive)
            self._component = components(state.n_rows, state.edges, must)
        return self._component

    def _in_component(self, component: int) -> Ints:
        rows = np.flatnonzero((self._components == component) & self._state.alive)
        if not len(rows):
            raise DataError(f"no component has the number {component} in this version", self.folder)
        return rows

    def _row(self, id: str) -> int:
        return int(self._rows([id])[0])

    def _rows(self, ids: Sequence[str]) -> Ints:
        """Rows of records; refuses ids that no record has."""
        names = [str(id) for id in ids]
        distinct = list(dict.fromkeys(names))
        found = self._state.rows_of(pa.array(distinct, pa.string()))
        if (found < 0).any():
            unknown = distinct[int(np.argmax(found < 0))]
            raise DataError(f"no record has the id {unknown!r}; correct it", self.folder)
        place = {name: k for k, name in enumerate(distinct)}
        return found[[place[name] for name in names]]

    def _to_delete(self, delete: Iterable[str], batch: Batch) -> Ints:
        names = list(dict.fromkeys(str(id) for id in delete))
        rows = self._rows(names) if names else np.empty(0, np.int64)
        both = set(names) & set(batch.ids.to_pylist()) if names else set()
        if both:
            raise DataError(
                f"record {min(both)!r} is to be deleted, and among the new records; leave it out "
                "of one of them",
                self.folder,
            )
        return rows


def _id_column(model: TrainedModel, names: Sequence[str], id: str | None, path: Path) -> str:
    trained = (model.records or {}).get("id")
    found = id or next((name for name in (trained, "id") if name in names), None)
    if found is None or found not in names:
        raise DataError(
            f"a store needs a column of ids that stay; received {found or 'none'}, and the columns "
            f"{', '.join(names[:12])}. Name one with --id",
            path,
        )
    return found


def _numbered(labels: Ints, order: Ints) -> Ints:
    """Clusters of rows, numbered by first appearance in the table that was given."""
    own = np.empty_like(labels)
    own[order] = labels
    _, first = np.unique(own, return_index=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[labels]


def _differ(new: Any, old: Any) -> NDArray[np.bool_]:
    """Which rows of two tables differ."""
    differ = np.zeros(len(new), np.bool_)
    for a, b in zip(new.columns, old.columns, strict=True):
        same = pc.fill_null(pc.equal(a, b), False)
        empty = pc.and_(pc.is_null(a, nan_is_null=True), pc.is_null(b, nan_is_null=True))
        differ |= ~pc.or_(same, empty).to_numpy()
    return differ


def _segment_name(version: int) -> str:
    return f"{version:06d}-{os.urandom(4).hex()}"


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
