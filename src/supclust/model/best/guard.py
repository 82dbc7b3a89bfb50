"""The guard of ``recipe=best``: closed form or trained, by scores on held-out clusters.

Pair features of few blocks can be trained in several ways.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from supclust.data.block import Block, Kind
from supclust.data.splits import DatasetSplit
from supclust.model.best.starts import Start, square_of
from supclust.model.best.training import TRAINED, train_as, ways_of_training
from supclust.model.options import FitOptions
from supclust.model.selection import Fold, compare, guard_folds, sampled, score_trees

CLOSED = "closed form"
MOST_FOLDS = 10  # of one split
GUARD_ENTRIES: dict[Kind, int] = {"vectors": 200_000, "pairs": 600_000}
"""Of the matrices of either side of a fold that compares trained with closed form."""
GUARD_POINTS: dict[Kind, int] = {"vectors": 300, "pairs": 600}
"""Of one block there."""


def guard(
    starts: Sequence[Start],
    parts: Sequence[DatasetSplit],
    options: FitOptions,
    splits: Sequence[int],
) -> list[dict[str, Any]]:
    """For every split, which candidate to ship, and the scores it rests on.

    Args:
        starts: in closed form, one per split.
        parts: training and dev blocks of every split; all of them are dealt out into folds.
        options: objective, settings and seed.
        splits: number of every split.
    """
    folds = [
        [smaller(fold) for fold in guard_folds(part.train, part.dev, options.seed)]
        for part in parts
    ]
    units = [(i, fold) for i, own in enumerate(folds) for fold in own]
    fitted = [starts[i].fit(fold.fit) for i, fold in units]
    scores: list[dict[str, list[float]]] = [{CLOSED: []} for _ in parts]
    if units:
        sides = [DatasetSplit(fold.fit, (), ()) for _, fold in units]
        alphas = [starts[i].alpha for i, _ in units]
        numbers = [
            splits[i] * MOST_FOLDS + k for i, own in enumerate(folds) for k in range(len(own))
        ]
        trainings = {
            way: train_as(way, fitted, sides, alphas, options, numbers)
            for way in ways_of_training(starts[0].name, parts, options)
        }
        for place, (i, fold) in enumerate(units):
            blocks = [block for block in fold.held_out if block.n > 1]
            labels = [block.known_labels for block in blocks]
            models = {CLOSED: (fitted[place], starts[i].alpha)}
            for name, training in trainings.items():
                models[name] = training.fitted(place), training.alpha(place, sides[place])
            for name, (form, alpha) in models.items():
                squares = [square_of(form, block) for block in blocks]
                scores[i].setdefault(name, []).append(score_trees(squares, labels, alpha))
    return [_verdict(start, own) for start, own in zip(starts, scores, strict=True)]


def _verdict(start: Start, scores: Mapping[str, list[float]]) -> dict[str, Any]:
    """Few weights (pairs): trained unless clearly worse. A whole map: only if clearly better.

    The linear stage on boosted trees: if it is better, because the trees are a model of their own.
    Of several ways of training, the one with the best scores.
    """
    means = {name: float(np.mean(values)) for name, values in scores.items() if values}
    best = max(means.keys() - {CLOSED}, key=lambda name: (means[name], name), default=TRAINED)
    closed, trained = scores[CLOSED], scores.get(best, [])
    if start.name == "logistic":
        result = compare(closed, trained)
        ship = CLOSED if result.is_clear else best
    else:
        result = compare(trained, closed)
        better = result.mean > 0 if start.name == "logit" else result.is_clear
        ship = best if better else CLOSED
    return {
        "shipped": ship,
        "folds": result.folds,
        "closed_form": means.get(CLOSED),
        "trained": means.get(best),
        "difference": means[best] - means[CLOSED] if means else None,
        "standard_error": None if math.isinf(result.error) else result.error,
        "scores": means,
    }


def smaller(fold: Fold, entries: int | None = None, points: int | None = None) -> Fold:
    """A fold of fewer points: of many blocks some, of a large block some clusters.

    The blocks that stay are whole where that is possible: the
    scores of a few points of a block are a poor estimate of those of the whole block.

    Args:
        fold: of any size.
        entries: of the matrices of either side, about. Default: `GUARD_ENTRIES`.
        points: of one block. Default: `GUARD_POINTS`.
    """
    kind = fold.fit[0].kind
    limits = entries or GUARD_ENTRIES[kind], points or GUARD_POINTS[kind]
    return Fold(*(_some(side, *limits) for side in fold))


def _some(side: Sequence[Block], entries: int, points: int) -> tuple[Block, ...]:
    chosen: list[Block] = []
    for i in np.random.default_rng(len(side)).permutation(len(side)):
        block = sampled(side[i], points)
        if len(chosen) < 2 or block.n**2 <= entries:
            chosen.append(block)
            entries -= block.n**2
    return tuple(chosen)
