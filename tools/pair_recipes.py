"""Variants of ``recipe=best`` for pairs by cross-validation: python tools/pair_recipes.py rexa 10.

Folds over the blocks of train and dev of some splits of a data set (below SUPCLUST_DATA); test
blocks are not looked at. Prints purity, F1 at the best height of the fitted blocks, and F1 at the
best height of the held-out blocks: the difference from the defaults, and its standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supclust.cut import best_threshold
from supclust.cut.counts import labelled_merge_pairs, scores_of_cut
from supclust.data import load_dataset
from supclust.data.block import Block
from supclust.data.splits import DatasetSplit, split_dataset
from supclust.hac import linkages
from supclust.metrics.purity import mean_purity, purity_from_merges
from supclust.model.best.guard import smaller
from supclust.model.best.starts import Fitted, logistic_start, square_of
from supclust.model.best.training import train_from
from supclust.model.options import FitOptions
from supclust.model.selection import guard_folds

VARIANTS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "margin 1": {"threshold": 0, "margin": 1},
    "margin 2": {"threshold": 0, "margin": 2},
    "margin 2, tenth of the penalty": {"threshold": 0, "margin": 2, "weight_decay": 0.06},
    "margin 2, nearly free": {"threshold": 0, "margin": 2, "weight_decay": 0.01, "lr": 0.05}
    | {"max_epochs": 150},
}


def main(name: str, splits: str) -> None:
    dataset = load_dataset(name, data_dir=os.environ.get("SUPCLUST_DATA"), source="real")
    table = np.array([_scores_of_split(dataset, number) for number in range(int(splits))])
    names = ["no training", *VARIANTS]
    gaps = table - table[:, [names.index("defaults")]]
    for k, variant in enumerate(names):
        error = gaps[:, k].std(axis=0, ddof=1) / len(table) ** 0.5
        cells = [
            f"{100 * mean:6.1f} {100 * gap:+5.1f} ± {100 * e:.1f}"
            for mean, gap, e in zip(table[:, k].mean(0), gaps[:, k].mean(0), error, strict=True)
        ]
        print(f"{variant:<32}", *cells)


def _scores_of_split(dataset: Any, number: int) -> list[Any]:
    part = split_dataset(dataset, number, 0)
    start = logistic_start(part, 0)
    folds = [smaller(fold) for fold in guard_folds(part.train, part.dev, 0)]
    fitted = [start.fit(fold.fit) for fold in folds]
    parts = [DatasetSplit(fold.fit, (), ()) for fold in folds]
    alphas = [start.alpha] * len(folds)
    models = [[(form, start.alpha) for form in fitted]]
    for settings in VARIANTS.values():
        options = replace(FitOptions(recipe_name="best"), recipe=settings)
        training = train_from(fitted, parts, alphas, options)
        places = range(len(folds))
        models.append([(training.fitted(i), training.alpha(i, parts[i])) for i in places])
    return [
        np.mean([_scores(*m, *fold) for m, fold in zip(made, folds, strict=True)], axis=0)
        for made in models
    ]


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
