"""Where the trees of a model are cut: chosen on the trees of its training and dev blocks.

``dev`` is the paper's cut, the best threshold of the dev blocks. ``threshold`` is the best one of
training and dev blocks, ``learned`` a learned cut (`supclust.cut`), and ``auto`` the learned cut
unless it is clearly worse in cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from supclust.cut import CUT_NAMES, CutName, best_threshold, ceilings
from supclust.cut.counts import UNLABELLED, has_pairs, labelled_merge_pairs, scores_of_cut
from supclust.data.block import Block
from supclust.hac import linkages
from supclust.hac.tree import Floats, Ints
from supclust.metrics.purity import MergePairs, mean_purity, purity_from_merges
from supclust.model.trained import TrainedModel

if TYPE_CHECKING:
    from supclust.cut import Fold, LearnedCut

HALVINGS = 4
_MOST_POINTS = 3000  # of one block that is halved by clusters for cross-validation


class ScoredTree(NamedTuple):
    """The tree of one block and the true clusters of its points."""

    block: str
    tree: Floats
    labels: Ints


class ModelCut(NamedTuple):
    """The cut of a model under one linkage."""

    threshold: float
    learned: LearnedCut | None
    facts: dict[str, Any]
    """JSON-able: which cut was asked for and chosen, and why."""

    def applied(self, tree: Floats, pairs: MergePairs) -> NDArray[np.bool_]:
        """(n - 1,) merges of a tree that the cut applies."""
        if self.learned is not None:
            return self.learned.applied(tree)
        applied: NDArray[np.bool_] = pairs.heights <= self.threshold
        return applied


def check_cut(name: Any) -> CutName:
    """The name of a cut, refused if there is no such cut."""
    if name not in CUT_NAMES:
        raise ValueError(f"cut must be one of {', '.join(CUT_NAMES)}; received {name!r}.")
    return cast("CutName", name)


def cut_of(
    name: CutName,
    train: Sequence[ScoredTree],
    dev: Sequence[ScoredTree],
    folds: Sequence[Fold] | None = None,
    *,
    seed: int = 0,
) -> ModelCut:
    """Choose the cut.

    Args:
        name: which; see this module.
        train: trees of the training blocks; not needed for ``dev``, unless there are no dev blocks.
        dev: trees of the dev blocks.
        folds: of `cluster_folds`; ``None``: over blocks.
        seed: of a learned cut.
    """
    held_out = _pairs_of(dev or train)
    everything = _pairs_of([*train, *dev])
    facts: dict[str, Any] = {"asked": name, "chosen": name}
    if name == "dev":
        return ModelCut(best_threshold(held_out).threshold, None, facts)
    if name == "threshold" or not has_pairs(everything):
        facts["chosen"] = "threshold"
        return ModelCut(best_threshold(everything).threshold, None, facts)
    from supclust.cut import choose_cut, fit_learned_cut

    if name == "learned":
        learned = fit_learned_cut(everything, seed=seed)
        return ModelCut(learned.threshold, learned, facts)
    choice = choose_cut(everything, folds, seed=seed)
    facts |= {
        "chosen": choice.name,
        "reason": choice.reason,
        "cross_validated": choice.cross_validated,
        "standard_error": choice.standard_error if choice.cross_validated else None,
        "folds": choice.folds,
    }
    learned_cut = choice.learned if choice.name == "learned" else None
    return ModelCut(choice.threshold, learned_cut, facts)


def cluster_folds(
    model: TrainedModel, train: Sequence[Block], dev: Sequence[Block], alpha: float, seed: int = 0
) -> list[Fold] | None:
    """Folds over clusters, where the training and the dev block are parts of one block.

    Training against dev clusters, and for vectors random halves of all their clusters against each
    other, in both directions: a half has about as many clusters as a part of the data, and a tree
    of few clusters is easier to cut than one of many. ``None`` where there are several blocks.
    """
    from supclust.cut import Fold

    blocks = [*train, *dev]
    if len(train) != 1 or len(dev) > 1:
        return None
    parts = [(_tree(model, block, alpha), block.known_labels) for block in blocks]
    folds = [Fold([parts[0]], [parts[1]]), Fold([parts[1]], [parts[0]])] if dev else []
    points = sum(block.n for block in blocks)
    if blocks[0].kind == "vectors" and points <= _MOST_POINTS:
        offsets = np.cumsum([0, *(block.n_clusters for block in blocks)])
        labels = np.concatenate(
            [
                np.where(block.known_labels < 0, UNLABELLED, block.labels + offset)
                for block, offset in zip(blocks, offsets[:-1], strict=True)
            ]
        )
        square = model.distances(np.concatenate([block.features for block in blocks]))
        folds += _halves(square, labels, alpha, np.random.default_rng([seed, HALVINGS]))
    return [fold for fold in folds if has_pairs(fold.fit) and has_pairs(fold.held_out)]


def scores(trees: Sequence[ScoredTree], cut: ModelCut) -> dict[str, float | None]:
    """Mean dendrogram purity; pooled pairwise precision, recall and F1 of a cut."""
    pairs = [labelled_merge_pairs(one.tree, one.labels) for one in trees]
    applied = [cut.applied(one.tree, p) for one, p in zip(trees, pairs, strict=True)]
    precision, recall, f1 = scores_of_cut(pairs, applied)
    purity = mean_purity(map(purity_from_merges, pairs)).mean
    return {
        "dendrogram_purity": purity,
        "precision": precision,
        "recall": recall,
        "pairwise_f1": f1,
    }


def ceiling_of(trees: Sequence[ScoredTree]) -> float:
    """F1 of the best cut of the trees."""
    return ceilings(_pairs_of(trees)).f1


def _halves(
    square: NDArray[Any], labels: Ints, alpha: float, rng: np.random.Generator
) -> list[Fold]:
    """Random halves of the clusters against each other; strangers are in both."""
    from supclust.cut import Fold

    clusters = np.unique(labels[labels != UNLABELLED])
    folds = []
    for _ in range(HALVINGS if len(clusters) >= 4 else 0):
        first = rng.permutation(clusters)[: len(clusters) // 2]
        of_first, strangers = np.isin(labels, first), labels == UNLABELLED
        halves = []
        for rows in (np.flatnonzero(of_first | strangers), np.flatnonzero(~of_first)):
            part = np.ascontiguousarray(square[np.ix_(rows, rows)])
            halves.append((linkages([part], "exp", alpha=alpha)[0], labels[rows]))
        folds += [Fold([halves[0]], [halves[1]]), Fold([halves[1]], [halves[0]])]
    return folds


def _tree(model: TrainedModel, block: Block, alpha: float) -> Floats:
    return linkages([model.distances(block.features)], "exp", alpha=alpha)[0]


def _pairs_of(trees: Sequence[ScoredTree]) -> list[tuple[Floats, Ints]]:
    return [(one.tree, one.labels) for one in trees]
