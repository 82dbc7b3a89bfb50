"""Trainings of pairs by cross-validation: python tools/pair_recipes.py rexa 0 10.

Folds over the blocks of train and dev of some splits (from, to) of a data set below SUPCLUST_DATA;
test blocks are not looked at. Prints purity, F1 at the best height of the fitted blocks, and F1 at
the best height of the held-out blocks: mean, difference from margin 0.5, and its standard error.
``chosen``: for every block, the best of margin 0.5, margin 2 and the paper's way on the others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.cut import best_threshold
from supclust.cut.counts import labelled_merge_pairs, scores_of_cut
from supclust.data import load_dataset
from supclust.data.block import Block
from supclust.data.splits import DatasetSplit, split_dataset
from supclust.hac import linkages
from supclust.metrics.purity import mean_purity, purity_from_merges
from supclust.model.best.guard import smaller
from supclust.model.best.starts import Fitted, logistic_start, square_of
from supclust.model.best.training import train_freely, train_from
from supclust.model.options import FitOptions
from supclust.model.selection import guard_folds

VARIANTS: dict[str, dict[str, Any]] = {
    f"margin {margin:g}": {"threshold": 0, "margin": margin} for margin in (0.5, 1.0, 2.0)
} | {
    "margin 2, nearly free": {"threshold": 0, "margin": 2, "weight_decay": 0.01, "lr": 0.05}
    | {"max_epochs": 150}
}
PAPER = "as in the paper"
CANDIDATES = ("margin 0.5", "margin 2", PAPER)


def main(name: str, first: str, last: str) -> None:
    dataset = load_dataset(name, data_dir=os.environ.get("SUPCLUST_DATA"), source="real")
    splits = [_scores_of_split(dataset, number) for number in range(int(first), int(last))]
    tables = {
        variant: np.array([scores[variant].mean(axis=0) for scores in splits])
        for variant in splits[0]
    }
    for variant, table in tables.items():
        gaps = table - tables["margin 0.5"]
        error = gaps.std(axis=0, ddof=1) / len(table) ** 0.5
        cells = [
            f"{100 * mean:6.1f} {100 * gap:+5.1f} ± {100 * e:.1f}"
            for mean, gap, e in zip(table.mean(0), gaps.mean(0), error, strict=True)
        ]
        print(f"{variant:<24}", *cells)


def _scores_of_split(dataset: Any, number: int) -> dict[str, NDArray[np.float64]]:
    """Scores of every variant on every fold, (folds, 3)."""
    part = split_dataset(dataset, number, 0)
    start = logistic_start(part, 0)
    folds = [smaller(fold) for fold in guard_folds(part.train, part.dev, 0)]
    fitted = [start.fit(fold.fit) for fold in folds]
    parts = [DatasetSplit(fold.fit, (), ()) for fold in folds]
    options, places = FitOptions(recipe_name="best"), range(len(folds))
    alphas = [start.alpha] * len(folds)
    trainings = {
        variant: train_from(fitted, parts, alphas, replace(options, recipe=settings))
        for variant, settings in VARIANTS.items()
    }
    trainings[PAPER] = train_freely(parts, options, places)
    models = {"no training": [(form, start.alpha) for form in fitted]}
    for variant, training in trainings.items():
        models[variant] = [(training.fitted(i), training.alpha(i, parts[i])) for i in places]
    scores = {
        variant: np.array([_scores(*m, *fold) for m, fold in zip(made, folds, strict=True)])
        for variant, made in models.items()
    }
    rows = []
    for i in places:
        others = {name: np.delete(scores[name], i, axis=0).mean(axis=0) for name in CANDIDATES}
        best = max(CANDIDATES, key=lambda name: others[name][0] + others[name][2] / 2)
        rows.append(scores[best][i])
    return {**scores, "chosen": np.array(rows)}


def _scores(
    form: Fitted, alpha: float, fit: Sequence[Block], held_out: Sequence[Block]
) -> tuple[float, float, float]:
    trees = []
    for blocks in (fit, held_out):
        several = [block for block in blocks if block.n > 1]
        built = linkages([square_of(form, block) for block in several], "exp", alpha=alpha)
        trees.append([(Z, block.labels) for Z, block in zip(built, several, strict=True)])
    pairs = [labelled_merge_pairs(Z, labels) for Z, labels in trees[1]]
    heights = [best_threshold(side).threshold for side in trees]
    f1 = [scores_of_cut(pairs, [p.heights <= height for p in pairs]).f1 for height in heights]
    purity = mean_purity(map(purity_from_merges, pairs)).mean
    return float(np.nan_to_num(purity)), *f1


if __name__ == "__main__":
    main(*sys.argv[1:])
