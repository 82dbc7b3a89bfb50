"""A store in memory: the sum of its segments."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.model.trained import TrainedModel
from supclust.resolve.scoring import Edges
from supclust.resolve.table_model import rules_of
from supclust.store.batch import TYPES, flat
from supclust.store.constraints import Constraint, from_table
from supclust.store.folder.key_index import KeyIndex
from supclust.store.folder.manifest import SEGMENTS, Manifest
from supclust.store.folder.segments import SCHEMAS, VALUES, Segment, read_table_of

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_LOADED = ("records", "removed", "pairs", "dropped", "clusters", "constraints")


class State:
    """Rows, pairs, clusters and constraints of a store.

    Attributes:
        ids: id of every row, of rows that are gone as well.
        alive: (rows,) whether a row is there.
        cluster: (rows,) permanent id of its cluster; -1 of rows that are gone.
        edges: scored pairs of rows that are there, closer than ``missing``.
        constraints: all, with those that were undone.
    """

    def __init__(self, folder: Path, manifest: Manifest, model: TrainedModel) -> None:
        self.folder, self.manifest, self.model = folder, manifest, model
        self.ids: Any = pa.array([], pa.string())
        self.alive: Bools = np.empty(0, np.bool_)
        self.cluster: Ints = np.empty(0, np.int64)
        self.edges = Edges.none()
        self.constraints: tuple[Constraint, ...] = ()
        for name in manifest.segments:
            here = folder / SEGMENTS / name
            tables = {table: read_table_of(here, table, SCHEMAS[table]) for table in _LOADED}
            if not (here / "constraints.parquet").exists():
                del tables["constraints"]
            try:
                self.add(Segment(tables))
            except (IndexError, ValueError, OverflowError) as problem:
                raise DataError(f"is damaged ({problem}); restore the whole store", here) from None
        if self.n_rows != manifest.rows or int(self.alive.sum()) != manifest.records:
            raise DataError(
                f"the store must have {manifest.rows:,} rows, {manifest.records:,} of them "
                f"records; received {self.n_rows:,} and {int(self.alive.sum()):,}. Restore the "
                "whole store",
                folder,
            )

    @property
    def n_rows(self) -> int:
        """Number of rows, with those that are gone."""
        return len(self.alive)

    def add(self, segment: Segment) -> None:
        """Add a segment: first what it removes, then what it brings."""
        rows = self.n_rows
        new = len(segment["records"])
        removed = segment["removed"].column("row").to_numpy()
        left, right, value = (c.to_numpy() for c in segment["pairs"].columns)
        clusters = segment["clusters"]
        changed, cluster = (c.to_numpy() for c in clusters.columns)
        for one in (removed, left, right, changed):
            _require_rows(one, rows + new)
        if (segment["records"].column("row").to_numpy() != np.arange(rows, rows + new)).any():
            raise ValueError(f"rows must be numbered from {rows} on")
        if new:
            self.ids = pa.concat_arrays([self.ids, flat(segment["records"].column("id"))])
        self.alive = np.concatenate([self.alive, np.ones(new, np.bool_)])
        self.alive[removed] = False
        self.cluster = np.concatenate([self.cluster, np.full(new, -1)])
        self.cluster[changed] = cluster
        self.cluster[removed] = -1
        dropped = segment["dropped"]
        kept = self.edges_without(removed, dropped)
        self.edges = kept.and_also(Edges(left, right, value))
        if "constraints" in segment.tables:
            self.constraints = from_table(segment["constraints"])
        if "keys" in vars(self):
            self.keys.add(segment["keys"])
        if "values" in vars(self) and new:
            self.values = pa.concat_tables([self.values, segment[VALUES]])

    def edges_without(self, removed: Ints, dropped: Any) -> Edges:
        """The pairs without those of some rows, and without some pairs."""
        edges = self.edges
        if not len(removed) and not len(dropped):
            return edges
        gone = np.zeros(self.n_rows, np.bool_)
        gone[removed] = True
        kept = ~(gone[edges.left] | gone[edges.right])
        if len(dropped):
            codes = pair_codes(*(column.to_numpy() for column in dropped.columns))
            kept &= ~np.isin(pair_codes(edges.left, edges.right), codes)
        return edges.where(kept)

    @cached_property
    def keys(self) -> KeyIndex:
        """Keys of all rows, read on first use."""
        index = KeyIndex(len(rules_of(self.model)))
        for name in self.manifest.segments:
            here = self.folder / SEGMENTS / name
            table = read_table_of(here, "keys", SCHEMAS["keys"])
            _require_rows(table.column("row").to_numpy(), self.n_rows)
            index.add(table)
        return index

    @property
    def schema(self) -> Any:
        """Schema of the values."""
        return pa.schema([(name, TYPES[kind]) for name, kind in self.manifest.columns.items()])

    @cached_property
    def values(self) -> Any:
        """Values of all rows, a table, read on first use."""
        parts = [
            read_table_of(self.folder / SEGMENTS / name, VALUES, self.schema)
            for name in self.manifest.segments
        ]
        whole = pa.concat_tables(parts)
        if len(whole) != self.n_rows:
            raise DataError(
                f"the values of {self.n_rows:,} rows are needed; received {len(whole):,}. Restore "
                "the whole store",
                self.folder,
            )
        return whole

    def rows_of(self, ids: Any) -> Ints:
        """Row of every id, -1 where no record has it.

        Args:
            ids: array of strings, distinct.
        """
        return rows_by_id(self.ids, self.alive, ids)


def rows_by_id(ids: Any, alive: Bools, wanted: Any) -> Ints:
    """Row of each of the distinct ids ``wanted``, -1 where no row that is alive has it."""
    at = pc.index_in(ids, value_set=wanted)
    present = np.flatnonzero(at.is_valid().to_numpy(zero_copy_only=False) & alive)
    rows = np.full(len(wanted), -1)
    rows[at.take(pa.array(present)).to_numpy()] = present
    return rows


def pair_codes(left: NDArray[Any], right: NDArray[Any]) -> Ints:
    """One number per unordered pair of rows."""
    left, right = left.astype(np.int64), right.astype(np.int64)
    codes: Ints = (np.minimum(left, right) << 32) | np.maximum(left, right)
    return codes


def _require_rows(rows: NDArray[Any], n: int) -> None:
    if len(rows) and (rows.min() < 0 or rows.max() >= n):
        raise ValueError(f"rows must lie between 0 and {n - 1}")
