"""Trainings of pairs by cross-validation: python tools/pair_recipes.py rexa 0 10.

Folds over the blocks of train and dev of some splits (from, to) of a data set below SUPCLUST_DATA;
test blocks are not looked at. Prints purity, F1 at the best height of the fitted blocks, and F1 at
the best height of the held-out blocks: mean, difference from margin 0.5, and its standard error.
``chosen``: for every fold, the best of the three trainings on the others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

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
from supclust.model.best.starts import Fitted, square_of, start_with_alpha
from supclust.model.best.training import FREE, TRAINED, WIDE, train_as
from supclust.model.options import FitOptions
from supclust.model.selection import guard_folds

CLOSED = "no training"
TITLES = {TRAINED: "margin 0.5", WIDE: "margin 2", FREE: "as in the paper"}
Scores = NDArray[np.float64]
"""(folds, 3) purity and the two F1."""


def main(name: str, first: str, last: str) -> None:
    dataset = load_dataset(name, data_dir=os.environ.get("SUPCLUST_DATA"), source="real")
    splits = _scores_of_splits(
        [split_dataset(dataset, number, 0) for number in range(int(first), int(last))]
    )
    tables = {
        way: np.array([scores[way].mean(axis=0) for scores in splits])
        for way in (CLOSED, *TITLES, "chosen")
    }
    for way, table in tables.items():
        gaps = table - tables[TRAINED]
        error = gaps.std(axis=0, ddof=1) / len(table) ** 0.5
        cells = [
            f"{100 * mean:6.1f} {100 * gap:+5.1f} ± {100 * e:.1f}"
            for mean, gap, e in zip(table.mean(0), gaps.mean(0), error, strict=True)
        ]
        print(f"{TITLES.get(way, way):<24}", *cells)


def _scores_of_splits(parts: Sequence[DatasetSplit]) -> list[dict[str, Scores]]:
    """Scores of every training on every fold of every split; all folds are trained together."""
    starts = [start_with_alpha("logistic", part) for part in parts]
    units = [
        (i, smaller(fold))
        for i, part in enumerate(parts)
        for fold in guard_folds(part.train, part.dev, 0)
    ]
    fitted = [starts[i].fit(fold.fit) for i, fold in units]
    sides = [DatasetSplit(fold.fit, (), ()) for _, fold in units]
    alphas, places = [starts[i].alpha for i, _ in units], range(len(units))
    models = {CLOSED: list(zip(fitted, alphas, strict=True))}
    for way in TITLES:
        made = train_as(way, fitted, sides, alphas, FitOptions(recipe_name="best"), places)
        models[way] = [(made.fitted(k), made.alpha(k, sides[k])) for k in places]
    scores: list[dict[str, Scores]] = []
    for i in range(len(parts)):
        own = [k for k in places if units[k][0] == i]
        table = {
            way: np.array([_scores(*forms[k], *units[k][1]) for k in own])
            for way, forms in models.items()
        }
        scores.append({**table, "chosen": _chosen(table)})
    return scores


def _chosen(table: Mapping[str, Scores]) -> Scores:
    rows = []
    for i in range(len(table[TRAINED])):
        others = {way: np.delete(table[way], i, axis=0).mean(axis=0) for way in TITLES}
        best = max(TITLES, key=lambda way: others[way][0] + others[way][2] / 2)
        rows.append(table[best][i])
    return np.array(rows)


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
