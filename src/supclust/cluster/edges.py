"""Cluster a list of edges: connected components, then ExpLink inside each.

* A probability p is the dissimilarity 1 - p: bounded, and a threshold of 0.5 means "more likely
  alike than not".
* A pair that is given several times, in either order, counts once, with the mean, smallest or
  largest of its values, or is refused.
* A pair that is not given has the value ``missing``. It must lie above the threshold: else records
  that were never compared would be put together.

Every ExpLink value is a weighted mean of pairs, so a merge at or below the threshold needs a pair
at or below it. So components of just those edges give exactly the clusters of the whole graph, with
much smaller matrices; inside a component all its edges count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supclust.cluster.flat import Cut, Ints, Labels, label_blocks
from supclust.data.errors import DataError
from supclust.data.record_tables import RecordTable, integer_column, integers_of, numbers_of
from supclust.hac.api import linkage
from supclust.hac.chain import SMALL
from supclust.hac.memory import require_memory
from supclust.hac.tree import cut_tree

Floats = NDArray[np.float64]
Repeated: TypeAlias = Literal["mean", "min", "max", "error"]
REPEATED: tuple[Repeated, ...] = ("mean", "min", "max", "error")
MOST_LIKELY = 0.5  # default threshold of probabilities, as a dissimilarity


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


@dataclass(frozen=True)
class EdgeClusters:
    """Component and cluster of every node, (n,), numbered by first appearance."""

    component: Ints
    cluster: Ints


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
        repeated: what a pair counts that is given several times.
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
    """(rows, 2) numbers of the ends, given out in the order in which ids are read."""
    import pyarrow as pa

    for name in columns:
        if batch.column(name).null_count:
            empty = batch.column(name).is_null().to_pylist().index(True)
            raise DataError(
                f"column {name!r} is empty in edge {row + empty + 1}; every edge needs two ids",
                path,
            )
    # One after the other, row by row, so that ids are numbered as a reader meets them.
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
        place = int(np.argmax(bad))
        wanted = "between 0 and 1" if probability else "numbers or inf"
        what = "nothing" if np.isnan(found[place]) else f"{found[place]:g}"
        raise DataError(
            f"column {column!r} must hold {wanted}; received {what} in edge {row + place + 1}. "
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
            place = int(np.argmax(lowest != highest))
            a, b = ids[kept[place] // len(ids)], ids[kept[place] % len(ids)]
            raise DataError(
                f"the pair {a!r}, {b!r} is given with the values {lowest[place]:g} and "
                f"{highest[place]:g}; keep one, or choose --repeated mean, min or max",
                path,
            )
        if rule == "mean":
            value = np.add.reduceat(value, starts) / (stops - starts)
        else:
            value = highest if rule == "max" else lowest
    return Edges(ids, kept // len(ids), kept % len(ids), value, extra, loops)


def cluster_edges(edges: Edges, alpha: float, threshold: float, missing: float) -> EdgeClusters:
    """Cluster the nodes of a graph; see this module.

    Args:
        edges: each pair once.
        alpha: of the linkage, -inf (single) to inf (complete).
        threshold: height to cut at.
        missing: dissimilarity of pairs that are not given, above the threshold; inf is legal.

    Raises:
        ValueError: a component is too large for the memory, or ``missing`` too small.

    Complexity: O(e log e + sum of squares of the components' sizes).
    """
    if not missing > threshold:
        raise ValueError(
            "pairs that are not given must be less alike than the threshold; received "
            f"--missing {missing:g} and --threshold {threshold:g}. Raise --missing, or lower "
            "--threshold."
        )
    n = len(edges.ids)
    component = _components(edges, threshold)
    order = np.argsort(component, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(component))])
    largest = int(np.diff(starts).max(initial=0))
    try:
        require_memory(3 * 8 * largest**2, f"the largest connected component, {largest:,} records,")
    except ValueError as error:
        raise ValueError(f"{error} Or lower --threshold, which makes components smaller.") from None
    place = np.empty(n, np.int64)
    place[order] = np.arange(n) - np.repeat(starts[:-1], np.diff(starts))
    labels = _inside(edges, component, place, starts, Cut(alpha, threshold), missing)
    counts = np.maximum.reduceat(labels, starts[:-1]) + 1
    offset = np.concatenate([[0], np.cumsum(counts)[:-1]])
    cluster = np.empty(n, np.int64)
    cluster[order] = labels + np.repeat(offset, np.diff(starts))
    return EdgeClusters(component, _by_appearance(cluster))


def _components(edges: Edges, threshold: float) -> Ints:
    """(n,) component of every node over the edges at or below the threshold."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(edges.ids)
    near = edges.value <= threshold
    ones = np.ones(int(near.sum()), np.int8)
    graph = coo_array((ones, (edges.first[near], edges.second[near])), shape=(n, n))
    return _by_appearance(connected_components(graph, directed=False)[1].astype(np.int64))


def _by_appearance(codes: Ints) -> Ints:
    """The same partition numbered from 0 in the order of first appearance."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _inside(
    edges: Edges, component: Ints, place: Ints, starts: Ints, cut: Cut, missing: float
) -> Labels:
    """(n,) clusters of the nodes by component, numbered from 0 in each."""
    owner = component[edges.first]
    within = np.flatnonzero(owner == component[edges.second])
    within = within[np.argsort(owner[within], kind="stable")]
    ends = np.concatenate([[0], np.cumsum(np.bincount(owner[within], minlength=len(starts) - 1))])
    i, j = place[edges.first[within]], place[edges.second[within]]
    value = edges.value[within]

    def fill(a: int, b: int, squares: NDArray[Any]) -> None:
        _fill_components(i, j, value, ends, starts, missing, a, b, squares)

    labels, counts = label_blocks(fill, starts, cut, np.float64)
    for k in np.flatnonzero(counts < 0).tolist():
        here, n = slice(ends[k], ends[k + 1]), int(starts[k + 1] - starts[k])
        square = np.full((n, n), missing)
        square[i[here], j[here]] = square[j[here], i[here]] = value[here]
        Z = linkage(square, "exp", alpha=cut.alpha)
        labels[starts[k] : starts[k + 1]] = cut_tree(Z, height=cut.threshold)
    return labels


@njit(cache=True, nogil=True)
def _fill_components(i, j, value, ends, starts, missing, begin, end, squares):  # type: ignore[no-untyped-def]
    """Matrices of components ``begin`` to ``end``, one after the other; see `label_blocks`."""
    place = 0
    for k in range(begin, end):
        n = starts[k + 1] - starts[k]
        if n < 2 or n >= SMALL:
            continue
        psi = squares[place : place + n * n].reshape(n, n)
        place += n * n
        psi[:] = missing
        for e in range(ends[k], ends[k + 1]):
            psi[i[e], j[e]] = value[e]
            psi[j[e], i[e]] = value[e]


def default_missing(edges: Edges, probability: bool, threshold: float) -> float:
    """Value of pairs that are not given: probability 0, or the largest dissimilarity of the list.

    Where that does not exceed the threshold, "never alike": inf.
    """
    if probability:
        return 1.0 if threshold < 1.0 else math.inf
    finite = edges.value[np.isfinite(edges.value)]
    largest = float(finite.max()) if len(finite) else math.inf
    return largest if largest > threshold else math.inf


def edge_batches(edges: Edges, clusters: EdgeClusters) -> Iterator[Any]:
    """The output: id, component and cluster of every node."""
    import pyarrow as pa

    step = 65536
    for start in range(0, len(edges.ids), step):
        part = slice(start, start + step)
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(edges.ids[part], pa.string()),
                integer_column(clusters.component[part]),
                integer_column(clusters.cluster[part]),
            ],
            names=["id", "component", "cluster"],
        )
