"""`EntityStore`: entities of a table that are kept up to date, with ids that stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.model.locate import load
from supclust.model.trained import TrainedModel
from supclust.resolve.apply import Resolution, id_order, in_order, score_values
from supclust.resolve.scoring import Progress
from supclust.resolve.table_model import takes_all_pairs, value_kinds
from supclust.store.batch import Batch, Source, columns_of, read_batch, source_table
from supclust.store.changes import Changes, Event, events_of
from supclust.store.constraints import Pairs, added, to_table, undone
from supclust.store.creation import create_store, id_column, now, require_new, segment_name
from supclust.store.entities import Entities
from supclust.store.folder.compaction import MOST_SEGMENTS, compacted, merged, read_segment
from supclust.store.folder.manifest import (
    MODEL,
    SEGMENTS,
    Manifest,
    read_manifest,
    write_manifest,
    writing,
)
from supclust.store.folder.segments import write_segment
from supclust.store.folder.state import State
from supclust.store.rebuild import rebuilt
from supclust.store.update import Change, work_out

Ints = NDArray[np.int64]


class EntityStore(Entities):
    """The entities of a table, in a folder: records, scored pairs, clusters, corrections, log.

    >>> store = EntityStore.open("entities")  # doctest: +SKIP
    >>> print(store.update("new.parquet"))  # doctest: +SKIP
    version 2: records: 1,000 added; clusters: 411 created, 3 merged
    """

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
        require_new(folder)
        model = model if isinstance(model, TrainedModel) else load(model)
        source = source_table(table)
        kinds = value_kinds(model, source)
        id = id_column(model, source.names, id, source.path)
        batch = read_batch(table, kinds, id)
        if not len(batch.ids):
            raise DataError("has a header but no records; add some", source.path)
        order = id_order(batch.ids)
        values = in_order(columns_of(batch.values), order)
        scored = score_values(values, model, None, say, progress)
        height = model.threshold if threshold is None else float(threshold)
        ids = batch.ids.take(pa.array(order)).to_pylist()
        create_store(folder, model, Resolution(id, ids, order, values, scored, height), kinds)
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

    def require_model(self, model: TrainedModel | str | Path) -> None:
        """Refuse another model than the store's."""
        given = model if isinstance(model, TrainedModel) else load(model)
        if given.digest not in (self._state.manifest.model, self._state.manifest.trained):
            raise DataError(
                f"the store must be of the model that it was made with; received another one, "
                f"{given.folder}. Make a new store with supclust cluster --store",
                self.folder,
            )

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
            batch = _nothing(state)
            if table is not None:
                batch = read_batch(table, state.manifest.columns, self.id)
            gone = self._to_delete(delete, batch)
            rows = state.rows_of(batch.ids)
            taken = rows < 0
            known = np.flatnonzero(rows >= 0)
            if len(known):
                old = state.values.take(pa.array(rows[known]))
                taken[known] = _differ(batch.values.take(pa.array(known)), old)
            at = pa.array(np.flatnonzero(taken))
            chosen = Batch(batch.ids.take(at), batch.values.take(at).combine_chunks())
            change = Change(chosen, rows[taken], gone, state.constraints)
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
                constraints, number = undone(state.constraints, None if undo is True else undo)
                about = [one for one in state.constraints if one.correction == number]
                events = [Event("undone", None, None, one.id_a, one.id_b) for one in about]
            else:
                self._rows([id for pair in (*together, *apart) for id in pair])
                constraints = added(state.constraints, together, apart, self.version + 1)
                about = list(constraints[len(state.constraints) :])
                events = [Event(one.constraint, None, None, one.id_a, one.id_b) for one in about]
            ids = tuple(id for one in about for id in (one.id_a, one.id_b))
            empty = np.empty(0, np.int64)
            change = Change(_nothing(state), empty, empty, constraints, ids)
            return self._commit(change, command, events)

    def _commit(self, change: Change, command: str, events: Sequence[Event] = ()) -> Changes:
        """Write a change as the next version."""
        state, manifest = self._state, self._state.manifest
        if not events and not len(change.batch.ids) and not len(change.removed):
            return Changes(manifest.version, now(), command, ())
        records = manifest.records - len(change.removed) + len(change.batch.ids)
        all_pairs = takes_all_pairs(self.model, records) if records else manifest.all_pairs
        anew = all_pairs != manifest.all_pairs
        worked = rebuilt(state, change, all_pairs) if anew else work_out(state, change)
        version = manifest.version + 1
        events = (*events, *events_of(worked.moves))
        changes = Changes(version, now(), command, events, worked.scored, worked.touched)
        tables = worked.segment.tables
        tables["log"] = pa.concat_tables([*([self.log()] if anew else []), changes.table])
        if anew or change.constraints != state.constraints:
            tables["constraints"] = to_table(change.constraints)
        name = segment_name(version)
        write_segment(self.folder / SEGMENTS / name, worked.segment)
        after = manifest.after(
            segments=(name,) if anew else (*manifest.segments, name),
            rows=(0 if anew else manifest.rows) + len(worked.segment["records"]),
            records=records,
            next_cluster=worked.next_cluster,
            all_pairs=all_pairs,
        )
        write_manifest(self.folder, after)
        if anew:
            self._load(after)
        else:
            self._component = None
            state.manifest = after
            state.add(worked.segment)
        return changes

    def _current(self) -> State:
        """The state of the current version, read again if another process has changed it."""
        manifest = read_manifest(self.folder)
        if manifest.model != self._state.manifest.model:
            raise DataError("is another store than the one that was opened; open it", self.folder)
        if manifest != self._state.manifest:
            self._load(manifest)
        if len(manifest.segments) > MOST_SEGMENTS:
            self._compact()
        return self._state

    def _compact(self) -> None:
        """Make few segments of many; every ``MOST_SEGMENTS`` changes it is done by itself.

        All become one where half of the rows are gone, or came after the first segment.
        """
        state, manifest = self._state, self._state.manifest
        parts = [read_segment(self.folder / SEGMENTS / s, state.schema) for s in manifest.segments]
        base = len(parts[0]["records"])
        name, kept = segment_name(manifest.version), manifest.segments[:1]
        whole = 2 * min(base, manifest.records) <= manifest.rows
        if whole:
            segment, kept = compacted(state, self.log(), self.constraints()), ()
        else:
            segment = merged(parts[1:], state.schema)
        write_segment(self.folder / SEGMENTS / name, segment)
        rows = len(segment["records"]) if whole else manifest.rows
        after = replace(manifest, segments=(*kept, name), rows=rows)
        write_manifest(self.folder, after)
        self._load(after)

    def _load(self, manifest: Manifest) -> None:
        self._state = State(self.folder, manifest, self.model)
        self._component = None

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


def _nothing(state: State) -> Batch:
    """No records."""
    return Batch(pa.array([], pa.string()), state.schema.empty_table())


def _differ(new: Any, old: Any) -> NDArray[np.bool_]:
    """Which rows of two tables differ."""
    differ = np.zeros(len(new), np.bool_)
    for a, b in zip(new.columns, old.columns, strict=True):
        same = pc.fill_null(pc.equal(a, b), False)
        empty = pc.and_(pc.is_null(a, nan_is_null=True), pc.is_null(b, nan_is_null=True))
        differ |= ~pc.or_(same, empty).to_numpy()
    return differ
