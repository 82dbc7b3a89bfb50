"""Where to cut a forest: scores of every threshold with strangers and lost pairs counted.

A labelled record's whole predicted cluster counts: pairs of a labelled and a foreign record are
half a predicted pair each (`supclust.cut.counts`). Labelled pairs that are never candidates count
as pairs that were not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.cut.counts import labelled_merge_pairs
from supclust.hac.cpu.numbering import join_sorted
from supclust.hac.graph.arrange import flatten, join
from supclust.hac.graph.forest import Forest
from supclust.metrics.threshold import ThresholdCurve, curve_from_merges

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class LabelledScores(NamedTuple):
    """Scores of a clustering on the labelled records, strangers counted."""

    precision: float
    recall: float
    pairwise_f1: float
    bcubed_precision: float
    bcubed_recall: float
    bcubed_f1: float


class EntityPairs(NamedTuple):
    """Pairs of a clustering, by entity; or by judged pair, with weights.

    Attributes:
        true: of one entity.
        predicted: of one cluster; a pair of two entities counts one half for each.
        shared: both.
        size: records of every entity; of judged pairs this and the following are empty.
        precision: sum of the B-cubed precisions of its records.
        recall: likewise.
    """

    true: Floats
    predicted: Floats
    shared: Floats
    size: Floats
    precision: Floats
    recall: Floats

    @classmethod
    def of(cls, labels: Ints, clusters: Ints, complete: bool) -> EntityPairs:
        """Count the pairs of every entity that has records.

        Args:
            labels: (n,) entity, -1: not known.
            clusters: (n,) predicted.
            complete: whether records without a label are strangers; else they are left out.
        """
        if not complete:
            clusters, labels = clusters[labels >= 0], labels[labels >= 0]
        known = labels >= 0
        sizes = np.bincount(clusters)  # with strangers
        size = np.bincount(labels[known]).astype(np.float64)
        cells, shared = np.unique(
            labels[known].astype(np.int64) * len(sizes) + clusters[known], return_counts=True
        )
        entity, of_cluster = cells // max(1, len(sizes)), sizes[cells % max(1, len(sizes))]
        inside = shared * (shared - 1) / 2
        predicted, found, precision, recall = (
            np.bincount(entity, values, minlength=len(size)).astype(np.float64)[size > 0]
            for values in (
                inside + shared * (of_cluster - shared) / 2,
                inside,
                shared**2 / of_cluster,
                shared**2 / size[entity],
            )
        )
        size = size[size > 0]
        return cls(size * (size - 1) / 2, predicted, found, size, precision, recall)

    @classmethod
    def joined(cls, parts: Sequence[EntityPairs]) -> EntityPairs:
        """The entities of all parts."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def where(self, kept: NDArray[np.bool_]) -> EntityPairs:
        """Some of the entities."""
        return EntityPairs(*(part[kept] if len(part) else part for part in self))

    @property
    def bcubed(self) -> Floats:
        """B-cubed F1 of the records of every entity."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total / self.size

    @property
    def bcubed_scores(self) -> tuple[float, float, float]:
        """B-cubed precision, recall and F1 of all records together."""
        records = max(1.0, float(self.size.sum()))
        return _with_f1(float(self.precision.sum()) / records, float(self.recall.sum()) / records)

    @property
    def scores(self) -> tuple[float, float, float]:
        """Precision, recall and F1 of all pairs together."""
        true, predicted, shared = (float(part.sum()) for part in self[:3])
        return _with_f1(shared / max(predicted, 1e-300), shared / max(true, 1e-300))

    @property
    def score(self) -> float:
        """Mean of F1 and of the mean B-cubed F1 of an entity, to which all contribute alike."""
        f1 = self.scores[2]
        return (f1 + float(self.bcubed.mean())) / 2 if len(self.size) else f1

    def clearly_better(self, other: EntityPairs) -> bool:
        """Whether the score is higher than that of another clustering by a standard error.

        The error of the difference is that of independent entities, by linearisation. It is large
        where a few large entities hold most of the pairs.
        """
        difference = self._influence() - other._influence()
        n = len(difference)
        error = float(np.sqrt((difference**2).sum() * n / max(n - 1, 1)))
        return self.score - other.score > error

    def _influence(self) -> Floats:
        """What every entity adds to the deviation of the score from its expectation."""
        pairs = self.true + self.predicted
        of_f1: Floats = (2 * self.shared - self.scores[2] * pairs) / max(pairs.sum(), 1e-300)
        if not len(self.size):
            return of_f1
        of_entities: Floats = (self.bcubed - self.bcubed.mean()) / len(self.size)
        return (of_f1 + of_entities) / 2


def tree_of(forest: Forest) -> Floats:
    """All trees of a forest as one in SciPy's format; the trees are joined at +inf."""
    order = np.argsort(forest.heights, kind="stable")
    merges = forest.pairs[order]
    parent = np.arange(forest.n, dtype=np.int32)
    join(parent, merges)
    flatten(parent)
    roots = np.unique(parent)
    rest = np.column_stack([roots[:-1], roots[1:]])
    Z = np.empty((forest.n - 1, 4))
    heights = forest.heights[order]
    lowest = heights[np.isfinite(heights)].min(initial=0.0)  # of must-links: -inf
    Z[:, 2] = np.concatenate([np.maximum(heights, lowest), np.full(len(rest), np.inf)])
    join_sorted(np.concatenate([merges, rest]).astype(np.int64), Z[:, :2], Z[:, 3])
    return Z


def threshold_curve(forest: Forest, labels: Ints, complete: bool) -> ThresholdCurve:
    """Precision, recall and F1 on labelled records at every threshold of a forest.

    Args:
        forest: of all records.
        labels: (n,) entity, -1: not known.
        complete: whether records without a label are strangers; else they are left out.
    """
    Z = tree_of(forest)
    if complete or (labels >= 0).all():
        return curve_from_merges([labelled_merge_pairs(Z, labels)])
    # No pair of an unlabelled record is scored: predicted pairs are those of two labelled ones.
    pairs = labelled_merge_pairs(Z, labels)
    among = labelled_merge_pairs(Z, np.where(labels < 0, -1, 0))
    return curve_from_merges([pairs._replace(joined=among.same_label)])


def labelled_scores(labels: Ints, clusters: Ints, complete: bool) -> LabelledScores:
    """Pairwise and B-cubed scores of clusters on labelled records; see `EntityPairs.of`.

    >>> labelled_scores(np.array([0, 0, 1, -1]), np.array([0, 0, 0, 0]), True).precision
    0.22...
    """
    pairs = EntityPairs.of(labels, clusters, complete)
    return LabelledScores(*pairs.scores, *pairs.bcubed_scores)


def _with_f1(precision: float, recall: float) -> tuple[float, float, float]:
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-300)
