"""Reader of edge lists: two ids and a value per row, pairs repeated or not.

Ids are integers if both columns (and that of the nodes) are integers of a Parquet file, else they
are compared as text: 7 in one column is "7" in the other. They are encoded as a dictionary by
pyarrow, without a Python object per row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.tables.cast import Kind
from supclust.data.tables.reader import RecordTable, integers_of, numbers_of, suffix_of
from supclust.hac.graph.arrange import (
    LARGEST_OF,
    LEAST_OF,
    MEAN_OF,
    first_appearances,
    sort_pairs,
    unite_repeated,
)

Nodes = NDArray[np.int32]
Floats = NDArray[np.float64]
Repeated: TypeAlias = Literal["mean", "min", "max", "error"]

_RULES = {"mean": MEAN_OF, "min": LEAST_OF, "max": LARGEST_OF, "error": MEAN_OF}


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges of a graph, each unordered pair once, sorted by their ends.

    Attributes:
        ids: pyarrow array of text or int64, the name of every node: in the order of the table of
            nodes, else of first appearance.
        first: (e,) the node with the smaller number.
        second: (e,) the other.
        value: (e,) dissimilarities.
        repeated: how many rows were repetitions of a pair.
        loops: how many rows joined a node with itself; they only name the node.
    """

    ids: Any
    first: Nodes
    second: Nodes
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
    nodes: tuple[RecordTable, str] | None = None,
) -> Edges:
    """Read a list of edges.

    Args:
        table: with two columns of ids and one of values.
        column: of the values.
        probability: whether these are probabilities of being alike.
        id_a: column of one end.
        id_b: column of the other.
        repeated: how the values of a pair that is given several times are combined.
        nodes: a table of all nodes, with or without edges, and its column of ids.

    Raises:
        DataError: for a value or id that is missing, a value out of range, an id that is not among
            the nodes.
    """
    named = [(table, id_a), (table, id_b), *([nodes] if nodes else [])]
    integers = all(_holds_integers(*column_of) for column_of in named)
    known = read_ids(*nodes, integers=integers) if nodes else None
    first: list[Any] = []
    second: list[Any] = []
    values: list[Floats] = []
    row = 0
    for a, b, number in _columns(table, [id_a, id_b], integers, column):
        for name, ids in ((id_a, a), (id_b, b)):
            _refuse_missing(ids, name, "every edge needs two ids", table, row)
        numbers = numbers_of(number)
        _refuse_bad(numbers, probability, column, table.path, row)
        first.append(a)
        second.append(b)
        values.append(1.0 - numbers if probability else numbers)
        row += len(numbers)
    if row == 0:
        raise DataError("has a header but no edges; add some", table.path)
    ids, ends = _encode([*([known] if known is not None else []), *first, *second], len(first))
    del first, second
    a, b = ends[:row], ends[row:]
    if known is not None:
        _refuse_unknown(a, b, ids, len(known), table, nodes)
    else:
        ids = ids.take(_positions(first_appearances(a, b, len(ids))))
    value = np.concatenate(values)
    del values
    return _without_repetitions(ids, a, b, value, repeated, table.path)


def read_ids(table: RecordTable, column: str, *, integers: bool = False) -> Any:
    """Distinct ids of a table, as a pyarrow array of text or int64.

    Args:
        table: with a column of ids.
        column: of the ids.
        integers: whether to keep integers; else they become text.
    """
    import pyarrow as pa

    parts: list[Any] = []
    row = 0
    for (ids,) in _columns(table, [column], integers):
        _refuse_missing(ids, column, "every record needs an id", table, row)
        parts.append(ids)
        row += len(ids)
    if row == 0:
        raise DataError("has a header but no records; add some", table.path)
    ids = pa.chunked_array(parts)
    distinct = ids.unique()
    if len(distinct) < len(ids):
        _, codes = _encode(parts, 0)
        again = int(np.flatnonzero(np.maximum.accumulate(codes)[:-1] >= codes[1:])[0]) + 1
        raise DataError(
            f"ids must be distinct; {ids[again].as_py()!r} in column {column!r} is repeated; "
            "remove one of the records, or name another column with --id",
            table.path,
            table.line(again),
        )
    return distinct


def _holds_integers(table: RecordTable, column: str) -> bool:
    if suffix_of(table.path) != ".parquet" or column not in table.numeric:
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    return bool(pa.types.is_integer(pq.read_schema(table.path).field(column).type))


def _columns(
    table: RecordTable, ids: list[str], integers: bool, value: str | None = None
) -> Iterator[list[Any]]:
    """Columns of ids and, last, of values, a batch of rows at a time."""
    import pyarrow as pa

    values = [] if value is None else [value]
    if integers:
        for batch in table.raw_batches([*ids, *values]):
            numbers = [batch.column(name).cast(pa.float64(), safe=False) for name in values]
            yield [*(batch.column(name).cast(pa.int64()) for name in ids), *numbers]
    else:
        kinds: dict[str, Kind] = {**dict.fromkeys(ids, "text"), **dict.fromkeys(values, "number")}
        for batch in table.batches(kinds):
            yield [batch.column(name) for name in (*ids, *values)]


def _encode(parts: list[Any], last: int) -> tuple[Any, Nodes]:
    """Distinct values of arrays in the order of appearance; codes of the ``2 * last`` last arrays.

    All arrays for ``last`` = 0.
    """
    import pyarrow as pa

    encoded = pa.chunked_array(parts).dictionary_encode()
    chunks = encoded.chunks[-2 * last :] if last else encoded.chunks
    codes = np.concatenate([integers_of(chunk.indices) for chunk in chunks])
    return encoded.chunk(0).dictionary, codes


def _positions(values: Nodes) -> Any:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int32(), len(values), [None, pa.py_buffer(values)])


def _refuse_missing(ids: Any, name: str, why: str, table: RecordTable, row: int) -> None:
    if ids.null_count:
        empty = row + ids.is_null().to_pylist().index(True)
        raise DataError(
            f"column {name!r} is empty in row {empty + 1}; {why}", table.path, table.line(empty)
        )


def _refuse_bad(numbers: Floats, probability: bool, column: str, path: Path, row: int) -> None:
    bad = np.isnan(numbers) | np.isneginf(numbers)
    if probability:
        bad = ~((numbers >= 0) & (numbers <= 1))
    if bad.any():
        first = int(np.argmax(bad))
        expected = "between 0 and 1" if probability else "numbers or inf"
        what = "nothing" if np.isnan(numbers[first]) else f"{numbers[first]:g}"
        raise DataError(
            f"column {column!r} must hold {expected}; received {what} in edge {row + first + 1}. "
            "Correct or remove that row",
            path,
        )


def _refuse_unknown(
    a: Nodes, b: Nodes, ids: Any, known: int, table: RecordTable, nodes: Any
) -> None:
    if len(ids) == known:
        return
    row = int(np.argmax((a >= known) | (b >= known)))
    unknown = ids[int(max(a[row], b[row]))].as_py()
    raise DataError(
        f"edge {row + 1} names {unknown!r}, which column {nodes[1]!r} of {nodes[0].path} does not "
        "hold; add that record, or remove the edge",
        table.path,
    )


def _without_repetitions(
    ids: Any, a: Nodes, b: Nodes, value: Floats, rule: Repeated, path: Path
) -> Edges:
    first, second, value = sort_pairs(a, b, value, len(ids))
    count = len(value)
    kept, worst, low, high = unite_repeated(first, second, value, _RULES[rule])
    if rule == "error" and worst >= 0:
        pair = [ids[int(node)].as_py() for node in (first[worst], second[worst])]
        raise DataError(
            f"the pair {pair[0]!r}, {pair[1]!r} is given with the values {low:g} and {high:g}; "
            "keep one, or choose --repeated mean, min or max",
            path,
        )
    loops = len(a) - count
    return Edges(ids, first[:kept], second[:kept], value[:kept], count - kept, loops)


def read_labels(table: RecordTable, id: str, label: str, edges: Edges) -> NDArray[np.int64]:
    """(n,) known cluster of every node, -1 where there is none.

    Args:
        table: of some records; empty labels are not known.
        id: its column of ids.
        label: its column of clusters.
        edges: the graph.

    Raises:
        DataError: no label at all, fewer than two of one cluster, or a record that is repeated or
            not in the graph.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = pa.chunked_array([batch for (batch,) in _columns(table, [id], False)], pa.string())
    parts = [batch for (batch,) in _columns(table, [label], False)]
    clusters = pa.chunked_array(parts, pa.string())
    known = pc.is_valid(clusters)
    ids, clusters = ids.filter(known), clusters.filter(known)
    places = pc.index_in(ids, value_set=edges.ids.cast(pa.string()))
    if places.null_count:
        unknown = ids.filter(pc.is_null(places))[0].as_py()
        raise DataError(
            f"record {unknown!r} has a label but is not in the graph; name all records with "
            "--nodes, or remove it",
            table.path,
        )
    rows = np.concatenate([integers_of(chunk) for chunk in places.chunks] or [np.empty(0, int)])
    codes = np.concatenate(
        [integers_of(chunk.indices) for chunk in clusters.dictionary_encode().chunks]
        or [np.empty(0, int)]
    )
    if len(np.unique(rows)) < len(rows):
        twice = edges.ids[int(np.flatnonzero(np.bincount(rows) > 1)[0])].as_py()
        raise DataError(f"record {twice!r} is labelled twice; keep one label", table.path)
    if not (np.bincount(codes, minlength=1) > 1).any():
        raise DataError(
            f"column {label!r} must hold clusters of two and more records; received "
            f"{len(codes)} labelled records, all of different clusters; label more records",
            table.path,
        )
    labels = np.full(len(edges.ids), -1, np.int64)
    labels[rows] = codes
    return labels
