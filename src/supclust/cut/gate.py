"""Threshold or learned cut: the one with the better cross-validated F1.

Folds hold out whole blocks, or whole clusters where there is one block, because a cut is applied to
blocks and clusters that it was not fitted on. The learned cut has to win: on a tie, or where
nothing can be held out, the threshold is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from supclust.cut.counts import LabelledTree, labelled_merge_pairs
from supclust.cut.learned import LearnedCut, fit_learned_cut
from supclust.cut.threshold import best_threshold
from supclust.metrics.pairwise import PairCounts, scores_from_counts

FOLDS = 5


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
    """Pooled F1 of held-out trees by name of the cut; empty where nothing could be held out."""
    folds: int

    @property
    def reason(self) -> str:
        """One sentence for logs and reports."""
        if not self.cross_validated:
            return "threshold: there is too little to cross-validate a learned cut"
        threshold, learned = (self.cross_validated[name] for name in ("threshold", "learned"))
        return (
            f"{self.name}: held-out F1 {learned:.3f} of the learned cut, {threshold:.3f} of the "
            f"threshold ({self.folds} folds)"
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
    return [fold for fold in folds if _has_pairs(fold.fit) and _has_pairs(fold.held_out)]


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
    learned = fit_learned_cut(trees, seed=seed) if _has_pairs(trees) else None
    if len(folds) < 2 or learned is None:
        return CutChoice("threshold", threshold, learned, {}, len(folds))
    scores = cross_validate(folds, seed=seed)
    better = scores["learned"] > scores["threshold"]
    name: Literal["threshold", "learned"] = "learned" if better else "threshold"
    return CutChoice(name, threshold, learned, scores, len(folds))


def cross_validate(folds: Sequence[Fold], *, seed: int = 0) -> dict[str, float]:
    """F1 of either cut on the held-out trees, pair counts pooled over all folds."""
    counts = {"threshold": np.zeros(3), "learned": np.zeros(3)}
    for fold in folds:
        height, cut = best_threshold(fold.fit).threshold, fit_learned_cut(fold.fit, seed=seed)
        for Z, labels in fold.held_out:
            pairs = labelled_merge_pairs(Z, labels)
            for name, kept in (("threshold", pairs.heights <= height), ("learned", cut.applied(Z))):
                joined, shared = pairs.joined[kept].sum(), pairs.same_label[kept].sum()
                counts[name] += [pairs.same_label.sum(), joined, shared]
    return {name: scores_from_counts(PairCounts(*count)).f1 for name, count in counts.items()}


def _has_pairs(trees: Sequence[LabelledTree]) -> bool:
    return any(labelled_merge_pairs(Z, labels).same_label.any() for Z, labels in trees)
