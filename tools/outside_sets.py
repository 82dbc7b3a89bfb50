"""Two sets of public vectors that no choice was made on: python tools/outside_sets.py CORA FOLDER.

Writes ``digits.npz`` (the 8 x 8 images of scikit-learn's digits, 50 of each of the ten classes) and
``cora.npz`` (citations of the Cora table ``records.csv``: TF-IDF of letter trigrams of author and
title, 40 components of a truncated SVD; at most 12 records of each cluster with two or more).
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer


def main(table: str, folder: str) -> None:
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    digits = load_digits()
    rows = _some_of_each(digits.target, 50, 2)
    np.savez(target / "digits.npz", X=digits.data[rows], y=digits.target[rows])
    with Path(table).open(encoding="utf-8", newline="") as stream:
        records = list(csv.DictReader(stream))
    texts = [f"{record['author']} {record['title']}" for record in records]
    weights = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), min_df=3).fit_transform(texts)
    vectors = TruncatedSVD(40, random_state=0).fit_transform(weights)
    clusters = np.array([record["cluster"] for record in records])
    rows = _some_of_each(clusters, 12, 2)
    np.savez(target / "cora.npz", X=vectors[rows].astype(np.float32), y=clusters[rows])
    for name in ("digits", "cora"):
        labels = np.load(target / f"{name}.npz", allow_pickle=False)["y"]
        print(f"{name}: {len(labels)} rows, {len(np.unique(labels))} clusters")


def _some_of_each(labels: NDArray[np.generic], most: int, fewest: int) -> NDArray[np.int64]:
    """Rows of every label that has at least ``fewest``, at most ``most`` of them."""
    rng = np.random.default_rng(0)
    chosen = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        if len(members) >= fewest:
            chosen.append(rng.permutation(members)[:most])
    return np.sort(np.concatenate(chosen))


if __name__ == "__main__":
    main(*sys.argv[1:])
