from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import complete

import generators
from oracles import metrics as oracle
from supclust.hac.tree import cut_tree
from supclust.metrics import (
    BestThreshold,
    PairCounts,
    best_threshold,
    pair_counts,
    scores_from_counts,
    threshold_curve,
)
from trees import balanced_tree, chain_tree, random_tree, tree_from_choices

Block = tuple[np.ndarray, np.ndarray]
TINY = np.nextafter(0.0, 1.0)
MAX = np.finfo(np.float64).max


def pooled(blocks: list[Block], threshold: float) -> tuple[float, float, float]:
    counts = [pair_counts(labels, cut_tree(Z, height=threshold)) for Z, labels in blocks]
    return scores_from_counts(PairCounts(*map(sum, zip(*counts, strict=True))))


def check_exactly_optimal(blocks: list[Block]) -> BestThreshold:
    best = best_threshold(blocks)
    expected = oracle.best_threshold(blocks)
    assert best.f1 == pytest.approx(expected.f1, rel=1e-12)
    scores = oracle.pooled_scores(blocks, best.threshold)
    assert (best.precision, best.recall, best.f1) == pytest.approx(scores, rel=1e-12)
    return best


@pytest.mark.parametrize("levels", [None, 3, 12])
@pytest.mark.parametrize("sizes", [(1,), (2,), (17,), (1, 2, 9, 14), (6, 6, 6, 6, 6)])
def test_the_threshold_is_the_best_of_all(
    sizes: tuple[int, ...], levels: int | None, rng: np.random.Generator
) -> None:
    for _ in range(5):
        check_exactly_optimal([(random_tree(n, rng, levels), rng.integers(0, 4, n)) for n in sizes])


@pytest.mark.parametrize("family", sorted(generators.FAMILIES))
def test_the_threshold_on_trees_of_every_family(family: str, rng: np.random.Generator) -> None:
    blocks = []
    for n in (5, 14):
        D, labels = generators.FAMILIES[family](n, rng)
        finite = np.where(np.isinf(D), 1e6, D)[np.triu_indices(n, 1)]
        Z = complete(finite - finite.min())
        Z[:, 2] += finite.min()
        if family in generators.INFINITE:
            Z[Z[:, 2] > 1e5, 2] = np.inf
        blocks.append((Z, labels))
    check_exactly_optimal(blocks)


@pytest.mark.parametrize(
    "heights",
    [
        [1.0, 2.0, 3.0],
        [-3.0, -2.0, -2.0],
        [-1.0, 0.0, 1.0],
        [0.0, 0.0, 0.0],
        [5.0, 5.0, 5.0],
        [1.0, np.nextafter(1.0, 2.0), np.nextafter(np.nextafter(1.0, 2.0), 2.0)],
        [-TINY, 0.0, TINY],
        [TINY, TINY, TINY],
        [1.0, 2.0, np.inf],
        [1.0, np.inf, np.inf],
        [np.inf, np.inf, np.inf],
        [MAX / 2, MAX, np.inf],
        [-MAX, 0.0, MAX],
        [-MAX, -MAX, -MAX],
        [MAX, MAX, MAX],
        [1e-300, 1.0, 1e300],
    ],
)
def test_every_threshold_makes_exactly_its_cut(heights: list[float]) -> None:
    Z = tree_from_choices([(0, 1)] * 3, heights)
    labels = ["a", "a", "b", "b"]
    curve = threshold_curve([(Z, labels)])
    distinct = sorted(set(heights))
    assert curve.heights.tolist() == [-np.inf, *distinct]
    assert np.all(np.diff(curve.thresholds) > 0)
    for i, (height, threshold) in enumerate(zip(curve.heights, curve.thresholds, strict=True)):
        np.testing.assert_array_equal(cut_tree(Z, height=threshold), oracle.cut(Z, height))
        scores = curve.precision[i], curve.recall[i], curve.f1[i]
        assert scores == pytest.approx(oracle.pooled_scores([(Z, labels)], height), rel=1e-12)
        if height < np.inf and distinct[0] != -MAX:
            assert np.isfinite(threshold)


def test_the_threshold_lies_halfway_or_half_the_spread_outside() -> None:
    Z = tree_from_choices([(0, 1)] * 3, [1.0, 2.0, 5.0])
    curve = threshold_curve([(Z, [0, 0, 1, 1])])
    np.testing.assert_allclose(curve.thresholds, [-1.0, 1.5, 3.5, 7.0])
    lone = threshold_curve([(tree_from_choices([(0, 1)], [4.0]), [0, 0])])
    np.testing.assert_allclose(lone.thresholds, [2.0, 6.0])


def test_heights_of_all_blocks_bound_the_threshold() -> None:
    """A height of the second block lies between the two heights around the first block's best."""
    first = tree_from_choices([(0, 1), (0, 1)], [1.0, 9.0]), [0, 0, 1]
    second = tree_from_choices([(0, 1)], [3.0]), [0, 1]
    assert best_threshold([first]).threshold == 5.0
    assert best_threshold([first, second]) == BestThreshold(2.0, 1.0, 1.0, 1.0)


def test_nothing_merged_and_all_merged_can_win() -> None:
    Z = chain_tree(5)
    nothing, everything = best_threshold([(Z, range(5))]), best_threshold([(Z, [1] * 5)])
    assert cut_tree(Z, height=nothing.threshold).tolist() == [0, 1, 2, 3, 4]
    assert nothing[1:] == (1.0, 1.0, 1.0)
    assert cut_tree(Z, height=everything.threshold).tolist() == [0] * 5
    assert everything[1:] == (1.0, 1.0, 1.0)


def test_the_lowest_of_equally_good_cuts_is_taken() -> None:
    """Pairs: a true one at height 0, two false ones at 1, a true one at 2."""
    pairs = [(0.0, "aa"), (1.0, "ab"), (1.0, "ab"), (2.0, "aa")]
    blocks = [(tree_from_choices([(0, 1)], [height]), list(labels)) for height, labels in pairs]
    curve = threshold_curve(blocks)
    assert curve.f1.tolist() == [0, 2 / 3, 2 / 5, 2 / 3]
    assert best_threshold(blocks) == BestThreshold(0.5, 2 / 3, 1.0, 0.5)


def test_one_point_blocks_need_no_cut() -> None:
    assert best_threshold([(np.empty((0, 4)), [3])]) == BestThreshold(0.0, 1.0, 1.0, 1.0)


def test_order_of_blocks_does_not_matter(rng: np.random.Generator) -> None:
    blocks = [(random_tree(n, rng, 6), rng.integers(0, 3, n)) for n in (3, 8, 5)]
    assert best_threshold(blocks) == best_threshold(reversed(blocks))


def test_a_large_tree_agrees_with_cutting_it(rng: np.random.Generator) -> None:
    Z, labels = balanced_tree(400), rng.integers(0, 150, 400)
    curve = threshold_curve([(Z, labels)])
    for i in rng.integers(0, len(curve.f1), 25):
        expected = pooled([(Z, labels)], curve.thresholds[i])
        assert (curve.precision[i], curve.recall[i], curve.f1[i]) == pytest.approx(expected)


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at least one tree; received none; pass \[\(Z, labels\)"):
        best_threshold([])
    with pytest.raises(ValueError, match="one entry per point, 3; received 2"):
        best_threshold([(chain_tree(3), [0, 1])])
