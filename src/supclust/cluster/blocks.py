"""Which record is in which block, and which blocks are clustered together: one pass over a table.

What is kept of a table here is a number of 8 bytes per record and the names of the blocks, however
wide the table is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.tables.reader import integers_of

Ints = NDArray[np.int64]
CHUNK_RECORDS = 50_000
CHUNK_ENTRIES = 50_000_000  # of the matrices of a chunk, one after the other


@dataclass(frozen=True)
class BlockPlan:
    """The blocks of a table in the order of their first records, dealt out into chunks.

    Attributes:
        code: (n,) int32 block of every record.
        names: of the blocks.
        order: (n,) the records by block, in the order of the table within one.
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

    def chunk_of_block(self) -> Ints:
        """(b,) chunk of every block."""
        return np.repeat(np.arange(self.n_chunks), np.diff(self.chunks))

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
    return BlockPlan(code, tuple(numbers), order, starts, _chunks(sizes))


def _chunks(sizes: Ints) -> Ints:
    """Cut the blocks, in order, into chunks of bounded work."""
    bounds, records, entries = [0], 0, 0
    for k, n in enumerate(sizes.tolist()):
        if records and (records + n > CHUNK_RECORDS or entries + n * n > CHUNK_ENTRIES):
            bounds.append(k)
            records = entries = 0
        records, entries = records + n, entries + n * n
    return np.array([*bounds, len(sizes)], np.int64)
