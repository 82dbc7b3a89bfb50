"""Blocks of pair features and the order of their rows, for all layouts of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from supclust.data.block import FloatArray, IntArray, condensed_index, n_pairs
from supclust.data.errors import DataError


class PairBlock(NamedTuple):
    """A block to cluster.

    Attributes:
        name: of the block.
        ids: (n,) of its points.
        features: (n(n-1)/2, d) float32, rows in condensed order.
        labels: (n,) cluster of each point, ``None`` where it is not known.
    """

    name: str
    ids: tuple[str, ...]
    features: FloatArray
    labels: tuple[str | None, ...]


class PairRows(NamedTuple):
    """Rows of a file that are pairs of one block.

    Attributes:
        first: ids of one end.
        second: ids of the other.
        path: of the file.
        line: line of a row; ``None`` where the file has no lines.
        block: starts the messages, where a file holds several blocks.
    """

    first: npt.NDArray[np.object_]
    second: npt.NDArray[np.object_]
    path: Path
    line: Callable[[int], int | None]
    block: str = ""

    def error(self, problem: str, row: int | None = None) -> DataError:
        """The error of a row, or of the block."""
        prefix = f"block {self.block!r}: " if self.block else ""
        return DataError(prefix + problem, self.path, None if row is None else self.line(row))


def pair_positions(
    rows: PairRows, ids: Sequence[str], unknown: str
) -> tuple[IntArray, IntArray, IntArray]:
    """Smaller point, larger point and condensed position of every row; all pairs exactly once.

    Args:
        rows: the pairs, in any order.
        ids: of the points of the block.
        unknown: what is wrong with an id that is not among them.

    Raises:
        DataError: For an unknown id, a pair of a point with itself, a pair given twice (in either
            order) and a pair not given at all.
    """
    index = {id: number for number, id in enumerate(ids)}
    ends = (rows.first, rows.second)
    codes = np.array([[index.get(id, -1) for id in end] for end in ends], np.int64)
    if (codes < 0).any():
        row = int((codes < 0).any(axis=0).argmax())
        name = next(end[row] for end in ends if end[row] not in index)
        raise rows.error(f"id {name!r} {unknown}", row)
    low, high = codes.min(axis=0), codes.max(axis=0)
    if (low == high).any():
        row = int((low == high).argmax())
        raise rows.error(
            f"a pair needs two different points; received {ids[low[row]]!r} twice", row
        )
    position = condensed_index(low, high, len(ids))
    _require_all_once(rows, ids, position)
    return low, high, position


def _require_all_once(rows: PairRows, ids: Sequence[str], position: IntArray) -> None:
    total = n_pairs(len(ids))
    count = np.bincount(position, minlength=total)
    if (count > 1).any():
        _, first, inverse = np.unique(position, return_index=True, return_inverse=True)
        row = int((first[inverse] != np.arange(len(position))).argmax())
        earlier = rows.line(int(first[inverse[row]]))
        where = "" if earlier is None else f", it is already on line {earlier}"
        pair = f"{rows.first[row]!r}, {rows.second[row]!r}"
        raise rows.error(f"the pair {pair} is repeated{where}", row)
    missing = np.flatnonzero(count == 0)
    if len(missing):
        i, j = (int(axis[missing[0]]) for axis in np.triu_indices(len(ids), 1))
        raise rows.error(
            f"{len(missing)} of {total} pairs are missing, the first is {ids[i]!r}, {ids[j]!r}; "
            "every unordered pair of the block's points needs a line"
        )
