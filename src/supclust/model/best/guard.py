"""The guard of ``recipe=best``: closed form or trained, by scores on held-out clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from supclust.data.block import Block, Kind
from supclust.data.splits import DatasetSplit
from supclust.model.best.starts import Start, square_of
from supclust.model.best.training import train_from
from supclust.model.options import FitOptions
from supclust.model.selection import Fold, compare, guard_folds, sampled, score_trees

GUARD_ENTRIES: dict[Kind, int] = {"vectors": 200_000, "pairs": 600_000}
"""Of the matrices of either side of a fold that compares trained with closed form."""
GUARD_POINTS: dict[Kind, int] = {"vectors": 300, "pairs": 600}
"""Of one block there."""


def guard(
    starts: Sequence[Start], parts: Sequence[DatasetSplit], options: FitOptions
) -> list[dict[str, Any]]:
    """For every split, which of closed form and trained to ship, and the scores it rests on."""
    folds = [
        [smaller(fold) for fold in guard_folds(part.train, part.dev, options.seed)]
        for part in parts
    ]
    units = [(i, fold) for i, own in enumerate(folds) for fold in own]
    fitted = [starts[i].fit(fold.fit) for i, fold in units]
    scores: list[tuple[list[float], list[float]]] = [([], []) for _ in parts]
    if units:
        training = train_from(
            fitted,
            [DatasetSplit(fold.fit, (), ()) for _, fold in units],
            [starts[i].alpha for i, _ in units],
            options,
        )
        for place, (i, fold) in enumerate(units):
            blocks = [block for block in fold.held_out if block.n > 1]
            labels = [block.known_labels for block in blocks]
            trained = training.fitted(place)
            alpha = training.alpha(place, DatasetSplit(fold.fit, (), ()))
            for side, (form, a) in enumerate([(fitted[place], starts[i].alpha), (trained, alpha)]):
                squares = [square_of(form, block) for block in blocks]
                scores[i][side].append(score_trees(squares, labels, a))
    return [_verdict(start, *both) for start, both in zip(starts, scores, strict=True)]


def _verdict(start: Start, closed: list[float], trained: list[float]) -> dict[str, Any]:
    """Few weights (pairs): trained unless clearly worse. A whole map: only if clearly better.

    The linear stage on boosted trees: if it is better, because the trees are a model of their own.
    """
    if start.name == "logistic":
        result = compare(closed, trained)
        ship = "closed form" if result.is_clear else "trained"
    elif start.name == "logit":
        result = compare(trained, closed)
        ship = "trained" if result.mean > 0 else "closed form"
    else:
        result = compare(trained, closed)
        ship = "trained" if result.is_clear else "closed form"
    ahead = float(np.mean(trained) - np.mean(closed)) if trained else None
    return {
        "shipped": ship,
        "folds": result.folds,
        "closed_form": float(np.mean(closed)) if closed else None,
        "trained": float(np.mean(trained)) if trained else None,
        "difference": ahead,
        "standard_error": None if math.isinf(result.error) else result.error,
    }


def smaller(fold: Fold, entries: int | None = None, points: int | None = None) -> Fold:
    """A fold of fewer points: of many blocks some, of a large block some clusters.

    The blocks that stay are whole where that is possible: how a linkage and a cut do on a few
    points of a block says little about the block.

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
