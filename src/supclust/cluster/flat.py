"""Flat clusters of the points or records of many blocks, in one compiled pass.

A thread computes dissimilarities, trees and cuts of some blocks at a time, within its cache.
Blocks of `SMALL` and more points, or with NaN or huge values, are clustered by `linkage`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.cluster.kernels import (
    centre,
    distances,
    embed,
    fill_points,
    fill_records,
    gap_scores,
    label_squares,
    score_part,
)
from supclust.cut.rule import Cut, learned_merges
from supclust.data.records.compare.kernel import EncodedRecords, Layout
from supclust.hac._linkage import linkage
from supclust.hac.cpu.dispatch import SMALL
from supclust.hac.cpu.threads import over_parts
from supclust.hac.graph.constraints import require_joined
from supclust.hac.memory import require_memory
from supclust.hac.tree import children_of, cut_labels, cut_tree
from supclust.model.trained import Floats, TrainedModel

Ints = NDArray[np.int64]
Labels = NDArray[np.int32]
Points = NDArray[np.float32]
Links = Mapping[int, tuple[Ints, Ints]]  # must-links and cannot-links by block
Features = Floats | Mapping[str, Any]  # points (n, d), or columns of records by name

_PARTS = 64  # of a chunk of blocks, so that threads finish together
_PART_ENTRIES = 500_000  # of the matrices of a part, which should fit into the cache
_NARROW = 64  # coordinates up to which our own matrix product is faster than BLAS


def label_points(
    model: TrainedModel, points: Floats, starts: Ints, cut: Cut, links: Links | None = None
) -> tuple[Labels, Ints]:
    """Cluster consecutive blocks of points, (n, d); see `flat_points`."""
    if points.ndim != 2 or points.shape[1] != model.d:
        raise ValueError(
            f"points of this model must have shape (n, {model.d}); received {points.shape}."
        )
    if not np.isfinite(points).all():
        raise ValueError("the numbers of a record must be finite; received NaN or infinity.")
    if not model.is_compiled:
        return flat_squares(
            lambda k: model.distances(points[starts[k] : starts[k + 1]]), starts, cut, links
        )
    if model.spec["name"] == "mahalanobis":
        matrix = np.asarray(model.weights["weight"], np.float32)
        return flat_points(embedded(points, starts, matrix), starts, cut, links=links)
    return flat_points(centred(points, starts), starts, cut, *model.linear, links=links)


def label_features(
    model: TrainedModel, features: Features, starts: Ints, cut: Cut, links: Links | None = None
) -> tuple[Labels, Ints]:
    """Cluster consecutive blocks of records, given by their columns, or of points."""
    if isinstance(features, Mapping):
        return label_records(model, features, starts, cut, links)
    return label_points(model, features, starts, cut, links)


def label_records(
    model: TrainedModel,
    columns: Mapping[str, Any],
    starts: Ints,
    cut: Cut,
    links: Links | None = None,
) -> tuple[Labels, Ints]:
    """Cluster consecutive blocks of records by their columns."""
    comparisons = model.comparisons
    if comparisons is None:
        raise ValueError("the model does not compare records; received columns of a table.")
    encoded = comparisons.encode(columns)
    if model.spec["name"] != "linear":  # boosted trees, or a class of another package

        def square(k: int) -> NDArray[Any]:
            rows = np.arange(starts[k], starts[k + 1])
            return model.distances(comparisons.block_features(encoded, rows))

        return flat_squares(square, starts, cut, links)
    weight, bias = model.linear
    return flat_records(encoded, comparisons.layout(), starts, weight, bias, cut, links)


def label_blocks(
    fill: Callable[[int, int, NDArray[Any]], None], starts: Ints, cut: Cut, kind: type
) -> tuple[Labels, Ints]:
    """Cluster blocks on all cores.

    Args:
        fill: compiled; writes the matrices of blocks a to b - 1 one after the other into the given
            buffer, without those of fewer than 2 or of `SMALL` and more points.
        starts: (b + 1,) first point of every block, then n.
        cut: linkage and cut.
        kind: float32 or float64.

    Returns:
        (n,) clusters from 0 in every block, and (b,) their number: -1 where the block has no matrix
        or its matrix has NaN or huge values.
    """
    labels = np.empty(int(starts[-1]), np.int32)
    sizes = np.diff(starts)
    counts = np.empty(len(sizes), np.int64)
    ends = np.concatenate([[0], np.cumsum(np.where(sizes < SMALL, sizes**2, 0))])

    def work(a: int, b: int) -> None:
        squares: NDArray[Any] = np.empty(int(ends[b] - ends[a]), kind)
        fill(a, b, squares)
        label_squares(squares, starts, cut, labels, counts, a, b)

    over_parts(work, len(sizes), max(_PARTS, int(ends[-1]) // _PART_ENTRIES))
    return labels, counts


def centred(points: NDArray[np.floating[Any]], starts: Ints) -> Points:
    """Points minus the mean of their block, in float32: a common offset costs no precision."""
    values = np.ascontiguousarray(points)
    out = np.empty(values.shape, np.float32)
    over_parts(lambda a, b: centre(values, starts, out, a, b), len(starts) - 1, _PARTS)
    return out


def embedded(points: NDArray[np.floating[Any]], starts: Ints, matrix: Points) -> Points:
    """`centred` points times the transpose of a (k, d) matrix.

    Narrow matrices are multiplied by our own kernel: BLAS threads spin-wait after a product, on the
    cores that the trees need.
    """
    if max(matrix.shape) > _NARROW:
        return centred(points, starts) @ matrix.T
    values, across = np.ascontiguousarray(points), np.ascontiguousarray(matrix.T)
    out = np.empty((len(values), len(matrix)), np.float32)
    over_parts(lambda a, b: embed(values, starts, across, out, a, b), len(starts) - 1, _PARTS)
    return out


def flat_points(
    points: Points,
    starts: Ints,
    cut: Cut,
    weight: Points | None = None,
    bias: float = 0.0,
    links: Links | None = None,
) -> tuple[Labels, Ints]:
    """Cluster blocks of points.

    Args:
        points: (n, k) float32, the blocks one after the other.
        starts: (b + 1,) first row of every block, then n.
        cut: linkage and cut.
        weight: (k,) for dissimilarities w . |x - x'| + b; default: Euclidean distances.
        bias: b.
        links: must-links and cannot-links of blocks, as positions in the block.

    Returns:
        (n,) clusters, numbered from 0 in every block by first appearance, and (b,) their number.

    Complexity: O(n_k^2 k) per block; a matrix of the largest block per thread.

    >>> points = np.array([[0.0], [5.0], [1.0], [9.0]], np.float32)
    >>> flat_points(points, np.array([0, 3, 4]), Cut(alpha=0.0, threshold=2.0))[0]
    array([0, 1, 0, 0], dtype=int32)
    """
    points = np.ascontiguousarray(points, np.float32)
    factors = np.empty(0, np.float32) if weight is None else np.asarray(weight, np.float32)
    offset = np.float32(bias)

    def large(first: int, stop: int) -> NDArray[np.float32]:
        across = np.ascontiguousarray(points[first:stop].T)
        square = np.empty((stop - first, stop - first), np.float32)

        def fill(a: int, b: int) -> None:
            if len(factors):
                gap_scores(across, a, b, factors, offset, square)
            else:
                distances(across, a, b, square)

        over_parts(fill, stop - first, _PARTS)
        return square

    def fill(a: int, b: int, squares: NDArray[Any]) -> None:
        fill_points(points, starts, factors, offset, a, b, squares)

    labels, counts = label_blocks(fill, starts, cut, np.float32)
    return _with_special(starts, cut, labels, counts, large, links)


def flat_records(
    records: EncodedRecords,
    layout: Layout,
    starts: Ints,
    weight: Points,
    bias: float,
    cut: Cut,
    links: Links | None = None,
) -> tuple[Labels, Ints]:
    """Cluster blocks of records under dissimilarities w . x + b of their comparisons x.

    Args:
        records: blocks one after the other.
        layout: of the features.
        starts: (b + 1,) first record of every block, then n.
        weight: (d,).
        bias: b.
        cut: linkage and cut.
        links: as in `flat_points`.

    Returns:
        As `flat_points`.
    """
    factors, offset = np.asarray(weight, np.float32), np.float32(bias)

    def large(first: int, stop: int) -> NDArray[np.float32]:
        square = np.empty((stop - first, stop - first), np.float32)
        rows = np.arange(first, stop)
        over_parts(
            lambda a, b: score_part(records, layout, rows, factors, offset, square, a, b),
            len(rows),
            _PARTS,
        )
        return square

    def fill(a: int, b: int, squares: NDArray[Any]) -> None:
        fill_records(records, layout, starts, factors, offset, a, b, squares)

    labels, counts = label_blocks(fill, starts, cut, np.float32)
    return _with_special(starts, cut, labels, counts, large, links)


def flat_squares(
    squares: Callable[[int], NDArray[Any]], starts: Ints, cut: Cut, links: Links | None = None
) -> tuple[Labels, Ints]:
    """Cluster blocks whose matrices are made one at a time; arguments else as `flat_points`."""
    labels, counts = np.zeros(int(starts[-1]), np.int32), np.diff(starts)
    for k in np.flatnonzero(counts > 1).tolist():
        _one(squares(k), cut, labels[starts[k] : starts[k + 1]], counts, k, links)
    return labels, counts


def _with_special(
    starts: Ints,
    cut: Cut,
    labels: Labels,
    counts: Ints,
    square: Callable[[int, int], NDArray[np.float32]],
    links: Links | None,
) -> tuple[Labels, Ints]:
    """Cluster the blocks that the compiled pass left out, and those with constraints."""
    counts[list(links or {})] = -1
    for k in np.flatnonzero(counts < 0).tolist():
        first, stop = int(starts[k]), int(starts[k + 1])
        require_memory(3 * 4 * (stop - first) ** 2, f"clustering a block of {stop - first:,}")
        _one(square(first, stop), cut, labels[first:stop], counts, k, links)
    return labels, counts


def _one(
    matrix: NDArray[Any], cut: Cut, labels: Labels, counts: Ints, k: int, links: Links | None
) -> None:
    if not np.isfinite(matrix).all():
        raise ValueError(
            "dissimilarities must be finite; received records whose numbers are so large that they "
            "overflow. Scale them as for training."
        )
    must, cannot = (links or {}).get(k, (None, None))
    Z = linkage(matrix, "exp", alpha=cut.alpha, must_link=must, cannot_link=cannot)
    if must is not None:
        require_joined(Z, cut.n_clusters or None)
    if cut.n_clusters > 0:
        labels[:] = cut_tree(Z, n_clusters=min(cut.n_clusters, len(labels)))
    elif cut.rule.trees.root.size and must is None:  # constraints are exact at one height
        children, heights = children_of(Z), np.ascontiguousarray(Z[:, 2])
        labels[:] = cut_labels(children, learned_merges(children, heights, cut.rule))
    else:
        labels[:] = cut_tree(Z, height=cut.threshold)
    counts[k] = int(labels.max()) + 1
