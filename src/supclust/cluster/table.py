"""Cluster a table of records of any length with a trained model.

Three passes over the file: which record is in which block; the columns that the model compares, a
chunk of blocks at a time; and the ids, to write the output in the order of the input. Memory is
that of a few chunks, about 30 bytes per record, and the names of the blocks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import supclust
from supclust.cluster.blocks import BlockPlan, Ints, plan_blocks
from supclust.cluster.columns import CLUSTER, kept_columns, model_columns, special_columns
from supclust.cluster.gather import MEMORY, Chunk, gather
from supclust.cluster.model import ClusterModel
from supclust.cluster.prefetch import prefetched
from supclust.cluster.rehearsal import rehearsing
from supclust.cluster.resume import Progress
from supclust.data.errors import DataError
from supclust.data.tables.reader import (
    Kind,
    RecordTable,
    integer_column,
    numbers_of,
    open_table,
)
from supclust.data.tables.writer import require_writable, write_table

ROW = "record"


@dataclass(frozen=True)
class Options:
    """How a table is clustered.

    Attributes:
        block: column of blocks; ``None``: that of the model, if it has one.
        id: column of ids; ``None``: that of the model if the table has it, else records are
            numbered from 1.
        threshold: another height to cut at.
        n_clusters: clusters per block, instead of a height.
        keep: further columns to copy into the output.
        memory: bytes of records that may wait for the rest of their blocks.
    """

    block: str | None = None
    id: str | None = None
    threshold: float | None = None
    n_clusters: int | None = None
    keep: tuple[str, ...] = ()
    memory: int = MEMORY


@dataclass(frozen=True)
class Clustered:
    """What was done: numbers of records, blocks and clusters, and of chunks found finished."""

    records: int
    blocks: int
    clusters: int
    resumed: int
    discarded: bool


def cluster_table(
    path: str | Path,
    model: ClusterModel,
    output: str | Path,
    options: Options | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Clustered:
    """Cluster the records of a table block by block and write a cluster for each.

    Args:
        path: CSV, TSV, Parquet or npz.
        model: of records or of vectors.
        output: CSV, TSV, Parquet or npz: id, block (where there is one), the columns to keep, and
            ``cluster``, a number that no other cluster of the file has, in the order of the input.
        options: see `Options`.
        progress: called with the records done so far and their number.

    Raises:
        ValueError: for a wrong table or option; nothing has been written then.
    """
    options = options or Options()
    table, output = open_table(path), Path(output)
    require_writable(output)
    if output.resolve() == table.path.resolve():
        raise DataError("is the input; choose another output", output)
    kinds = model_columns(model, table)
    block, id = special_columns(model, table, options.block, options.id)
    keep = kept_columns(table, options.keep, (block, id))
    with rehearsing(model) as rehearsed:
        job = Progress(output, _fingerprint(table.path, model, options, block))
        plan = plan_blocks(_block_batches(table, block, kinds), block)
        with job.opened():
            finished = job.finished()
            done = int(sum(len(plan.rows(chunk)) for chunk in finished))
            chunks = gather(table.batches(kinds), plan, finished, job.folder, options.memory)
            cut = model.cut(options.threshold, options.n_clusters)
            for number, columns, starts in prefetched(_prepared(chunks, model, kinds, table.path)):
                if progress:
                    progress(done, plan.n)
                rehearsed.result()
                label = model.label_records if isinstance(columns, Mapping) else model.label_points
                labels, _ = label(columns, starts, cut)
                job.store(number, labels)
                done += len(labels)
            if progress:
                progress(done, plan.n)
            clusters, count = _numbered(plan, job)
            _write(output, table, plan, clusters, block, id, keep)
    return Clustered(plan.n, len(plan.names), count, len(finished), job.discarded)


def _block_batches(
    table: RecordTable, block: str | None, kinds: Mapping[str, Kind]
) -> Iterator[Any]:
    if block is not None:
        return table.batches({block: "text"})
    return table.batches({next(iter(kinds)): "text"})  # any column: only the rows count


def _prepared(
    chunks: Iterator[Chunk], model: ClusterModel, kinds: Mapping[str, Kind], path: Path
) -> Iterator[tuple[int, Any, Ints]]:
    """Columns as the model reads them: arrays and lists by name, or one matrix of points."""
    compares = model.comparisons is not None
    for chunk in chunks:
        columns = {name: _values(chunk.table.column(name), kinds[name]) for name in kinds}
        if compares:
            yield chunk.number, columns, chunk.starts
            continue
        points = np.column_stack(list(columns.values()))
        bad = ~np.isfinite(points)
        if bad.any():
            place = int(np.argmax(bad.any(axis=0)))
            raise DataError(
                f"column {list(columns)[place]!r} must hold a finite number in every record; "
                f"{int(bad[:, place].sum())} or more have none. Fill them in, or remove the "
                "records",
                path,
            )
        yield chunk.number, points, chunk.starts


def _values(column: Any, kind: Kind) -> Any:
    if kind == "text":
        return column.to_pylist()
    return numbers_of(column.combine_chunks())


def _numbered(plan: BlockPlan, job: Progress) -> tuple[Ints, int]:
    """(n,) a number for every cluster, consecutive over the blocks; and how many there are."""
    clusters = np.empty(plan.n, np.int64)
    count = 0
    for chunk in range(plan.n_chunks):
        labels, starts = job.load(chunk), plan.block_starts(chunk)
        found = np.maximum.reduceat(labels, starts[:-1]).astype(np.int64) + 1
        first = count + np.concatenate([[0], np.cumsum(found)])
        clusters[plan.rows(chunk)] = labels + np.repeat(first[:-1], np.diff(starts))
        count = int(first[-1])
    return clusters, count


def _write(
    output: Path,
    table: RecordTable,
    plan: BlockPlan,
    clusters: NDArray[np.int64],
    block: str | None,
    id: str | None,
    keep: Sequence[str],
) -> None:
    import pyarrow as pa

    names = list(dict.fromkeys(name for name in (id, block, *keep) if name is not None))

    def batches() -> Iterator[Any]:
        row = 0
        source = table.raw_batches(names) if names else _empty_batches(plan.n)
        for batch in source:
            rows = slice(row, row + batch.num_rows)
            row = rows.stop
            columns = [] if id else [integer_column(np.arange(rows.start, rows.stop) + 1)]
            columns += batch.columns
            columns.append(integer_column(clusters[rows]))
            yield pa.RecordBatch.from_arrays(columns, names=header)

    header = [*([] if id else [ROW]), *names, CLUSTER]
    made = batches()
    first = next(made)
    write_table(output, first.schema, (batch for part in ([first], made) for batch in part))


def _empty_batches(n: int) -> Iterator[Any]:
    """Batches without columns, for a table of which no column is kept."""
    import pyarrow as pa

    for start in range(0, n, 65536):
        length = min(65536, n - start)
        empty = pa.RecordBatch.from_arrays([pa.nulls(length)], names=["nothing"])
        yield empty.select([])


def _fingerprint(path: Path, model: ClusterModel, options: Options, block: str | None) -> str:
    """SHA-256 of the content of the input, the model and the options that change clusters."""
    content = hashlib.sha256()
    with path.open("rb") as stream:
        while part := stream.read(1 << 20):
            content.update(part)
    parts = [
        supclust.__version__, content.hexdigest(), model.digest, block,
        options.threshold, options.n_clusters,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
