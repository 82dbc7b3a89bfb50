"""Stand-ins for Rexa, AMINER and NP Coref: pair features of generated records.

Every record gets traits (an affiliation, a set of co-authors, a topic, ...) that follow its
cluster to some degree, and a pair's features compare the traits of its two records. So features
agree with each other as real ones do, no single one decides, some are noise, and traits that drift
along a cluster make chains.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from supclust.data.block import Block, Dataset, FloatArray, IntArray
from supclust.data.errors import DataError

VERSION = 1
Column = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Trait:
    """A property of records, and how a pair is compared by it.

    Attributes:
        compare: ``same`` and ``differ``: 1 when both have a value and it is (not) the same;
            ``shared``: number of items in common; ``any``: 1 when there is one; ``cosine``: of
            topic vectors; ``similar``: the same, not below 0; ``near``: 1 when the records are at
            most ``run`` places apart; ``noise``: 1 at random.
        fidelity: Probability that a record follows its cluster; for vectors, weight of the cluster.
        vocabulary: Number of values or items in the block.
        missing: Probability that a record has no value; for noise, of a 0.
        run: Records of a cluster before its value changes; for ``near``, the distance.
        items: Items of a record.
    """

    compare: Literal["same", "differ", "shared", "any", "cosine", "similar", "near", "noise"]
    fidelity: float = 0.5
    vocabulary: int = 10
    missing: float = 0.2
    run: int = 12
    items: int = 3


REXA = (
    Trait("same", 0.75, 12, 0.40, 60),
    Trait("same", 0.60, 6, 0.30, 60),
    Trait("differ", 0.90, 4, 0.50, 200),
    Trait("same", 0.85, 5, 0.60, 200),
    Trait("differ", 0.85, 3, 0.15, 200),
    Trait("any", 0.60, 60, run=40, items=2),
    Trait("noise", missing=0.60),
    Trait("same", 0.70, 4, 0.10, 120),
    Trait("similar", 0.15),
    Trait("noise", missing=0.95),
    Trait("any", 0.40, 40, run=40, items=2),
    Trait("same", 0.55, 25, 0.60, 12),
    Trait("cosine", 0.20),
    Trait("shared", 0.70, 70, run=30, items=6),
)
AMINER = (
    Trait("same", 0.65, 15, 0.40, 40),
    Trait("shared", 0.65, 60, run=25, items=5),
    Trait("any", 0.30, 50, run=20, items=1),
    Trait("same", 0.50, 30, 0.05, 25),
    Trait("noise", missing=0.97),
    Trait("same", 0.90, 8, 0.70, 60),
    Trait("similar", 0.17),
    Trait("any", 0.40, 80, run=40, items=4),
)


def coreference_traits() -> tuple[Trait, ...]:
    """102 traits of mentions, from telling to misleading, fixed once and for all."""
    grades = [(i % 10) / 10 for i in range(40)]
    same = [Trait("same", 0.05 + 0.8 * g, 3 + i, 0.2 + 0.5 * g, 5) for i, g in enumerate(grades)]
    differ = [Trait("differ", 0.2 + 0.05 * i, 2 + i % 4, 0.3 + 0.05 * i, 50) for i in range(12)]
    overlap = [Trait("any", 0.1 + 0.05 * i, 30 + 5 * i, run=5, items=1 + i % 3) for i in range(10)]
    near = [Trait("near", run=1 + i * i) for i in range(10)]
    topic = [Trait("similar", 0.12), Trait("cosine", 0.16), Trait("shared", 0.4, 40, items=3)]
    noise = [Trait("noise", missing=0.50 + 0.018 * i) for i in range(27)]
    return (*same, *differ, *overlap, *near, *topic, *noise)


@dataclass(frozen=True)
class Recipe:
    """A stand-in: how many blocks of which size, how many clusters, which features, which split."""

    code: int  # keeps the random streams of the sets apart
    block: str  # what a block is called
    sizes: list[int]
    clusters: tuple[float, float, int]  # (c, e, least): c n^e clusters of n records
    skew: float  # cluster k draws records with weight k^-skew
    traits: tuple[Trait, ...]
    split: tuple[int, int, int]


def spread_sizes(count: int, median: float, spread: float, low: int, high: int) -> list[int]:
    """Block sizes at even quantiles of a log-normal distribution, from ``low`` to ``high``."""
    normal = NormalDist()
    sizes = [
        round(median * np.exp(spread * normal.inv_cdf((i + 0.5) / count))) for i in range(count)
    ]
    return [low, *(min(max(size, low), high) for size in sizes[1:-1]), high]


_REXA_SIZES = [72, 201, 471, 216, 19, 227, 31, 222]
_AMINER_SIZES = spread_sizes(100, 44.0, 0.88, 4, 484)
_COREF_SIZES = spread_sizes(104, 78.0, 0.25, 60, 200)
RECIPES = {
    "rexa": Recipe(1, "author", _REXA_SIZES, (1.6, 0.6, 2), 2.2, REXA, (3, 2, 3)),
    "aminer": Recipe(2, "author", _AMINER_SIZES, (0.9, 0.6, 1), 2.3, AMINER, (60, 10, 30)),
    "np_coref": Recipe(
        3, "document", _COREF_SIZES, (0.55, 1, 1), 0.9, coreference_traits(), (62, 10, 32)
    ),
}


def synthetic_pairs(name: str, seed: int = 0) -> Dataset:
    """The stand-in of a pair-feature set; each block depends on (name, seed, its number) alone."""
    if name not in RECIPES:
        raise DataError(f"stand-in must be one of {', '.join(RECIPES)}; received {name!r}")
    recipe = RECIPES[name]
    blocks = tuple(
        _make_block(recipe, number, size, np.random.default_rng([seed, recipe.code, number]))
        for number, size in enumerate(recipe.sizes)
    )
    return Dataset(
        name=name,
        kind="pairs",
        source="stand-in",
        blocks=blocks,
        feature_names=tuple(f"{trait.compare}_{i + 1}" for i, trait in enumerate(recipe.traits)),
        sizes=recipe.split,
    )


def _make_block(recipe: Recipe, number: int, n: int, rng: np.random.Generator) -> Block:
    factor, exponent, least = recipe.clusters
    k = min(n, max(least, round(factor * n**exponent)))
    labels = _draw_labels(n, k, recipe.skew, rng)
    rank = _rank_in_cluster(labels)
    pairs = np.triu_indices(n, 1)
    features = np.empty((len(pairs[0]), len(recipe.traits)), dtype=np.float32)
    for column, trait in enumerate(recipe.traits):
        features[:, column] = _compare(trait, labels, rank, pairs, rng)
    return Block(
        name=f"{recipe.block}_{number:03d}",
        ids=tuple(str(i) for i in range(n)),
        labels=labels,
        kind="pairs",
        features=features,
    )


def _draw_labels(n: int, k: int, skew: float, rng: np.random.Generator) -> IntArray:
    """Cluster of each record: every cluster once, the others by weight, in random order."""
    weights = np.cumsum(np.arange(1, k + 1) ** -skew)
    extra = np.searchsorted(weights / weights[-1], rng.random(n - k), side="right")
    labels = np.concatenate([np.arange(k), extra])[rng.permutation(n)]
    return labels.astype(np.int64)


def _rank_in_cluster(labels: IntArray) -> IntArray:
    """How many earlier records have the same cluster."""
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))[:-1]])
    rank = np.empty_like(labels)
    rank[order] = np.arange(len(labels)) - starts[labels[order]]
    return rank


def _compare(
    trait: Trait,
    labels: IntArray,
    rank: IntArray,
    pairs: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]],
    rng: np.random.Generator,
) -> Column:
    """Draw a trait for every record and compare it over the pairs."""
    a, b = pairs
    if trait.compare == "noise":
        return (rng.random(len(a), dtype=np.float32) >= trait.missing).astype(np.float32)
    if trait.compare == "near":
        return (b - a <= trait.run).astype(np.float32)
    if trait.compare in ("same", "differ"):
        value = _draw_values(trait, labels, rank, rng)
        equal = value[a] == value[b]
        agrees = equal if trait.compare == "same" else ~equal
        return np.asarray((agrees & (value[a] >= 0) & (value[b] >= 0)).astype(np.float32))
    if trait.compare in ("shared", "any"):
        owned = _draw_items(trait, labels, rank, rng)
        common: Column = (owned @ owned.T)[a, b].astype(np.float32)
        return common if trait.compare == "shared" else (common > 0).astype(np.float32)
    topic = _draw_topics(trait, labels, rank, rng)
    cosine = _inner_products(topic)[a, b]
    return np.maximum(cosine, np.float32(0)) if trait.compare == "similar" else cosine


def _inner_products(rows: Column) -> npt.NDArray[np.float32]:
    """(n, n) inner products, a fused multiply-add per axis: the same on every processor.

    Matrix products of BLAS add in an order that depends on the processor.
    """
    total = np.zeros((len(rows), len(rows)), np.float32)
    for axis in rows.T.astype(np.float64):
        total = (total + np.outer(axis, axis)).astype(np.float32)
    return total


def _draw_values(
    trait: Trait, labels: IntArray, rank: IntArray, rng: np.random.Generator
) -> IntArray:
    """Value of each record, -1 where missing."""
    n = len(labels)
    era = np.minimum(rank // trait.run, 7)
    own = rng.integers(0, trait.vocabulary, (int(labels.max()) + 1, 8))[labels, era]
    other = rng.integers(0, trait.vocabulary, n)
    value = np.where(rng.random(n) < trait.fidelity, own, other)
    return np.where(rng.random(n) < trait.missing, -1, value).astype(np.int64)


def _draw_items(
    trait: Trait, labels: IntArray, rank: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Items of each record, (n, vocabulary) of 0 and 1."""
    n = len(labels)
    circle = rng.integers(0, trait.vocabulary, (int(labels.max()) + 1, 8, 5))
    era = np.minimum(rank // trait.run, 7)
    own = circle[labels[:, None], era[:, None], rng.integers(0, 5, (n, trait.items))]
    other = rng.integers(0, trait.vocabulary, (n, trait.items))
    chosen = np.where(rng.random((n, trait.items)) < trait.fidelity, own, other)
    owned = np.zeros((n, trait.vocabulary), dtype=np.float32)
    owned[np.arange(n)[:, None], chosen] = 1.0
    return owned


def _draw_topics(
    trait: Trait, labels: IntArray, rank: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Unit topic vector of each record, (n, 16): cluster, drift along the cluster, and noise."""
    k, n = int(labels.max()) + 1, len(labels)
    centre = rng.normal(size=(k, 16)) + 0.8 * rng.normal(size=16)
    drift = rng.normal(size=(k, 16))[labels] * (rank / 25.0)[:, None]
    topic = trait.fidelity * (centre[labels] + drift) + (1.0 - trait.fidelity) * rng.normal(
        size=(n, 16)
    )
    return np.asarray((topic / np.linalg.norm(topic, axis=1, keepdims=True)).astype(np.float32))
