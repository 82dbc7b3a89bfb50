"""Reader of edge lists: two ids and a value per row, pairs repeated or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.tables.reader import RecordTable, integer_column, integers_of, numbers_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Repeated: TypeAlias = Literal["mean", "min", "max", "error"]


@dataclass(frozen=True)
class Edges:
    """Edges of a graph, each unordered pair once.

    Attributes:
        ids: name of every node, in the order of first appearance.
        first: (e,) the node with the smaller number.
        second: (e,) the other.
        value: (e,) dissimilarities.
        repeated: how many rows were repetitions of a pair.
        loops: how many rows joined a node with itself; they only name the node.
    """

    ids: tuple[str, ...]
    first: Ints
    second: Ints
    value: Floats
    repeated: int
    loops: int


def read_edges(
    table: RecordTable,
    column: str,
    *,
    probability: bool,
    id_a: str = "id_a",
    id_b: str = "id_b",
    repeated: Repeated = "mean",
) -> Edges:
    """Read a list of edges.

    Args:
        table: with two columns of ids and one of values.
        column: of the values.
        probability: whether these are probabilities of being alike.
        id_a: column of one end.
        id_b: column of the other.
        repeated: how the values of a pair that is given several times are combined.
    """
    numbers: dict[str, int] = {}
    ends: list[Ints] = []
    values: list[Floats] = []
    row = 0
    for batch in table.batches({id_a: "text", id_b: "text", column: "number"}):
        ends.append(_codes(batch, (id_a, id_b), numbers, table.path, row))
        found = numbers_of(batch.column(column))
        _refuse_bad(found, probability, column, table.path, row)
        values.append(1.0 - found if probability else found)
        row += batch.num_rows
    if row == 0:
        raise DataError("has a header but no edges; add some", table.path)
    pairs, value = np.concatenate(ends), np.concatenate(values)
    pairs.sort(axis=1)
    loops = pairs[:, 0] == pairs[:, 1]
    return _without_repetitions(
        tuple(numbers), pairs[~loops], value[~loops], repeated, int(loops.sum()), table.path
    )


def _codes(
    batch: Any, columns: tuple[str, str], numbers: dict[str, int], path: Path, row: int
) -> Ints:
    """(rows, 2) numbers of the ends, in the order of first appearance."""
    import pyarrow as pa

    for name in columns:
        if batch.column(name).null_count:
            empty = batch.column(name).is_null().to_pylist().index(True)
            raise DataError(
                f"column {name!r} is empty in edge {row + empty + 1}; every edge needs two ids",
                path,
            )
    # Interleaved, so that ids are numbered row by row.
    both = pa.concat_arrays([batch.column(name) for name in columns])
    n = batch.num_rows
    order = np.arange(2 * n).reshape(2, n).T.reshape(-1)
    encoded = both.take(integer_column(order)).dictionary_encode()
    names = encoded.dictionary.to_pylist()
    table = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
    return table[integers_of(encoded.indices)].reshape(n, 2)


def _refuse_bad(found: Floats, probability: bool, column: str, path: Path, row: int) -> None:
    bad = (
        ~((found >= 0) & (found <= 1)) if probability else np.isnan(found) | np.isneginf(found)
    )  # fmt: skip
    if bad.any():
        first = int(np.argmax(bad))
        wanted = "between 0 and 1" if probability else "numbers or inf"
        what = "nothing" if np.isnan(found[first]) else f"{found[first]:g}"
        raise DataError(
            f"column {column!r} must hold {wanted}; received {what} in edge {row + first + 1}. "
            "Correct or remove that row",
            path,
        )


def _without_repetitions(
    ids: tuple[str, ...], pairs: Ints, value: Floats, rule: Repeated, loops: int, path: Path
) -> Edges:
    keys = pairs[:, 0] * len(ids) + pairs[:, 1]
    order = np.lexsort((value, keys))
    keys, value = keys[order], value[order]
    fresh = np.ones(len(keys), np.bool_)
    fresh[1:] = keys[1:] != keys[:-1]
    starts = np.flatnonzero(fresh)
    extra = len(keys) - len(starts)
    kept = keys[starts]
    if extra:
        stops = np.append(starts[1:], len(keys))
        lowest, highest = value[starts], value[stops - 1]
        if rule == "error" and (lowest != highest).any():
            first = int(np.argmax(lowest != highest))
            a, b = ids[kept[first] // len(ids)], ids[kept[first] % len(ids)]
            raise DataError(
                f"the pair {a!r}, {b!r} is given with the values {lowest[first]:g} and "
                f"{highest[first]:g}; keep one, or choose --repeated mean, min or max",
                path,
            )
        if rule == "mean":
            value = np.add.reduceat(value, starts) / (stops - starts)
        else:
            value = highest if rule == "max" else lowest
    return Edges(ids, kept // len(ids), kept % len(ids), value, extra, loops)
