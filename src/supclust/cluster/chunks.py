"""The blocks of a table, grouped into chunks that are clustered at once.

`plan_blocks` reads the block of every record and assigns blocks to chunks. `gather` collects the
records of each chunk, wherever they are in the table, and yields a chunk once its last record was
read. A table sorted by block needs the memory of one chunk. For other tables incomplete chunks are
kept in memory up to a limit; beyond it the largest are spilled to files.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.tables.reader import integer_column, integers_of

Ints = NDArray[np.int64]
Item = TypeVar("Item")
CHUNK_RECORDS = 50_000
CHUNK_ENTRIES = 50_000_000  # of the dissimilarity matrices of a chunk
MEMORY = 512 << 20
_END: Any = object()


@dataclass(frozen=True)
class BlockPlan:
    """The blocks of a table in the order of their first records, grouped into chunks.

    Attributes:
        code: (n,) int32 block of every record.
        names: of the blocks.
        order: (n,) the records sorted by block; stable.
        starts: (b + 1,) where a block starts in ``order``.
        chunks: (c + 1,) first block of every chunk, then b.
    """

    code: NDArray[np.int32]
    names: tuple[str, ...]
    order: Ints
    starts: Ints
    chunks: Ints

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.code)

    @property
    def n_chunks(self) -> int:
        """Number of chunks."""
        return len(self.chunks) - 1

    def rows(self, chunk: int) -> Ints:
        """Records of a chunk, by block."""
        first, stop = self.starts[self.chunks[chunk : chunk + 2]]
        return self.order[first:stop]

    def block_starts(self, chunk: int) -> Ints:
        """(blocks + 1,) where the blocks of a chunk start among its `rows`."""
        first, stop = self.chunks[chunk : chunk + 2]
        starts: Ints = self.starts[first : stop + 1] - self.starts[first]
        return starts


def plan_blocks(batches: Iterable[Any], block: str | None) -> BlockPlan:
    """Read the block of every record.

    Memory: 12 bytes per record, and the names of the blocks.

    Args:
        batches: pyarrow batches that hold the column of blocks, as text.
        block: its name; ``None``: all records are one block.
    """
    codes: list[NDArray[np.int32]] = []
    numbers: dict[str, int] = {}
    row = 0
    for batch in batches:
        if block is None:
            codes.append(np.zeros(batch.num_rows, np.int32))
            numbers.setdefault("all", 0)
        else:
            encoded = batch.column(block).dictionary_encode()
            if encoded.null_count:
                empty = encoded.is_null().to_pylist().index(True)
                raise DataError(
                    f"every record needs a block; column {block!r} is empty in record "
                    f"{row + empty + 1}. Fill it in, or remove the record"
                )
            names = encoded.dictionary.to_pylist()
            table = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int32)
            codes.append(table[integers_of(encoded.indices)])
        row += batch.num_rows
    if row == 0:
        raise DataError("has a header but no records; add some")
    code = np.concatenate(codes)
    sizes = np.bincount(code, minlength=len(numbers))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    order = np.argsort(code, kind="stable")
    return BlockPlan(code, tuple(numbers), order, starts, _chunk_bounds(sizes))


def _chunk_bounds(sizes: Ints) -> Ints:
    """First block of every chunk, then b: consecutive blocks, of bounded work."""
    bounds, records, entries = [0], 0, 0
    for k, n in enumerate(sizes.tolist()):
        if records and (records + n > CHUNK_RECORDS or entries + n * n > CHUNK_ENTRIES):
            bounds.append(k)
            records = entries = 0
        records, entries = records + n, entries + n * n
    return np.array([*bounds, len(sizes)], np.int64)


class Chunk(NamedTuple):
    """Records of a chunk of blocks.

    Attributes:
        number: of the chunk.
        table: pyarrow table of its records, sorted by block; stable.
        starts: (blocks + 1,) where its blocks start.
    """

    number: int
    table: Any
    starts: Ints


class _Incomplete:
    """Records of a chunk read so far: batches in memory, the older ones in a file."""

    def __init__(self, path: Path) -> None:
        self.batches: list[Any] = []
        self.records = 0
        self.bytes = 0
        self.path = path
        self.writer: Any = None

    def add(self, batch: Any) -> None:
        self.batches.append(batch)
        self.records += batch.num_rows
        self.bytes += batch.nbytes

    def spill(self) -> None:
        import pyarrow as pa

        if self.writer is None:
            self.writer = pa.ipc.new_file(str(self.path), self.batches[0].schema)
        for batch in self.batches:
            self.writer.write_batch(batch)
        self.batches, self.bytes = [], 0

    def collect(self) -> Any:
        import pyarrow as pa

        batches = self.batches
        if self.writer is not None:
            self.writer.close()
            with pa.ipc.open_file(str(self.path)) as reader:
                spilled = [reader.get_batch(i) for i in range(reader.num_record_batches)]
            batches = [*spilled, *batches]
            self.path.unlink()
        return pa.Table.from_batches(batches)


def gather(
    batches: Iterable[Any],
    plan: BlockPlan,
    finished: Collection[int],
    folder: Path,
    memory: int = MEMORY,
) -> Iterator[Chunk]:
    """Yield the unfinished chunks of a table, each once it is complete.

    Args:
        batches: of the table, in the order of the plan's records.
        plan: blocks and chunks.
        finished: chunks to leave out.
        folder: for spilled records; it exists.
        memory: bytes of incomplete chunks that are kept in memory.
    """
    chunk_of_block = np.repeat(np.arange(plan.n_chunks, dtype=np.int32), np.diff(plan.chunks))
    expected = np.diff(plan.starts[plan.chunks])
    incomplete: dict[int, _Incomplete] = {}
    row = 0
    for batch in batches:
        chunk = chunk_of_block[plan.code[row : row + batch.num_rows]]
        row += batch.num_rows
        for number, part in _split_by_chunk(batch, chunk):
            if number in finished:
                continue
            path = folder / f"spilled-{number:06d}.arrow"
            chunk_so_far = incomplete.setdefault(number, _Incomplete(path))
            chunk_so_far.add(part)
            if chunk_so_far.records == expected[number]:
                yield _sorted_by_block(number, incomplete.pop(number).collect(), plan)
        held = sum(one.bytes for one in incomplete.values())
        for largest in sorted(incomplete.values(), key=lambda one: -one.bytes):
            if held <= memory:
                break
            held -= largest.bytes
            largest.spill()


def _split_by_chunk(batch: Any, chunk: Any) -> Iterator[tuple[int, Any]]:
    """The records of a batch by chunk, in order; runs of one chunk are not copied."""
    cuts = np.flatnonzero(chunk[1:] != chunk[:-1]) + 1
    if len(cuts) > 16:
        order = np.argsort(chunk, kind="stable")
        batch, chunk = batch.take(integer_column(order)), chunk[order]
        cuts = np.flatnonzero(chunk[1:] != chunk[:-1]) + 1
    for first, stop in pairwise([0, *cuts.tolist(), len(chunk)]):
        yield int(chunk[first]), batch.slice(first, stop - first)


def _sorted_by_block(number: int, table: Any, plan: BlockPlan) -> Chunk:
    """A chunk whose records, so far in the order of the table, are sorted by block."""
    rows = plan.rows(number)
    arrival = np.argsort(rows, kind="stable")
    if not np.array_equal(arrival, np.arange(len(rows))):
        position = np.empty_like(arrival)
        position[arrival] = np.arange(len(rows))
        table = table.combine_chunks().take(integer_column(position))
    return Chunk(number, table, plan.block_starts(number))


def prefetched(items: Iterable[Item]) -> Generator[Item, None, None]:
    """The same items; a thread makes the next one while one is used.

    Close the iterator (`contextlib.closing`) to wait for the thread when it is left early.

    >>> list(prefetched(range(3)))
    [0, 1, 2]
    """
    source = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="supclust-reader") as pool:
        following = pool.submit(next, source, _END)
        while (item := following.result()) is not _END:
            following = pool.submit(next, source, _END)
            yield item
