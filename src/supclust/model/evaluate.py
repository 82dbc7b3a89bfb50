"""Score a trained dissimilarity: trees under every linkage, the dev threshold, test scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from supclust.data.block import Block
from supclust.data.splits import DatasetSplit
from supclust.hac import linkages
from supclust.hac.family import TOP_DOWN, alpha_of
from supclust.hac.tree import Floats, Ints, cut_tree
from supclust.metrics.pairwise import pooled_scores
from supclust.metrics.purity import mean_purity, merge_pairs, purity_from_merges
from supclust.metrics.threshold import best_of_curve, curve_from_merges
from supclust.model.trained import TrainedModel

MATRIX_ENTRIES = 8_000_000  # of the dissimilarities held at once, unless one block has more


class ScoredTree(NamedTuple):
    """The tree of one block and the true clusters of its points."""

    block: str
    tree: Floats
    labels: Ints


Alphas = Mapping[str, "float | None"]
"""Alpha of every linkage; ``None`` for a top-down tree, which has none."""


def evaluate(
    model: TrainedModel,
    parts: DatasetSplit,
    methods: Sequence[str],
    alpha: float | None,
    *,
    seed: int = 0,
    split: int = 0,
    cut_on_train: bool = False,
) -> dict[str, dict[str, Any]]:
    """Scores of one split under every linkage.

    The threshold is the cut with the best pairwise F1 on the dev blocks (and the training blocks,
    if these are to count as well), counts pooled over them; purity is averaged over blocks.
    Top-down trees (``rsc``, ``random``) have no heights to cut at and are scored by purity only,
    and on test only: nothing is chosen on dev for them, and the sparsest cut takes longer than all
    other linkages together.

    Args:
        model: trained on the split; its own linkage and cut are not used.
        parts: the blocks of that split.
        methods: linkages.
        alpha: of ``exp``; may be ``None`` if that is not among the methods.
        seed: of random and sparsest-cut trees.
        split: number of the split, which random trees depend on.
        cut_on_train: whether thresholds are chosen on train and dev instead of dev alone.

    Returns:
        {linkage: {alpha, threshold, dev: {...}, test: {...}}}.
    """
    alphas = {method: _alpha_of(method, alpha) for method in methods}
    cutting = {method: value for method, value in alphas.items() if value is not None}
    dev = trees(model, parts.dev, cutting)
    train = trees(model, parts.train if cut_on_train else (), cutting)
    test = trees(model, parts.test, alphas, seed=seed, split=split)
    return {
        method: {"alpha": value, **_scores(dev.get(method), test[method], train.get(method, []))}
        for method, value in alphas.items()
    }


def trees(
    model: TrainedModel, blocks: Sequence[Block], alphas: Alphas, *, seed: int = 0, split: int = 0
) -> dict[str, list[ScoredTree]]:
    """Trees of blocks under every linkage; dissimilarities are computed once.

    Args:
        model: trained.
        blocks: labelled.
        alphas: of every linkage.
        seed: of random and sparsest-cut trees.
        split: number of the split, which random trees depend on.

    Returns:
        Per linkage, the trees, largest block first.
    """
    scored: dict[str, list[ScoredTree]] = {method: [] for method in alphas}
    for group in _groups(sorted(blocks, key=lambda block: -block.n)):
        squares = [model.distances(block.features) for block in group]
        for method, alpha in alphas.items():
            if alpha is not None:
                built = linkages(squares, "exp", alpha=alpha)
            elif method == "rsc":
                from supclust.hac.topdown import recursive_sparsest_cut

                built = [recursive_sparsest_cut(square, seed) for square in squares]
            else:
                built = [_random_tree(block, seed, split) for block in group]
            scored[method] += [
                ScoredTree(block.name, tree, block.labels)
                for block, tree in zip(group, built, strict=True)
            ]
    return scored


def choose_cut(
    model: TrainedModel, blocks: Sequence[Block], more: Sequence[Block] = ()
) -> TrainedModel:
    """The model with the threshold that has the best pairwise F1 on the blocks, counts pooled.

    Args:
        model: with linkage and alpha.
        blocks: labelled; their scores go into the record as ``dev``.
        more: labelled blocks on which the threshold is chosen as well.
    """
    alphas = {"exp": model.alpha}
    others = trees(model, more, alphas)["exp"]
    threshold, scores = _best_cut(trees(model, blocks, alphas)["exp"], others)
    return replace(model, threshold=threshold, record={**model.record, "dev": scores})


def spread(model: TrainedModel, blocks: Sequence[Block]) -> float:
    """Standard deviation of the dissimilarities within blocks: the scale that alpha refers to."""
    values = np.concatenate(
        [model.distances(block.features)[np.triu_indices(block.n, 1)] for block in blocks]
    )
    return (float(values.std(dtype=np.float64)) if len(values) else 0.0) or 1.0


def _groups(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Consecutive blocks whose matrices have at most `MATRIX_ENTRIES` entries together."""
    group: list[Block] = []
    for block in blocks:
        if group and sum(b.n**2 for b in group) + block.n**2 > MATRIX_ENTRIES:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _random_tree(block: Block, seed: int, split: int) -> NDArray[np.float64]:
    from supclust.hac.topdown import random_tree

    return random_tree(block.n, np.random.default_rng([seed, split, crc32(block.name.encode())]))


def _scores(
    dev: list[ScoredTree] | None, test: list[ScoredTree], train: Sequence[ScoredTree] = ()
) -> dict[str, Any]:
    """Threshold from dev (and train) where there is any; scores of dev and test."""
    threshold, dev_scores = None, {"dendrogram_purity": None, **_flat_scores([], None)}
    if dev is not None:
        threshold, dev_scores = _best_cut(dev, train)
    purities = (purity_from_merges(merge_pairs(scored.tree, scored.labels)) for scored in test)
    test_scores = {"dendrogram_purity": mean_purity(purities).mean, **_flat_scores(test, threshold)}
    return {"threshold": threshold, "dev": dev_scores, "test": test_scores}


def _best_cut(
    scored: Sequence[ScoredTree], more: Sequence[ScoredTree] = ()
) -> tuple[float, dict[str, float | None]]:
    """The threshold with the best F1 pooled over the trees and more, and their scores there."""
    merges = [merge_pairs(one.tree, one.labels) for one in scored]
    others = [merge_pairs(one.tree, one.labels) for one in more]
    threshold = best_of_curve(curve_from_merges([*merges, *others])).threshold
    purity = mean_purity(map(purity_from_merges, merges)).mean
    return threshold, {"dendrogram_purity": purity, **_flat_scores(scored, threshold)}


def _flat_scores(trees: Sequence[ScoredTree], threshold: float | None) -> dict[str, float | None]:
    if threshold is None:
        return {"precision": None, "recall": None, "pairwise_f1": None}
    flat = [(scored.labels, cut_tree(scored.tree, height=threshold)) for scored in trees]
    precision, recall, f1 = pooled_scores(flat)
    return {"precision": precision, "recall": recall, "pairwise_f1": f1}


def _alpha_of(method: str, alpha: float | None) -> float | None:
    if method in TOP_DOWN:
        return None
    if method == "exp" and alpha is None:
        raise ValueError("linkage exp needs alpha; received none. Fit it first.")
    return alpha_of(method, alpha if method == "exp" else None)
