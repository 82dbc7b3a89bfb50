"""Laws of the metrics and of cutting, over trees and labels of any shape."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster

from oracles import metrics as oracle
from supclust.hac.tree import cut_tree
from supclust.metrics import (
    adjusted_rand,
    bcubed_scores,
    best_threshold,
    dendrogram_purity,
    pairwise_scores,
    threshold_curve,
)
from trees import tree_from_choices

FINITE = st.floats(allow_nan=False, allow_infinity=False)
ANY_HEIGHT = st.one_of(st.sampled_from([-1.0, 0.0, 0.5, 1.0, np.inf]), FINITE)
POSITIVE = st.one_of(st.sampled_from([0.0, 1.0, 2.0]), st.floats(0, 1e6))


@st.composite
def trees(draw: st.DrawFn, heights: st.SearchStrategy[float] = ANY_HEIGHT) -> np.ndarray:
    n = draw(st.integers(1, 12))
    pairs = [
        draw(st.lists(st.integers(0, n - k - 1), min_size=2, max_size=2, unique=True))
        for k in range(n - 1)
    ]
    drawn = draw(st.lists(heights, min_size=n - 1, max_size=n - 1))
    return tree_from_choices([(a, b) for a, b in pairs], sorted(drawn))


def labels_for(n: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 4), min_size=n, max_size=n)


labelled_trees = trees().flatmap(
    lambda Z: st.tuples(st.just(Z), labels_for(len(Z) + 1).map(np.array))
)
labelings = st.integers(1, 15).flatmap(
    lambda n: st.tuples(labels_for(n), labels_for(n), st.permutations(range(n)))
)


def permuted(Z: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The same tree once point i is called order[i]."""
    names = np.append(order, np.arange(len(order), 2 * len(order) - 1))
    result = Z.copy()
    result[:, :2] = names[Z[:, :2].astype(int)]
    return result


@given(labelled_trees)
def test_purity_is_the_mean_over_same_label_pairs(tree: tuple[np.ndarray, np.ndarray]) -> None:
    Z, labels = tree
    expected = oracle.dendrogram_purity(Z, labels)
    assert dendrogram_purity(Z, labels) == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert math.isnan(expected) == (len(set(labels.tolist())) == len(labels))


@given(labelled_trees, st.randoms(use_true_random=False))
def test_tree_scores_ignore_label_names_and_point_order(
    tree: tuple[np.ndarray, np.ndarray], random: object
) -> None:
    Z, labels = tree
    order = np.array(random.sample(range(len(labels)), len(labels)))
    renamed = np.empty(len(labels), dtype=object)
    renamed[order] = [f"cluster {7 - label}" for label in labels]
    moved = permuted(Z, order)
    purity = dendrogram_purity(Z, labels)
    assert dendrogram_purity(moved, renamed) == pytest.approx(purity, rel=1e-12, nan_ok=True)
    assert best_threshold([(moved, renamed)]) == best_threshold([(Z, labels)])


@given(trees(), st.data())
def test_purity_is_one_exactly_where_every_label_is_a_subtree(
    Z: np.ndarray, data: st.DataObject
) -> None:
    n_clusters = data.draw(st.integers(1, len(Z) + 1))
    labels = cut_tree(Z, n_clusters=n_clusters)
    assert len(set(labels.tolist())) == n_clusters
    if n_clusters <= len(Z):
        assert dendrogram_purity(Z, labels) == 1.0
    subtrees = {frozenset([i]) for i in range(len(Z) + 1)} | set(oracle.leaves_of_merges(Z))
    other = np.array(data.draw(labels_for(len(Z) + 1)))
    purity = dendrogram_purity(Z, other)
    if not math.isnan(purity):
        groups = [frozenset(np.flatnonzero(other == k).tolist()) for k in np.unique(other)]
        assert (purity == 1.0) == all(group in subtrees for group in groups)
        assert 0 < purity <= 1


@given(st.lists(labelled_trees, min_size=1, max_size=4))
def test_no_cut_beats_the_best_threshold(blocks: list[tuple[np.ndarray, np.ndarray]]) -> None:
    best = best_threshold(blocks)
    assert best.f1 == pytest.approx(oracle.best_threshold(blocks).f1, rel=1e-12)
    scores = oracle.pooled_scores(blocks, best.threshold)
    assert (best.precision, best.recall, best.f1) == pytest.approx(scores, rel=1e-12)


@given(st.lists(labelled_trees, min_size=1, max_size=3))
def test_thresholds_make_the_cuts_they_stand_for(
    blocks: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    curve = threshold_curve(blocks)
    assert np.all(np.diff(curve.recall) >= 0)
    for height, threshold in zip(curve.heights, curve.thresholds, strict=True):
        for Z, _ in blocks:
            np.testing.assert_array_equal(cut_tree(Z, height=threshold), oracle.cut(Z, height))


@given(trees(POSITIVE), POSITIVE)
def test_a_cut_is_scipys(Z: np.ndarray, height: float) -> None:
    if len(Z) == 0:
        return
    heights = [height, *Z[:, 2]]
    for at in heights:
        assert pairwise_scores(fcluster(Z, at, "distance"), cut_tree(Z, height=at)).f1 == 1.0


@given(trees())
def test_labels_are_numbered_by_first_appearance_and_cuts_are_nested(Z: np.ndarray) -> None:
    finer = None
    for n_clusters in range(len(Z) + 1, 0, -1):
        labels = cut_tree(Z, n_clusters=n_clusters)
        assert list(dict.fromkeys(labels.tolist())) == list(range(n_clusters))
        if finer is not None:
            assert pairwise_scores(labels, finer).precision == 1.0
        finer = labels


@pytest.mark.parametrize("score", [pairwise_scores, bcubed_scores])
@given(pair=labelings)
def test_flat_scores_obey_their_symmetries(
    pair: tuple[list[int], list[int], list[int]], score: object
) -> None:
    true, pred, order = pair
    scores = score(true, pred)
    assert all(0 <= value <= 1 for value in scores)
    swapped = score(pred, true)
    assert swapped == pytest.approx((scores.recall, scores.precision, scores.f1), rel=1e-12)
    assert score(true, true) == (1, 1, 1)
    moved = score([f"c{true[i]}" for i in order], [-pred[i] for i in order])
    assert moved == pytest.approx(scores, rel=1e-12)


@given(labelings)
def test_flat_scores_match_enumeration(pair: tuple[list[int], list[int], list[int]]) -> None:
    true, pred, _ = pair
    assert pairwise_scores(true, pred) == pytest.approx(oracle.pairwise_scores(true, pred))
    assert bcubed_scores(true, pred) == pytest.approx(oracle.b_cubed(true, pred))
    assert adjusted_rand(true, pred) == pytest.approx(adjusted_rand(pred, true))
