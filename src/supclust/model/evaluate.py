"""Score a trained dissimilarity: trees under every linkage, where they are cut, test scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from supclust.cut import CutName
from supclust.data.block import Block
from supclust.data.splits import DatasetSplit
from supclust.hac import linkages
from supclust.hac.family import TOP_DOWN, alpha_of
from supclust.metrics.purity import mean_purity, merge_pairs, purity_from_merges
from supclust.model.cuts import (
    ScoredTree,
    ceiling_of,
    cluster_folds,
    cut_of,
    scores,
)
from supclust.model.trained import TrainedModel

MATRIX_ENTRIES = 8_000_000  # of the dissimilarities held at once, unless one block has more


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
    cut: CutName = "dev",
) -> dict[str, dict[str, Any]]:
    """Scores of one split under every linkage.

    By default the cut is the threshold with the best pairwise F1 on the dev blocks, counts pooled
    over them; purity is averaged over blocks. Top-down trees (``rsc``, ``random``) have no heights
    to cut at and are scored by purity only, and on test only: nothing is chosen on dev for them,
    and the sparsest cut takes longer than all other linkages together.

    Args:
        model: trained on the split; its own linkage and cut are not used.
        parts: the blocks of that split.
        methods: linkages.
        alpha: of ``exp``; may be ``None`` if that is not among the methods.
        seed: of random and sparsest-cut trees.
        split: number of the split, which random trees depend on.
        cut: see `supclust.model.cuts`.

    Returns:
        {linkage: {alpha, threshold, ceiling, dev: {...}, test: {...}}}; ``ceiling`` is the F1 of
        the best cut of the test trees. For ``learned`` and ``auto`` also ``learned``, a
        `LearnedCut` or ``None``, and ``cut``: what was chosen, why, the test F1 of every cut.
    """
    alphas = {method: _alpha_of(method, alpha) for method in methods}
    cutting = {method: value for method, value in alphas.items() if value is not None}
    built = {
        "train": training_trees(model, parts, cutting, seed) if cut != "dev" else {},
        "dev": trees(model, parts.dev, cutting),
        "test": trees(model, parts.test, alphas, seed=seed, split=split),
    }
    return {
        method: {
            "alpha": value,
            **_scores(
                *(model, parts, value),
                {part: of.get(method, []) for part, of in built.items()},
                *(cut, seed),
            ),
        }
        for method, value in alphas.items()
    }


def training_trees(
    model: TrainedModel, parts: DatasetSplit, alphas: Alphas, seed: int
) -> dict[str, list[ScoredTree]]:
    """Trees of the training blocks as if the model had not seen them, so that a cut suits new ones.

    Of boosted trees with one training block, which cannot be held out, there are none if there are
    dev blocks to choose a cut on.
    """
    if model.spec["name"] == "stacked" and len(parts.train) < 2 and parts.dev:
        return {method: [] for method in alphas}
    from supclust.model.stacked import distances_as_unseen

    distances = distances_as_unseen(model, parts.train, seed)
    return trees(model, parts.train, alphas, distances=distances)


def trees(
    model: TrainedModel,
    blocks: Sequence[Block],
    alphas: Alphas,
    *,
    seed: int = 0,
    split: int = 0,
    distances: Callable[[Block], NDArray[np.floating[Any]]] | None = None,
) -> dict[str, list[ScoredTree]]:
    """Trees of blocks under every linkage; dissimilarities are computed once.

    Args:
        model: trained.
        blocks: labelled.
        alphas: of every linkage.
        seed: of random and sparsest-cut trees.
        split: number of the split, which random trees depend on.
        distances: of a block. Default: those of the model.

    Returns:
        Per linkage, the trees, largest block first.
    """
    scored: dict[str, list[ScoredTree]] = {method: [] for method in alphas}
    for group in _groups(sorted(blocks, key=lambda block: -block.n)):
        squares = [
            distances(block) if distances else model.distances(block.features) for block in group
        ]
        for method, alpha in alphas.items():
            if alpha is not None:
                built = linkages(squares, "exp", alpha=alpha)
            elif method == "rsc":
                from supclust.hac.topdown import recursive_sparsest_cut

                built = [recursive_sparsest_cut(square, seed) for square in squares]
            else:
                built = [_random_tree(block, seed, split) for block in group]
            scored[method] += [
                ScoredTree(block.name, tree, block.known_labels)
                for block, tree in zip(group, built, strict=True)
            ]
    return scored


def choose_cut(
    model: TrainedModel,
    train: Sequence[Block],
    dev: Sequence[Block] = (),
    cut: CutName = "dev",
    *,
    seed: int = 0,
) -> TrainedModel:
    """The model with the cut that is chosen on its training and dev blocks.

    Args:
        model: with linkage and alpha.
        train: labelled.
        dev: labelled; the scores of the dev blocks, or of the training blocks where there are none,
            go into the record as ``dev``.
        cut: see `supclust.model.cuts`.
        seed: of a learned cut.
    """
    alphas = {"exp": model.alpha}
    held_out = trees(model, dev, alphas)["exp"]
    needed = cut != "dev" or not dev
    parts = DatasetSplit(tuple(train), tuple(dev), ())
    fitted = training_trees(model, parts, alphas, seed)["exp"] if needed else []
    folds = cluster_folds(model, train, dev, model.alpha, seed) if cut == "auto" else None
    chosen = cut_of(cut, fitted, held_out, folds, seed=seed)
    facts = {**chosen.facts, "ceiling": ceiling_of(held_out or fitted)}
    return replace(
        model,
        threshold=chosen.threshold,
        learned=chosen.learned,
        record={**model.record, "dev": scores(held_out or fitted, chosen), "cut_choice": facts},
    )


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
    model: TrainedModel,
    parts: DatasetSplit,
    alpha: float | None,
    of_parts: Mapping[str, list[ScoredTree]],
    cut: CutName,
    seed: int,
) -> dict[str, Any]:
    """The cut of one linkage, and the scores of dev and test with it."""
    test = of_parts["test"]
    if alpha is None:
        pairs = (merge_pairs(one.tree, one.labels) for one in test)
        purity = mean_purity(map(purity_from_merges, pairs)).mean
        nothing = {"precision": None, "recall": None, "pairwise_f1": None}
        return {
            "threshold": None,
            "dev": {"dendrogram_purity": None, **nothing},
            "test": {"dendrogram_purity": purity, **nothing},
        }
    train, dev = of_parts["train"], of_parts["dev"]
    folds = cluster_folds(model, parts.train, parts.dev, alpha, seed) if cut == "auto" else None
    chosen = cut_of(cut, train, dev, folds, seed=seed)
    more: dict[str, Any] = {"ceiling": ceiling_of(test)}
    if cut in ("learned", "auto"):
        names: tuple[CutName, ...] = ("dev", "threshold", "learned")
        beside = {name: cut_of(name, train, dev, seed=seed) for name in names}
        f1 = {name: scores(test, one)["pairwise_f1"] for name, one in beside.items()}
        more |= {"learned": chosen.learned, "cut": {**chosen.facts, "test_f1": f1}}
    return {
        "threshold": chosen.threshold,
        **more,
        "dev": scores(dev or train, chosen),
        "test": scores(test, chosen),
    }


def _alpha_of(method: str, alpha: float | None) -> float | None:
    if method in TOP_DOWN:
        return None
    if method == "exp" and alpha is None:
        raise ValueError("linkage exp needs alpha; received none. Fit it first.")
    return alpha_of(method, alpha if method == "exp" else None)
