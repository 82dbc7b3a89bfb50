"""Labelled blocks on which training has something to learn, and the parts of several splits."""

from __future__ import annotations

import numpy as np

from supclust.data.block import Block
from supclust.data.splits import DatasetSplit
from supclust.objectives import BASELINES, OBJECTIVES

PAPER = ["all_pairs", "triplet", "best", "mst", "exp_minus", "exp_zero", "exp_plus", "exp_alpha"]
TRAINED = [name for name in OBJECTIVES if name not in BASELINES]


def vector_block(
    name: str, rng: np.random.Generator, sizes: tuple[int, ...] = (5, 4, 4), d: int = 4
) -> Block:
    """Two features that tell the clusters apart, the others loud noise."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    centres = rng.normal(scale=2.0, size=(len(sizes), 2))
    features = rng.normal(scale=4.0, size=(len(labels), d))
    features[:, :2] = centres[labels] + rng.normal(scale=0.4, size=(len(labels), 2))
    return block_of(name, labels, "vectors", features)


def pair_block(
    name: str, rng: np.random.Generator, sizes: tuple[int, ...] = (5, 4, 4), d: int = 4
) -> Block:
    """The first pair feature says, with noise, whether two points belong together."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    i, j = np.triu_indices(len(labels), 1)
    features = rng.normal(size=(len(i), d))
    features[:, 0] += 4.0 * (labels[i] != labels[j])
    return block_of(name, labels, "pairs", features)


def block_of(name: str, labels: np.ndarray, kind: str, features: np.ndarray) -> Block:
    ids = tuple(f"{name}-{k}" for k in range(len(labels)))
    return Block(name, ids, labels.astype(np.int64), kind, features)


def overlapping_parts(kind: str, n_splits: int = 3, seed: int = 0) -> list[DatasetSplit]:
    """Splits of different numbers of training blocks, of different sizes, sharing blocks."""
    rng = np.random.default_rng(seed)
    sizes = [(5, 4, 4), (3, 3), (4, 1, 2, 5), (6, 2), (2, 2, 2), (4, 4)]
    make = vector_block if kind == "vectors" else pair_block
    blocks = [make(f"block {k}", rng, size) for k, size in enumerate(sizes)]
    parts = []
    for s in range(n_splits):
        order = [blocks[(s + k) % len(blocks)] for k in range(len(blocks))]
        trained = 2 + s % 3
        parts.append(DatasetSplit(tuple(order[:trained]), tuple(order[trained:5]), (order[5],)))
    return parts
