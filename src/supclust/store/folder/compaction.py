"""Many segments made few: those after the first into one, or all into one without removed rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from supclust.store.folder.segments import SCHEMAS, VALUES, Segment, read_table_of, records_table
from supclust.store.folder.state import State, pair_codes

MOST_SEGMENTS = 32


def read_segment(folder: Path, schema: Any) -> Segment:
    """All tables of a segment; ``schema`` is that of the values."""
    schemas = {**SCHEMAS, VALUES: schema}
    return Segment(
        {
            name: read_table_of(folder, name, one)
            for name, one in schemas.items()
            if (folder / f"{name}.parquet").exists()
        }
    )


def merged(segments: Sequence[Segment], schema: Any) -> Segment:
    """One segment that does what several do, one after the other.

    Args:
        segments: in order.
        schema: of the values.
    """
    schemas = {**SCHEMAS, VALUES: schema}
    tables = {
        name: pa.concat_tables([s.tables[name] for s in segments if name in s.tables] or [empty])
        for name, empty in ((name, one.empty_table()) for name, one in schemas.items())
    }
    tables["keys"] = tables["keys"].sort_by([("rule", "ascending"), ("key", "ascending")])
    tables["pairs"] = _pairs(segments)
    tables["clusters"] = _last(tables["clusters"])
    constraints = [s.tables["constraints"] for s in segments if "constraints" in s.tables]
    del tables["constraints"]
    return Segment({**tables, **({"constraints": constraints[-1]} if constraints else {})})


def _pairs(segments: Sequence[Segment]) -> Any:
    """Pairs of the segments that none of the later ones drops or removes a row of."""
    kept = SCHEMAS["pairs"].empty_table()
    for segment in segments:
        if len(kept) and (len(segment["dropped"]) or len(segment["removed"])):
            left, right = (kept.column(name).to_numpy() for name in ("left", "right"))
            gone = segment["removed"].column("row").to_numpy()
            codes = pair_codes(*(column.to_numpy() for column in segment["dropped"].columns))
            stays = ~np.isin(left, gone) & ~np.isin(right, gone)
            stays &= ~np.isin(pair_codes(left, right), codes)
            kept = kept.filter(pa.array(stays))
        kept = pa.concat_tables([kept, segment["pairs"]])
    return kept


def _last(clusters: Any) -> Any:
    """The last cluster of every row."""
    row = clusters.column("row").to_numpy()
    _, first = np.unique(row[::-1], return_index=True)
    return clusters.take(pa.array(len(row) - 1 - first))


def compacted(state: State, log: Any, constraints: Any) -> Segment:
    """A store as one segment, its rows numbered anew without those that are gone.

    Args:
        state: of the store.
        log: of all versions.
        constraints: all, as a table.
    """
    rows = np.flatnonzero(state.alive)
    place = np.full(state.n_rows, -1)
    place[rows] = np.arange(len(rows))
    at = pa.array(rows)
    edges = state.edges
    left, right = (place[ends].astype(np.int32) for ends in (edges.left, edges.right))
    return Segment(
        {
            "records": records_table(state.ids.take(at), 0),
            VALUES: state.values.take(at).combine_chunks(),
            "keys": state.keys.table(place),
            "pairs": pa.table([left, right, edges.dissimilarity], schema=SCHEMAS["pairs"]),
            "clusters": pa.table(
                [np.arange(len(rows)), state.cluster[rows]], schema=SCHEMAS["clusters"]
            ),
            "log": log,
            "constraints": constraints,
        }
    )
