"""Threshold or learned cut: the learned one, unless it is clearly worse in cross-validation.

Folds hold out whole blocks, or whole clusters where there is one block, because a cut is applied to
blocks and clusters that it was not fitted on. With a handful of blocks the difference of two cuts
is mostly noise, so that the better of the two is little more than a coin toss; the learned cut is
the better one on average. On a tie, or where nothing can be held out, the threshold is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from supclust.cut.counts import (
    LabelledTree,
    best_threshold,
    has_pairs,
    labelled_merge_pairs,
    scores_of_cut,
)
from supclust.cut.learned import LearnedCut, fit_learned_cut
from supclust.hac.tree import Floats

FOLDS = 5
CLEAR = 2.0
"""Standard errors by which the threshold has to be better."""


class Fold(NamedTuple):
    """Trees to fit on, and trees of other blocks or clusters to score."""

    fit: Sequence[LabelledTree]
    held_out: Sequence[LabelledTree]


class CutChoice(NamedTuple):
    """A cut of each kind, which of them to use, and why."""

    name: Literal["threshold", "learned"]
    threshold: float
    learned: LearnedCut | None
    """Also where the threshold is better; ``None`` where none could be fitted."""
    cross_validated: dict[str, float]
    """Mean F1 of held-out trees by name of the cut; empty where nothing could be held out."""
    standard_error: float
    """Of the difference of these two; infinite where nothing could be held out."""
    folds: int

    @property
    def reason(self) -> str:
        """One sentence for logs and reports."""
        if not self.cross_validated:
            return "threshold: there is too little to cross-validate a learned cut"
        threshold, learned = (self.cross_validated[name] for name in ("threshold", "learned"))
        return (
            f"{self.name}: held-out F1 {learned:.3f} of the learned cut, {threshold:.3f} of the "
            f"threshold; difference {learned - threshold:+.3f} ± {self.standard_error:.3f} over "
            f"{self.folds} folds"
        )


def block_folds(trees: Sequence[LabelledTree], count: int = FOLDS) -> list[Fold]:
    """Folds over blocks, each with large and small ones; none where fewer than two have pairs."""
    order = sorted(range(len(trees)), key=lambda i: -len(np.asarray(trees[i][1])))
    count = min(count, len(trees))
    folds = []
    for k in range(count):
        held = set(order[k::count])
        rest = [tree for i, tree in enumerate(trees) if i not in held]
        folds.append(Fold(rest, [trees[i] for i in sorted(held)]))
    return [fold for fold in folds if has_pairs(fold.fit) and has_pairs(fold.held_out)]


def choose_cut(
    trees: Sequence[LabelledTree], folds: Sequence[Fold] | None = None, *, seed: int = 0
) -> CutChoice:
    """Fit both cuts and choose between them.

    Args:
        trees: (Z, labels) of each block, by the same dissimilarity and linkage; best of blocks or
            clusters that the dissimilarity was not fitted on.
        folds: for the comparison. Default: over the blocks.
        seed: of the learned cut.
    """
    folds = block_folds(trees) if folds is None else folds
    threshold = best_threshold(trees).threshold
    learned = fit_learned_cut(trees, seed=seed) if has_pairs(trees) else None
    if len(folds) < 2 or learned is None:
        return CutChoice("threshold", threshold, learned, {}, math.inf, len(folds))
    scores = cross_validate(folds, seed=seed)
    differences = scores["learned"] - scores["threshold"]
    error = float(differences.std(ddof=1)) / len(folds) ** 0.5
    clearly_worse = differences.mean() <= -CLEAR * error  # a tie of all folds included
    name: Literal["threshold", "learned"] = "threshold" if clearly_worse else "learned"
    means = {cut: float(values.mean()) for cut, values in scores.items()}
    return CutChoice(name, threshold, learned, means, error, len(folds))


def cross_validate(folds: Sequence[Fold], *, seed: int = 0) -> dict[str, Floats]:
    """(folds,) F1 of either cut on the held-out trees of every fold, their pair counts pooled."""
    scores: dict[str, list[float]] = {"threshold": [], "learned": []}
    for fold in folds:
        height, cut = best_threshold(fold.fit).threshold, fit_learned_cut(fold.fit, seed=seed)
        pairs = [labelled_merge_pairs(Z, labels) for Z, labels in fold.held_out]
        applied = {
            "threshold": [one.heights <= height for one in pairs],
            "learned": [cut.applied(Z) for Z, _ in fold.held_out],
        }
        for name, merges in applied.items():
            scores[name].append(scores_of_cut(pairs, merges).f1)
    return {name: np.array(values) for name, values in scores.items()}
