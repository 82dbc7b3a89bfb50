"""Which merges to ask a person about: those whose answer is likely to correct most pairs.

A merge at height h is taken to be decided wrongly with probability 1 / (1 + exp(s |h - cut|)), and
an answer settles all pairs between its two sides. So a question is worth this probability times the
number of pairs; where features disagree, up to twice that. With s = 1 heights would be log odds;
those of merges are means over many pairs, and surer. s = 8 was best of 1, 2, 4 and 8 with a
simulated reviewer on the labelled halves of Cora and the historical persons.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supclust.explain.component import sides
from supclust.explain.waterfall import Waterfall
from supclust.hac.graph.forest import Forest

Floats = NDArray[np.float64]

STEEPNESS = 8.0
"""s: how fast merges become certain with their distance to the cut."""


@dataclass(frozen=True)
class Question:
    """Two groups of records: are they of one entity?

    Attributes:
        left: ids of a group.
        right: ids of the other.
        height: of their merge.
        merged: whether they are in one cluster now.
        worth: pairs that an answer is expected to correct.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    height: float
    merged: bool
    worth: float

    @property
    def key(self) -> str:
        """The same for the same two groups, whatever else changes."""
        sides = sorted(["\0".join(sorted(self.left)), "\0".join(sorted(self.right))])
        return hashlib.sha256("\1".join(sides).encode()).hexdigest()[:24]


def questions(
    forest: Forest,
    ids: Sequence[str],
    threshold: float,
    most: int,
    answered: Iterable[str] = (),
) -> list[Question]:
    """The questions of a forest that are worth most.

    Args:
        forest: of all records, or of one component.
        ids: (n,) of its records.
        threshold: of the cut.
        most: questions.
        answered: keys of questions that are not asked again.
    """
    known = set(answered)
    value = worth(forest, threshold)
    chosen: list[Question] = []
    for k in np.argsort(-value, kind="stable").tolist():
        if len(chosen) == most or value[k] <= 0:
            break
        left, right = sides(forest, k)
        height = float(forest.heights[k])
        one, other = (tuple(ids[int(node)] for node in side) for side in (left, right))
        question = Question(one, other, height, height <= threshold, float(value[k]))
        if question.key not in known:
            chosen.append(question)
    return chosen


def worth(forest: Forest, threshold: float) -> Floats:
    """(m,) pairs that an answer about a merge is expected to correct; 0: it cannot be asked.

    Merges above the cut can be asked about if their two sides are clusters; merges below, always,
    but for must-links.
    """
    children, sizes = forest.numbered()
    component = np.repeat(np.arange(forest.n_components), np.diff(forest.offsets))
    leaves = np.bincount(forest.components, minlength=forest.n_components)[component]
    inner = children - leaves[:, None]  # position of a child among its component's merges
    place = forest.offsets[component][:, None] + np.maximum(inner, 0)
    pairs = np.where(inner >= 0, sizes[place], 1).prod(axis=1).astype(np.float64)
    clusters = ((inner < 0) | (forest.heights[place] <= threshold)).all(axis=1)
    asked = np.isfinite(forest.heights) & clusters
    wrong = 1 / (1 + np.exp(np.minimum(STEEPNESS * np.abs(forest.heights - threshold), 700)))
    return np.where(asked, wrong * pairs, 0.0)


def disagreement(waterfall: Waterfall) -> float:
    """From 0 (all columns point the same way) to 1 (half of the evidence points either way)."""
    parts = list(waterfall.by_column.values())
    total = sum(abs(part) for part in parts)
    return 0.0 if total == 0 else 1 - abs(sum(parts)) / total
