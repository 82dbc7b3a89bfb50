"""Trees and points as JSON payloads for the page: merges, purities, names, thumbnails."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image

from supclust.data.block import Block, ByteArray
from supclust.hac.tree import (
    Floats,
    Ints,
    check_tree,
    children_of,
    cut_labels,
    joining_heights,
    leaf_counts,
)
from supclust.metrics.purity import MergePairs

MOST_LEAVES = 1500
"""Of a larger tree, the lowest merges are hidden: a leaf then stands for several points."""
PICTURE_BYTES = 1_500_000
"""Of all thumbnails of a block together; larger pictures are reduced."""
NAME_LENGTH = 80


@dataclass(frozen=True)
class Points:
    """The points of a block that trees are drawn over."""

    name: str
    ids: Sequence[str]
    labels: Ints  # (n,) true cluster code of every point; -1: unknown
    clusters: Sequence[str]  # name of every code
    images: ByteArray | None = None  # (n, height, width) uint8

    @classmethod
    def of(cls, block: Block) -> Points:
        """The points of a labelled block."""
        return cls(block.name, block.ids, block.labels, block.cluster_names, block.images)

    @property
    def labelled(self) -> bool:
        """Whether the true cluster of any point is known."""
        return bool((self.labels >= 0).any())


def points_payload(points: Points) -> dict[str, Any]:
    """Names, codes and pictures of a block's points, for JSON."""
    pictures = None if points.images is None else picture_uris(points.images)
    return {
        "name": short(points.name),
        "ids": [short(name) for name in points.ids],
        "labels": points.labels.tolist(),
        "clusters": [short(name) for name in points.clusters],
        "pictures": pictures,
    }


def tree_payload(points: Points, tree: Floats, threshold: float | None) -> dict[str, Any]:
    """One tree over a block, for JSON.

    Args:
        points: of the block.
        tree: (n - 1, 4) SciPy linkage matrix.
        threshold: the chosen cut; ``None`` where there is none.

    Returns:
        ``leaves`` (the points under each drawn leaf), ``children``, ``heights``, ``size``,
        ``joined`` and ``same`` (pairs of labelled points, and those of one true cluster, that each
        merge joins), ``inside`` (the same two below the leaves), ``true_pairs``, ``threshold``.
    """
    Z = check_tree(tree)
    pairs = labelled_merges(Z, points.labels)
    hidden = max(0, len(Z) + 1 - MOST_LEAVES)
    children, leaves = _top(children_of(Z), hidden)
    return {
        "leaves": leaves,
        "children": children.tolist(),
        "heights": [float(f"{h:.6g}") for h in pairs.heights[hidden:]],
        "size": leaf_counts(children_of(Z))[len(Z) + 1 + hidden :].tolist(),
        "joined": pairs.joined[hidden:].tolist(),
        "same": pairs.same_label[hidden:].tolist(),
        "inside": [int(pairs.joined[:hidden].sum()), int(pairs.same_label[:hidden].sum())],
        "true_pairs": int(pairs.same_label.sum()),
        "threshold": threshold,
        "labelled": points.labelled,
    }


def label_counts(tree: Floats, labels: Ints) -> Ints:
    """(2n - 1, k) points of every label under every node; those of label -1 are not counted.

    Complexity: O(n k).
    """
    n = len(tree) + 1
    counts = np.zeros((2 * n - 1, int(labels.max(initial=0)) + 1), dtype=np.int64)
    known = np.flatnonzero(labels >= 0)
    counts[known, labels[known]] = 1
    for k, (left, right) in enumerate(children_of(tree)):
        counts[n + k] = counts[left] + counts[right]
    return counts


def labelled_merges(tree: Floats, labels: Ints) -> MergePairs:
    """Like `supclust.metrics.purity.merge_pairs`, counting only the points that have a label.

    Args:
        tree: (n - 1, 4) SciPy linkage matrix.
        labels: (n,) cluster codes; -1 where a cluster is not known.

    >>> labelled_merges(np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 3]]), np.array([0, -1, 0])).joined
    array([0, 1])
    """
    counts, children = label_counts(tree, labels), children_of(tree)
    left, right = counts[children[:, 0]], counts[children[:, 1]]
    totals = np.maximum(counts[len(tree) + 1 :].sum(axis=1), 1)
    return MergePairs(
        joining_heights(children, np.ascontiguousarray(tree[:, 2])),
        left.sum(axis=1) * right.sum(axis=1),
        (left * right).sum(axis=1),
        (left * right * (left + right)).sum(axis=1) / totals,
    )


def purities(tree: Floats, labels: Ints) -> Floats:
    """(n - 1,) share of the most frequent label under every merge; 1 where none is known.

    >>> purities(np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 3]]), np.array([0, 0, 1])).tolist()
    [1.0, 0.6666666666666666]
    """
    merged = label_counts(tree, labels)[len(tree) + 1 :]
    totals = merged.sum(axis=1)
    shares: Floats = merged.max(axis=1, initial=0) / np.maximum(totals, 1)
    return np.where(totals > 0, shares, 1.0)


def mixed_merges(tree: Floats, labels: Ints, threshold: float | None) -> tuple[int, int, int]:
    """Merges that mix true clusters, those of them below the cut, and pure ones above it."""
    heights = labelled_merges(tree, labels).heights
    mixed = purities(tree, labels) < 1
    below = heights <= (np.inf if threshold is None else threshold)
    return int(mixed.sum()), int((mixed & below).sum()), int((~mixed & ~below).sum())


def picture_uris(images: ByteArray) -> list[str]:
    """Grey pictures (n, height, width) as PNG data URIs, reduced to fit `PICTURE_BYTES`."""
    factor = 1
    while images.size * 1.1 > PICTURE_BYTES * factor**2 and min(images.shape[1:]) >= 32 * factor:
        factor *= 2
    return [data_uri(Image.fromarray(image).reduce(factor)) for image in images]


def data_uri(picture: Image.Image) -> str:
    """A picture as ``data:image/png;base64,...``."""
    stream = BytesIO()
    picture.save(stream, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode("ascii")


def short(name: object) -> str:
    """A name from data, cut to a length that a page can show."""
    shown = str(name)
    return shown if len(shown) <= NAME_LENGTH else shown[: NAME_LENGTH - 1] + "…"


def _top(children: Ints, hidden: int) -> tuple[Ints, list[list[int]]]:
    """The tree above its first ``hidden`` merges, renumbered, and the points of its leaves."""
    n = len(children) + 1
    codes = cut_labels(children, np.arange(n - 1) < hidden)
    leaves: list[list[int]] = [[] for _ in range(n - hidden)]
    for point, code in enumerate(codes):
        leaves[code].append(point)
    new_id = np.concatenate([codes, np.arange(n - 1) - hidden + len(leaves)])
    for k in range(hidden):  # both children of a hidden merge are in the same leaf
        new_id[n + k] = new_id[children[k, 0]]
    return new_id[children[hidden:]], leaves
