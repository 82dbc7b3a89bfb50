"""What a store holds: clusters, records, pairs, trees, constraints and log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.explain.confidence import confidence_columns
from supclust.explain.membership import membership
from supclust.model.trained import TrainedModel
from supclust.resolve.kept_apart import components
from supclust.resolve.scoring import Edges
from supclust.store.constraints import to_table
from supclust.store.folder.manifest import SEGMENTS, Manifest
from supclust.store.folder.segments import SCHEMAS, read_table_of
from supclust.store.folder.state import State
from supclust.store.recluster import Nodes, missing_of
from supclust.store.update import component_trees, row_links

Ints = NDArray[np.int64]


class Entities:
    """The entities of a store, as they are; tables are those of pyarrow.

    Attributes:
        folder: of the store.
        model: that compares and clusters the records.
    """

    def __init__(self, folder: Path, manifest: Manifest, model: TrainedModel) -> None:
        self.folder = folder
        self.model = model
        self._state = State(folder, manifest, model)
        self._component: NDArray[np.int32] | None = None

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
        """Table: the column of ids, and ``cluster``, by arrival."""
        rows = pa.array(np.flatnonzero(self._state.alive))
        return pa.table(
            {self.id: self._state.ids.take(rows), "cluster": self._state.cluster[self._state.alive]}
        )

    def confidence(self) -> Any:
        """Table: as `clusters`, with ``confidence`` and ``margin`` of every record.

        Those are left out if the model has no confidence. The mean over the records of a cluster is
        the confidence of the cluster.
        """
        trees, state, missing = self.trees(), self._state, missing_of(self.model)
        place = np.full(state.n_rows, -1, np.int32)
        place[trees.rows] = np.arange(len(trees.rows))
        edges = Edges(place[state.edges.left], place[state.edges.right], state.edges.dissimilarity)
        edges = edges.where((edges.left >= 0) & (edges.right >= 0))
        standing = membership(edges, trees.forest, self.model.alpha, missing, self.threshold)
        facts = confidence_columns(self.model.record, standing, self.threshold)
        columns = {name: pa.array(fact, from_pandas=True) for name, fact in facts.items()}
        ids = pa.array(trees.ids, pa.string())
        return pa.table({self.id: ids, "cluster": state.cluster[trees.rows], **columns})

    def members(self, cluster: int) -> list[str]:
        """Ids of the records of a cluster."""
        rows = np.flatnonzero(self._state.cluster == cluster)
        if not len(rows):
            last = self._state.manifest.next_cluster
            why = "it is retired" if 0 <= cluster < last else "there never was one"
            raise DataError(f"no cluster has the id {cluster}: {why}", self.folder)
        ids: list[str] = self._state.ids.take(pa.array(rows)).to_pylist()
        return sorted(ids)

    def has(self, id: str) -> bool:
        """Whether there is a record of this id."""
        return bool(self._state.rows_of(pa.array([str(id)], pa.string()))[0] >= 0)

    def cluster_of(self, id: str) -> int:
        """Cluster of a record."""
        return int(self._state.cluster[self._row(id)])

    def records(self, ids: Iterable[str]) -> Any:
        """Table: ids and the values that the model reads, in the order asked for."""
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
            Table: ids ``left`` and ``right``, and ``dissimilarity``.
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

    def trees(self) -> Nodes:
        """Ids and trees of all records."""
        state, rows = self._state, np.flatnonzero(self._state.alive)
        return component_trees(state, rows, state.edges, state.ids, state.constraints)

    def constraints(self) -> Any:
        """Table: all constraints, with those that were undone (not ``active``)."""
        return to_table(self._state.constraints)

    def log(self) -> Any:
        """Table: every change of every version."""
        parts = [
            read_table_of(self.folder / SEGMENTS / name, "log", SCHEMAS["log"])
            for name in self._state.manifest.segments
        ]
        return pa.concat_tables(parts)

    def history(self, id: str) -> Any:
        """Table: rows of the log that are about a record.

        A record of the first version has a row only once something happens to it.
        """
        rows = self._log_about(("record", "other_record"), id)
        if not len(rows) and not self.has(id):
            raise DataError(f"no record has, or had, the id {id!r}; correct it", self.folder)
        return rows

    def cluster_history(self, cluster: int) -> Any:
        """Table: rows of the log that are about a cluster, also a retired one."""
        if not 0 <= cluster < self._state.manifest.next_cluster:
            raise DataError(f"no cluster has, or had, the id {cluster}; correct it", self.folder)
        return self._log_about(("cluster", "other"), cluster)

    def _log_about(self, columns: tuple[str, str], value: object) -> Any:
        log = self.log()
        matches = [pc.fill_null(pc.equal(log.column(name), value), False) for name in columns]
        return log.filter(pc.or_(*matches))

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
        rows = self._state.rows_of(pa.array(distinct, pa.string()))
        if (rows < 0).any():
            unknown = distinct[int(np.argmax(rows < 0))]
            raise DataError(f"no record has the id {unknown!r}; correct it", self.folder)
        place = {name: k for k, name in enumerate(distinct)}
        return rows[[place[name] for name in names]]
