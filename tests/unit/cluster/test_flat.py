"""Flat clusters of many blocks in one pass: against `linkage` and `cut_tree`, block by block."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import supclust
from supclust.cluster import flat
from supclust.cluster.flat import centred, embedded, flat_points, flat_records, flat_squares
from supclust.cut.rule import Cut
from supclust.data.records.comparisons import Comparison, RecordComparisons
from supclust.hac.tree import cut_tree

ALPHAS = (-math.inf, -2.0, 0.0, 1.5, math.inf)


def blocks(rng: np.random.Generator, count: int = 12, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 30, count))])
    return rng.normal(size=(starts[-1], d)).astype(np.float32), starts


def expected(square: np.ndarray, cut: Cut) -> np.ndarray:
    if len(square) == 1:
        return np.zeros(1, np.int64)
    Z = supclust.linkage(square.astype(np.float32), "exp", alpha=cut.alpha)
    if cut.n_clusters:
        return cut_tree(Z, n_clusters=min(cut.n_clusters, len(square)))
    return cut_tree(Z, height=cut.threshold)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("choice", [(1.2, 0), (0.0, 4), (math.inf, 0), (-1.0, 0)])
def test_points_are_clustered_as_one_block_at_a_time(
    alpha: float, choice: tuple[float, int], rng: np.random.Generator
) -> None:
    points, starts = blocks(rng)
    cut = Cut(alpha, *choice)
    labels, counts = flat_points(points, starts, cut)
    for k in range(len(counts)):
        part = slice(starts[k], starts[k + 1])
        square = squareform(pdist(points[part].astype(np.float64)))
        assert labels[part].tolist() == expected(square, cut).tolist()
        assert counts[k] == labels[part].max() + 1


def test_linear_scores_of_points(rng: np.random.Generator) -> None:
    points, starts = blocks(rng)
    weight, bias = np.array([0.5, -0.2, 1.0], np.float32), -0.7
    labels, _ = flat_points(points, starts, Cut(-1.0, 0.1), weight, bias)
    for k in range(len(starts) - 1):
        part = points[starts[k] : starts[k + 1]].astype(np.float64)
        square = np.abs(part[:, None] - part[None]) @ weight + bias
        assert (
            labels[starts[k] : starts[k + 1]].tolist() == expected(square, Cut(-1.0, 0.1)).tolist()
        )


def test_large_blocks_take_the_other_way(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = rng.normal(size=(flat.SMALL + 20, 2)).astype(np.float32)
    starts = np.array([0, 10, len(points)])
    labels, counts = flat_points(points, starts, Cut(0.0, 0.8))
    square = squareform(pdist(points[10:].astype(np.float64)))
    assert labels[10:].tolist() == expected(square, Cut(0.0, 0.8)).tolist()
    assert counts[1] == labels[10:].max() + 1 > 1


def test_records_are_clustered_by_their_scores(rng: np.random.Generator) -> None:
    both = RecordComparisons((Comparison("name", "text"), Comparison("year", "number")))
    words = ["ann", "bob", "li", "smith", "jones"]
    starts = np.array([0, 1, 9, 30])
    names = [" ".join(rng.choice(words, 2)) for _ in range(30)]
    columns = {"name": names, "year": rng.normal(size=30)}
    weight, bias = rng.normal(size=len(both.feature_names)).astype(np.float32), 0.6
    cut = Cut(0.5, 0.0)
    encoded = both.encode(columns)
    labels, _ = flat_records(encoded, both.layout(), starts, weight, bias, cut)
    for first, stop in pairwise(starts.tolist()):
        scores = both.block_features(encoded, np.arange(first, stop)) @ weight + bias
        square = squareform(scores) if stop - first > 1 else np.zeros((1, 1))
        assert labels[first:stop].tolist() == expected(square, cut).tolist()


def test_matrices_made_one_at_a_time(rng: np.random.Generator) -> None:
    points, starts = blocks(rng)

    def square(k: int) -> np.ndarray:
        return squareform(pdist(points[starts[k] : starts[k + 1]])).astype(np.float32)

    found = flat_squares(square, starts, Cut(0.0, 1.2))
    same = flat_points(points, starts, Cut(0.0, 1.2))
    assert found[0].tolist() == same[0].tolist() and found[1].tolist() == same[1].tolist()


def test_a_common_offset_costs_no_digits(rng: np.random.Generator) -> None:
    points, starts = blocks(rng)
    shifted = points.astype(np.float64) + 1e9
    near = flat_points(centred(points, starts), starts, Cut(-1.0, 1.0))[0]
    assert (
        flat_points(centred(shifted, starts), starts, Cut(-1.0, 1.0))[0].tolist() == near.tolist()
    )


@pytest.mark.parametrize("width", [1, 3, flat._NARROW, flat._NARROW + 1])  # the last one by BLAS
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_embedding_is_the_product_of_centred_points(
    width: int, kind: type, rng: np.random.Generator
) -> None:
    points, starts = blocks(rng, d=width)
    points, starts = points.astype(kind), np.insert(starts, 3, starts[3])  # with an empty block
    matrix = rng.normal(size=(2, width)).astype(np.float32)
    found = embedded(points + 5, starts, matrix)
    middle = points.astype(np.float64)
    for first, stop in pairwise(starts.tolist()):
        if stop > first:
            middle[first:stop] -= middle[first:stop].mean(axis=0)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, middle @ matrix.T, atol=1e-5 * width)


def test_overflow_is_refused() -> None:
    points = np.array([[0.0], [3e38], [-3e38]], np.float32)
    with pytest.raises(ValueError, match="must be finite; received records whose numbers"):
        flat_points(points, np.array([0, 3]), Cut(0.0, 1.0))
