"""Score trained dissimilarities: trees under every linkage, the dev threshold, test scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import torch
from torch import Tensor

from supclust.data.batch import BlockBatch
from supclust.data.datamodule import BlockDataModule, Part
from supclust.hac.family import TOP_DOWN, alpha_of
from supclust.hac.topdown import random_tree, recursive_sparsest_cut
from supclust.hac.tree import Floats, Ints, cut_tree
from supclust.metrics.pairwise import pooled_scores
from supclust.metrics.purity import mean_purity, merge_pairs, purity_from_merges
from supclust.metrics.threshold import best_of_curve, curve_from_merges
from supclust.objectives import Objective


class ScoredTree(NamedTuple):
    """The tree of one block and the true clusters of its points."""

    block: str
    tree: Floats
    labels: Ints


Alphas = Mapping[str, "float | None"]
"""Alpha of every linkage; ``None`` for a top-down tree, which has none."""


def evaluate(
    objective: Objective, data: BlockDataModule, methods: Sequence[str], alpha: float | None
) -> dict[str, dict[str, Any]]:
    """Scores of one split under every linkage.

    The threshold is the cut with the best pairwise F1 on the dev blocks, counts pooled over them;
    purity is averaged over blocks. Top-down trees (``rsc``, ``random``) have no heights to cut at
    and are scored by purity only, and on test only: nothing is chosen on dev for them, and the
    sparsest cut takes longer than all other linkages together.

    Args:
        objective: trained, of one split, in evaluation mode.
        data: the blocks of that split.
        methods: linkages.
        alpha: of ``exp``; may be ``None`` if that is not among the methods.

    Returns:
        {linkage: {alpha, threshold, dev: {...}, test: {...}}}.
    """
    alphas = {method: _alpha_of(method, alpha) for method in methods}
    cutting = {method: value for method, value in alphas.items() if value is not None}
    dev, test = trees(objective, data, "dev", cutting), trees(objective, data, "test", alphas)
    return {
        method: {"alpha": value, **_scores(dev.get(method), test[method])}
        for method, value in alphas.items()
    }


@torch.no_grad()
def trees(
    objective: Objective, data: BlockDataModule, part: Part, alphas: Alphas
) -> dict[str, list[ScoredTree]]:
    """Trees of all blocks of one part under every linkage; dissimilarities are computed once.

    Args:
        objective: trained, of one split, in evaluation mode.
        data: the blocks of that split.
        part: ``"train"``, ``"dev"`` or ``"test"``.
        alphas: of every linkage.

    Returns:
        Per linkage, the trees, largest block first.
    """
    found: dict[str, list[ScoredTree]] = {method: [] for method in alphas}
    for batch in data.whole(part):
        dissimilarity = objective.dissimilarities(batch)
        for method, alpha in alphas.items():
            for i, tree in enumerate(_trees(objective, dissimilarity, batch, method, alpha)):
                labels = batch.labels[i, : int(batch.lengths[i])].cpu().numpy()
                found[method].append(ScoredTree(batch.names[i], tree, labels))
    return found


def _trees(
    objective: Objective,
    dissimilarity: Tensor,
    batch: BlockBatch,
    method: str,
    alpha: float | None,
) -> list[Floats]:
    lengths = batch.lengths.tolist()
    if alpha is not None:
        forest = objective.hac(dissimilarity, batch.lengths, alpha=alpha)
        return [forest.to_scipy(i) for i in range(len(lengths))]
    if method == "rsc":
        squares = [dissimilarity[i, :n, :n].cpu().numpy() for i, n in enumerate(lengths)]
        return [recursive_sparsest_cut(square, objective.seed) for square in squares]
    stream = [objective.seed, objective.splits[0]]
    return [
        random_tree(n, np.random.default_rng([*stream, crc32(name.encode())]))
        for n, name in zip(lengths, batch.names, strict=True)
    ]


def _scores(dev: list[ScoredTree] | None, test: list[ScoredTree]) -> dict[str, Any]:
    """Threshold from dev, where there is any; purity, precision, recall and F1 of either part."""
    threshold = purity = None
    if dev is not None:
        merges = [merge_pairs(scored.tree, scored.labels) for scored in dev]
        threshold = best_of_curve(curve_from_merges(merges)).threshold
        purity = mean_purity(map(purity_from_merges, merges)).mean
    return {
        "threshold": threshold,
        "dev": {"dendrogram_purity": purity, **_flat_scores(dev or [], threshold)},
        "test": {
            "dendrogram_purity": mean_purity(
                purity_from_merges(merge_pairs(scored.tree, scored.labels)) for scored in test
            ).mean,
            **_flat_scores(test, threshold),
        },
    }


def _flat_scores(trees: list[ScoredTree], threshold: float | None) -> dict[str, float | None]:
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
