"""Bring the records of a chunk of blocks together, wherever in the table they stand.

A chunk is handed out as soon as its last record was read, so a table that is sorted by block needs
the memory of one chunk. Of a table in any other order records wait in memory up to a limit; beyond
it the fullest chunks are moved to files, and read again when they are complete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from supclust.cluster.blocks import BlockPlan, Ints
from supclust.data.tables.reader import integer_column

MEMORY = 512 << 20


class Chunk(NamedTuple):
    """Records of a chunk of blocks.

    Attributes:
        number: of the chunk.
        table: pyarrow table of its records, by block, in the order of the input within one.
        starts: (blocks + 1,) where its blocks start.
    """

    number: int
    table: Any
    starts: Ints


class _Waiting:
    """What has been read of an unfinished chunk: tables in memory, the older ones in a file."""

    def __init__(self, number: int, folder: Path) -> None:
        self.tables: list[Any] = []
        self.records = 0
        self.bytes = 0
        self.path = folder / f"waiting-{number:06d}.arrow"
        self.writer: Any = None

    def add(self, batch: Any) -> None:
        self.tables.append(batch)
        self.records += batch.num_rows
        self.bytes += batch.nbytes

    def spill(self) -> None:
        import pyarrow as pa

        if self.writer is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.writer = pa.ipc.new_file(str(self.path), self.tables[0].schema)
        for batch in self.tables:
            self.writer.write_batch(batch)
        self.tables, self.bytes = [], 0

    def collect(self) -> Any:
        import pyarrow as pa

        parts = self.tables
        if self.writer is not None:
            self.writer.close()
            with pa.ipc.open_file(str(self.path)) as reader:
                parts = [*(reader.get_batch(i) for i in range(reader.num_record_batches)), *parts]
            self.path.unlink()
        return pa.Table.from_batches(parts)


def gather(
    batches: Iterable[Any],
    plan: BlockPlan,
    finished: Collection[int],
    folder: Path,
    memory: int = MEMORY,
) -> Iterator[Chunk]:
    """Hand out the chunks of a table that are not finished yet, each once it is complete.

    Args:
        batches: of the table, in the order of the plan's records.
        plan: blocks and chunks.
        finished: chunks to leave out.
        folder: of the files of what waits.
        memory: bytes that may wait in memory.
    """
    chunk_of_block = plan.chunk_of_block().astype(np.int32)
    expected = np.diff(plan.starts[plan.chunks])
    waiting: dict[int, _Waiting] = {}
    row = 0
    for batch in batches:
        chunk = chunk_of_block[plan.code[row : row + batch.num_rows]]
        row += batch.num_rows
        for number, part in _parts(batch, chunk):
            if number in finished:
                continue
            here = waiting.setdefault(number, _Waiting(number, folder))
            here.add(part)
            if here.records == expected[number]:
                yield _complete(number, waiting.pop(number), plan)
        _spill_beyond(memory, waiting)


def _parts(batch: Any, chunk: Any) -> Iterator[tuple[int, Any]]:
    """The records of a batch by chunk, in order; stretches of one chunk are not copied."""
    cuts = np.flatnonzero(chunk[1:] != chunk[:-1]) + 1
    if len(cuts) <= 16:
        bounds = [0, *cuts.tolist(), len(chunk)]
        for first, stop in pairwise(bounds):
            yield int(chunk[first]), batch.slice(first, stop - first)
        return
    order = np.argsort(chunk, kind="stable")
    ordered = batch.take(integer_column(order))
    numbers, firsts = np.unique(chunk[order], return_index=True)
    stops = [*firsts[1:].tolist(), len(chunk)]
    for number, first, stop in zip(numbers.tolist(), firsts.tolist(), stops, strict=True):
        yield number, ordered.slice(first, stop - first)


def _spill_beyond(memory: int, waiting: dict[int, _Waiting]) -> None:
    held = sum(here.bytes for here in waiting.values())
    for here in sorted(waiting.values(), key=lambda one: -one.bytes):
        if held <= memory:
            return
        held -= here.bytes
        here.spill()


def _complete(number: int, found: _Waiting, plan: BlockPlan) -> Chunk:
    """Bring the records of a chunk, so far in the order of the table, into the order of blocks."""
    table = found.collect()
    rows = plan.rows(number)
    arrived = np.argsort(rows, kind="stable")  # arrived[i]: place by block of the i-th record read
    if not np.array_equal(arrived, np.arange(len(rows))):
        place = np.empty_like(arrived)
        place[arrived] = np.arange(len(rows))
        table = table.combine_chunks().take(integer_column(place))
    return Chunk(number, table, plan.block_starts(number))
