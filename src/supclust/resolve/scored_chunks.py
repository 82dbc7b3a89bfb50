"""Finished chunks of scored pairs, in the folder of an unfinished output."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supclust.cluster.resume import PartialOutput
from supclust.resolve.scoring import Edges

_PAIR = np.dtype([("left", "<i4"), ("right", "<i4"), ("dissimilarity", "<f4")])


class ScoredChunks(NamedTuple):
    """Scored pairs by number of chunk.

    Attributes:
        partial: the folder, opened.
        n: records, which the pairs must be of.
    """

    partial: PartialOutput
    n: int

    def finished(self) -> set[int]:
        """Numbers of the finished chunks."""
        return self.partial.finished()

    def store(self, chunk: int, edges: Edges) -> None:
        """Keep the scored pairs of a chunk."""
        pairs = np.empty(len(edges.left), _PAIR)
        for name, column in edges._asdict().items():
            pairs[name] = column
        self.partial.store(chunk, pairs)

    def load(self, chunk: int) -> Edges:
        """Scored pairs of a finished chunk."""
        pairs = self.partial.load(chunk)
        if pairs.dtype != _PAIR or pairs.ndim != 1:
            raise self.partial.damaged(chunk, f"it holds {pairs.dtype} {pairs.shape}")
        edges = Edges(*(np.ascontiguousarray(pairs[name]) for name in Edges._fields))
        of_records = (edges.left >= 0) & (edges.left < edges.right) & (edges.right < self.n)
        if not (of_records & np.isfinite(edges.dissimilarity)).all():
            raise self.partial.damaged(chunk, "it holds pairs of other records, or no numbers")
        return edges
