"""Candidate pairs -> edges of a graph: features and dissimilarities, in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from supclust.cluster.engine import LOCAL, Engine, in_order, same
from supclust.resolve.blocking.keys import Ints
from supclust.resolve.pair_model import PairModel

if TYPE_CHECKING:
    from supclust.data.records.comparisons import RecordComparisons
    from supclust.resolve.scored_chunks import ScoredChunks

Progress = Callable[[int, int], None]

_CHUNK = 1 << 18  # pairs scored at a time
CLOSEST = -200.0
"""Least dissimilarity: log odds beyond it say nothing, and weights stay in range."""


class Edges(NamedTuple):
    """Scored pairs of records, each once."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    dissimilarity: NDArray[np.float32]

    @classmethod
    def none(cls) -> Edges:
        """No pairs."""
        return cls(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))

    def where(self, kept: NDArray[Any]) -> Edges:
        """Some of the pairs: a mask, or positions."""
        return Edges(self.left[kept], self.right[kept], self.dissimilarity[kept])

    def and_also(self, more: Edges) -> Edges:
        """These pairs, then others."""
        return Edges(
            np.concatenate([self.left, more.left]),
            np.concatenate([self.right, more.right]),
            np.concatenate([self.dissimilarity, more.dissimilarity]),
        )


class PairChunks(Protocol):
    """Pairs of records, listed in chunks: `Candidates` or `PairList`."""

    def chunks(self) -> Iterator[tuple[Ints, Ints]]:
        """Left and right records of pairs."""
        ...


class PairList(NamedTuple):
    """Pairs of records in memory."""

    left: Ints
    right: Ints

    def chunks(self) -> Iterator[tuple[Ints, Ints]]:
        """The pairs, in parts."""
        for at in range(0, len(self.left), _CHUNK):
            yield self.left[at : at + _CHUNK], self.right[at : at + _CHUNK]


class Compared(NamedTuple):
    """A table, ready to compare its records."""

    comparisons: RecordComparisons
    records: Any

    def features(self, left: Ints, right: Ints, nan: bool) -> NDArray[np.float32]:
        """(e, d) features of pairs."""
        return self.comparisons.features(self.records, left, right, nan=nan)


def score_candidates(
    candidates: PairChunks,
    table: Compared,
    models: Sequence[PairModel],
    which: Callable[[Ints, Ints], Ints] | None = None,
    most: float = np.inf,
    progress: Progress | None = None,
    total: int = 0,
    engine: Engine = LOCAL,
    kept: ScoredChunks | None = None,
) -> Edges:
    """Score all candidates.

    Args:
        candidates: pairs of the table.
        table: the records.
        models: one, or several of one family.
        which: model of every pair, where there are several.
        most: pairs with a larger dissimilarity are left out.
        progress: called with the number of pairs done and in all.
        total: number of pairs, for ``progress``.
        engine: computes the chunks.
        kept: chunks that were scored before are taken from here, and others added.
    """
    score = partial(_score, table, models, which, most)
    finished = set() if kept is None else kept.finished()
    parts = [] if kept is None else [(number, kept.load(number)) for number in finished]
    skipped = done = 0

    def pending() -> Iterator[tuple[int, tuple[Ints, Ints]]]:
        nonlocal skipped
        for number, pairs in enumerate(candidates.chunks()):
            if number in finished:
                skipped += len(pairs[0])
            else:
                yield number, pairs

    if progress:
        progress(0, total)
    with closing(engine.map(score, pending(), same)) as results:
        for number, (edges, count) in results:
            parts.append((number, edges))
            if kept is not None:
                kept.store(number, edges)
            done += count
            if progress:
                progress(done + skipped, max(done + skipped, total))
    if progress:  # chunks that were finished before may come after the last result
        progress(done + skipped, max(done + skipped, total))
    if not parts:
        return Edges.none()
    return Edges(*(np.concatenate(part) for part in zip(*in_order(parts), strict=True)))


def _score(
    table: Compared,
    models: Sequence[PairModel],
    which: Callable[[Ints, Ints], Ints] | None,
    most: float,
    pairs: tuple[Ints, Ints],
) -> tuple[Edges, int]:
    """Edges of a chunk of candidates, and the number of candidates."""
    left, right = pairs
    features = table.features(left, right, models[0].nan)
    if which is None:
        value = models[0].dissimilarity(features)
    else:
        value, chosen = np.empty(len(left)), which(left, right)
        for k, model in enumerate(models):
            mine = chosen == k
            if mine.any():
                value[mine] = model.dissimilarity(features[mine])
    kept = value <= most
    value = np.maximum(value, CLOSEST)
    ends = (left[kept].astype(np.int32), right[kept].astype(np.int32))
    return Edges(*ends, value[kept].astype(np.float32)), len(left)
