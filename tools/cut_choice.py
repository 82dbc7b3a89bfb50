"""Threshold or learned cut, without test data: python tools/cut_choice.py faces 0 50.

Models by ``recipe=best`` are fitted to a part of the training and dev data of some splits (from,
to) of a data set below SUPCLUST_DATA, and their cuts scored on the rest; test blocks are not looked
at. Of at most 20 blocks every one is left out in turn; else the dev part is, and a sixth of the
training blocks, or a third of the clusters of one block, takes its place. Prints mean F1 of every
cut, the difference from the threshold with its standard error, and how well the cross-validation
of a model tells which of its cuts is better on the rest.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import numpy as np

from supclust.data import load_dataset
from supclust.data.splits import DatasetSplit, split_dataset
from supclust.model.evaluate import evaluate
from supclust.model.fit import FitOptions, fit_splits

FEW_BLOCKS = 20


def main(name: str, first: str, last: str) -> None:
    dataset = load_dataset(name, data_dir=os.environ.get("SUPCLUST_DATA"), source="real")
    parts = [
        part
        for number in range(int(first), int(last))
        for part in _parts(split_dataset(dataset, number, 0), number)
    ]
    options, numbers = FitOptions(recipe_name="best"), range(len(parts))
    models = fit_splits(parts, dataset.feature_names, options, splits=numbers)
    scores, expected = [], []
    for model, part in zip(models, parts, strict=True):
        found = evaluate(model, part, ["exp"], model.record["alpha"], cut="auto")["exp"]
        f1, held_out = found["cut"]["test_f1"], found["cut"]["cross_validated"]
        scores.append([f1["threshold"], f1["learned"], found["test"]["pairwise_f1"]])
        expected.append(held_out["learned"] - held_out["threshold"])
    table = 100 * np.array(scores)
    gaps = table - table[:, :1]
    print(f"{name}: {len(table)} models")
    for column, cut in enumerate(("threshold", "learned", "auto")):
        error = gaps[:, column].std(ddof=1) / len(gaps) ** 0.5
        mean, gap = table[:, column].mean(), gaps[:, column].mean()
        print(f"{cut:<10}{mean:6.1f} {gap:+5.1f} ± {error:.1f}")
    correlation = np.corrcoef(expected, gaps[:, 1])[0, 1]
    print(f"correlation of the difference in cross-validation and on the rest: {correlation:.2f}")


def _parts(split: DatasetSplit, number: int) -> Iterator[DatasetSplit]:
    rng, train, dev = np.random.default_rng(number), split.train, split.dev
    if len(train) == 1:
        (block,) = train
        held = rng.permutation(block.n_clusters) < round(block.n_clusters / 3)
        sides = [block.select(np.flatnonzero(held[block.labels] == side)) for side in (False, True)]
        yield DatasetSplit((sides[0],), (sides[1],), dev)
    elif len(train) + len(dev) <= FEW_BLOCKS:
        for left_out in (*train, *dev):
            rest = [tuple(b for b in side if b is not left_out) for side in (train, dev)]
            yield DatasetSplit(rest[0], rest[1], (left_out,))
    else:
        held = rng.permutation(len(train)) < len(train) // 6
        yield DatasetSplit(
            tuple(b for b, out in zip(train, held, strict=True) if not out),
            tuple(b for b, out in zip(train, held, strict=True) if out),
            dev,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
