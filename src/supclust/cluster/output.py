"""The table of clusters: ids, columns to keep, the cluster of every record, facts of records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.records.ids import IdCounter, RepeatedIds
from supclust.data.tables.reader import RecordTable, integer_column
from supclust.data.tables.writer import write_table

ROW = "record"  # the column of the output that numbers records without ids
CLUSTER = "cluster"  # the column that the output adds


def write_clusters(
    output: Path,
    table: RecordTable,
    clusters: NDArray[np.int64],
    columns: Sequence[str | None],
    facts: Mapping[str, NDArray[np.float64]] | None = None,
) -> RepeatedIds | None:
    """Write the columns (id first, ``None``: record numbers), the clusters, and facts of records.

    Facts that are not known, NaN, are written as missing; a column to keep that has the name of one
    stands for it.

    Returns:
        Ids of several records, if any; their rows are written like all others.
    """
    import pyarrow as pa

    numbered = columns[0] is None
    names = list(dict.fromkeys(name for name in columns if name is not None))
    counter = IdCounter()
    facts = {name: fact for name, fact in (facts or {}).items() if name not in names}
    header = [*([ROW] if numbered else []), *names, CLUSTER, *facts]

    def batches() -> Iterator[Any]:
        row = 0
        for batch in table.raw_batches(names or table.names[:1]):
            rows = np.arange(row, row + batch.num_rows)
            row += batch.num_rows
            copied = batch.columns[: len(names)]
            if not numbered:
                counter.add(copied[0].to_pylist())
            first = [integer_column(rows + 1)] if numbered else []
            last = [pa.array(fact[rows], from_pandas=True) for fact in facts.values()]
            arrays = [*first, *copied, integer_column(clusters[rows]), *last]
            yield pa.RecordBatch.from_arrays(arrays, names=header)

    remaining = batches()
    first = next(remaining)
    write_table(output, first.schema, chain([first], remaining))
    again = () if numbered else (batch.column(0) for batch in table.raw_batches(names[:1]))
    return counter.repeated(id for column in again for id in column.to_pylist())
