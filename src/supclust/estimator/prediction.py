"""Clusters of the blocks of an input, by the code that ``supclust cluster`` uses."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supclust.cluster.flat import Links, label_points, label_records
from supclust.cluster.frame import block_column, frame_features, is_frame
from supclust.cluster.pairs import label_pairs
from supclust.cut.counts import labelled_pair_counts
from supclust.cut.rule import Cut
from supclust.data.block import FloatArray, IntArray
from supclust.data.records.labels import LabelCounts, blocks_note
from supclust.estimator.blocks import Blocks, read_blocks, rows_by_group
from supclust.hac.graph.constraints import check_pairs, links_by_block
from supclust.metrics.pairwise import PairCounts, pair_counts, scores_from_counts
from supclust.model.trained import TrainedModel


def clusters(
    blocks: Blocks,
    model: TrainedModel,
    threshold: float | None,
    n_clusters: int | Mapping[Any, int] | None,
    links: Links,
) -> IntArray:
    """(n,) clusters of all rows, numbered from 0; no cluster spans two blocks.

    Args:
        blocks: of the input.
        model: that clusters them.
        threshold: height to cut at; ``None``: the model's own cut, learned or a height.
        n_clusters: of every block, or of each by name, instead.
        links: of `links_of`.
    """
    by_name = n_clusters if isinstance(n_clusters, Mapping) else None
    same = None if isinstance(n_clusters, Mapping) else n_clusters
    counts_by_block = [same if by_name is None else by_name.get(name) for name in blocks.names]
    labels, counts = np.empty(blocks.n, np.int64), np.empty(len(blocks.rows), np.int64)
    for count in dict.fromkeys(counts_by_block):  # blocks with the same cut are clustered together
        chosen = [k for k, other in enumerate(counts_by_block) if other == count]
        sizes = [len(blocks.rows[k]) for k in chosen]
        _check_count(count, min(sizes))
        order = np.concatenate([blocks.rows[k] for k in chosen])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        cut = model.cut(threshold if count is None else None, count)
        here = {i: links[k] for i, k in enumerate(chosen) if k in links}
        labels[order], counts[chosen] = _label(blocks, chosen, order, starts, model, cut, here)
    for rows, offset in zip(blocks.rows, np.cumsum(counts) - counts, strict=True):
        labels[rows] += offset
    return labels


def pairwise_f1(
    blocks: Blocks, y: Any, codes: IntArray, predicted: IntArray, *, others: bool
) -> float:
    """Pairwise F1, pair counts pooled over blocks; warns of labelled pairs in different blocks.

    Args:
        blocks: of the input.
        y: (n,) labels.
        codes: (n,) true clusters, -1 where unlabelled.
        predicted: (n,) clusters.
        others: whether unlabelled rows are of other clusters; else they are not counted.
    """
    if not others:
        labelled = [rows[codes[rows] >= 0] for rows in blocks.rows]
        counts = [pair_counts(codes[rows], predicted[rows]) for rows in labelled if len(rows)]
    else:
        counts = [labelled_pair_counts(codes[rows], predicted[rows]) for rows in blocks.rows]
    pooled = PairCounts(*map(sum, zip(PairCounts(0, 0, 0), *counts, strict=True)))
    _warn_of_lost_pairs(blocks, y, codes, pooled)
    return scores_from_counts(pooled).f1


def _warn_of_lost_pairs(blocks: Blocks, y: Any, codes: IntArray, counts: PairCounts) -> None:
    """Say how many labelled pairs are in different blocks, and what F1 is with these as missed.

    Labels that are numbered from 0 or 1 in every block say nothing about other blocks.
    """
    sizes = np.bincount(codes[codes >= 0]).astype(np.int64)
    apart = int((sizes * (sizes - 1) // 2).sum()) - counts.true
    values = np.asarray(y).reshape(blocks.n)
    labels = [set(values[rows[codes[rows] >= 0]].tolist()) for rows in blocks.rows]
    if apart and not all(_numbered(one) for one in labels):
        note = blocks_note(LabelCounts(counts.true, 0, 0, apart))
        f1 = scores_from_counts(counts._replace(true=counts.true + apart)).f1
        warnings.warn(
            f"{note}. This score takes a label in two blocks as two clusters and leaves these "
            f"pairs out; with them, F1 is {f1:.3f}",
            stacklevel=4,
        )


def _numbered(labels: set[Any]) -> bool:
    """Whether labels are 0, 1, ... or 1, 2, ..."""
    return any(labels == set(range(first, first + len(labels))) for first in (0, 1))


def links_of(blocks: Blocks, must_link: ArrayLike | None, cannot_link: ArrayLike | None) -> Links:
    """Must-links and cannot-links of the blocks that have any, as positions in the block."""
    must = check_pairs(must_link, blocks.n, "must_link")
    cannot = check_pairs(cannot_link, blocks.n, "cannot_link")
    if not len(must) and not len(cannot):
        return {}
    block, place = np.empty((2, blocks.n), np.int64)
    for k, rows in enumerate(blocks.rows):
        block[rows], place[rows] = k, np.arange(len(rows))
    return links_by_block(must, cannot, block, place)


def _check_count(count: int | None, smallest: int) -> None:
    """Refuse numbers of clusters that a block cannot have."""
    if count is not None and not (isinstance(count, int | np.integer) and 1 <= count <= smallest):
        raise ValueError(
            "n_clusters must be an integer between 1 and the number of points, "
            f"{smallest} in the smallest block; received {count!r}."
        )


def _label(
    blocks: Blocks,
    chosen: Sequence[int],
    order: IntArray,
    starts: IntArray,
    model: TrainedModel,
    cut: Cut,
    links: Links,
) -> tuple[NDArray[np.int32], IntArray]:
    """Clusters of some blocks, one after the other, from 0 in each; and the number of each."""
    if blocks.columns is not None:
        columns = {name: _taken(column, order) for name, column in blocks.columns.items()}
        return label_records(model, columns, starts, cut, links)
    if blocks.kind == "vectors":
        points = np.concatenate([blocks.features(k) for k in chosen])
        return label_points(model, points, starts, cut, links)
    parts = [
        label_pairs(
            *(model, blocks.features(k), len(blocks.rows[k]), cut),
            {0: links[i]} if i in links else None,
        )
        if len(blocks.rows[k]) > 1  # nothing to compare a single point with
        else np.zeros(1, np.int32)
        for i, k in enumerate(chosen)
    ]
    return np.concatenate(parts), np.array([int(part.max()) + 1 for part in parts])


def read_new_blocks(estimator: Any, X: Any, groups: Any) -> Blocks:
    """The blocks of X for a fitted estimator: of a data frame, if its model compares records."""
    if estimator.model_.records is not None and is_frame(X):
        return read_frame(estimator.model_, X, groups)
    return read_blocks(estimator, X, groups, reset=False)


def read_frame(model: TrainedModel, frame: Any, groups: Any) -> Blocks:
    """The blocks of a data frame for a model that ``supclust fit`` made.

    Args:
        model: whose columns the frame has.
        frame: pandas or pyarrow.
        groups: block of every row. Default: the model's column of blocks, if the frame has it.
    """
    if groups is None:
        names = getattr(frame, "column_names", None) or list(frame.columns)
        by = block_column(names, model)
        groups = None if by is None else np.asarray(frame[by])
    features = frame_features(frame, model)
    blocks, rows = rows_by_group(groups, len(frame))
    if isinstance(features, Mapping):
        return Blocks("pairs", blocks, rows, len(frame), _no_features, features)
    return Blocks("vectors", blocks, rows, len(frame), lambda k: features[rows[k]])


def _no_features(k: int) -> FloatArray:
    raise ValueError(
        "the model compares columns of records, so blocks have no features here. "
        "Use predict, or supclust.cluster.label_blocks."
    )


def _taken(column: Any, order: IntArray) -> Any:
    """The values of a column, an array or a list, in another order."""
    return column[order] if isinstance(column, np.ndarray) else [column[k] for k in order.tolist()]
