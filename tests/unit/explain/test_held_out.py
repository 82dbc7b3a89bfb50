"""Labelled records in clusterings that have not seen their entities."""

from __future__ import annotations

import numpy as np
import pytest

from supclust.explain.held_out import held_out_membership, rightness
from supclust.explain.membership import membership
from supclust.hac import graph_linkage
from supclust.resolve.graph_cut import CutScores, GraphCut, choose_cut
from supclust.resolve.scoring import Edges


def pairs_of_two(n: int, seed: int) -> tuple[Edges, np.ndarray]:
    """n components of two records, each at a height of its own; nearer ones are one entity."""
    rng = np.random.default_rng(seed)
    left = np.arange(0, 2 * n, 2).astype(np.int32)
    f = rng.uniform(-3, 3, n).astype(np.float32)
    labels = np.arange(2 * n)
    same = f + rng.normal(0, 0.5, n) < 1.5
    labels[left[same] + 1] = labels[left[same]]
    labels = np.unique(labels, return_inverse=True)[1]
    return Edges(left, left + 1, f), labels


@pytest.mark.parametrize("complete", [True, False])
def test_every_fold_is_cut_where_the_others_say(complete: bool) -> None:
    edges, labels = pairs_of_two(200, seed=0)
    fold = np.random.default_rng(1).integers(0, 3, labels.max() + 1)[labels]
    fold[labels % 7 == 0] = -1
    labels = np.where(fold < 0, -1, labels)
    n, missing = len(labels), 4.0
    forest = graph_linkage(tuple(edges), n, "exp", alpha=0.0, missing=missing)
    cut = GraphCut(0.0, missing, 3.5)  # of which nothing is taken but the linkage
    found, right = held_out_membership(edges, forest, cut, labels, complete, fold)
    thresholds = []
    for k in range(3):
        rest = np.where(fold == k, -1, labels)
        scores = CutScores.of_labels(rest, complete, rest % 3)
        thresholds.append(choose_cut(edges, n, scores).cut.threshold)
        alone = membership(edges, forest, 0.0, missing, thresholds[-1])
        mine = fold == k
        for whole, part in zip(found, alone, strict=True):
            np.testing.assert_array_equal(whole[mine], part[mine])
        expected = rightness(alone.cluster, labels, complete)[mine]
        np.testing.assert_array_equal(right[mine], expected)
    assert len(set(thresholds)) > 1
    assert np.isnan(right[fold < 0]).all()


def test_even_odds_are_kept() -> None:
    edges, labels = pairs_of_two(200, seed=0)
    forest = graph_linkage(tuple(edges), 400, "exp", alpha=0.0, missing=4.0)
    fold = np.arange(400) // 2 % 3
    found, _ = held_out_membership(edges, forest, GraphCut(0.0, 4.0, 0.0), labels, True, fold)
    whole = membership(edges, forest, 0.0, 4.0, 0.0)
    np.testing.assert_array_equal(found.size, whole.size)


def test_labels_of_a_fold_do_not_move_its_own_cut() -> None:
    edges, labels = pairs_of_two(200, seed=2)
    fold = np.arange(400) // 2 % 3
    forest = graph_linkage(tuple(edges), 400, "exp", alpha=0.0, missing=4.0)
    cut = GraphCut(0.0, 4.0, 1.0)
    wrong = np.where(fold == 0, 1000 + np.arange(400), labels)  # as if no pair matched
    wrong = np.unique(wrong, return_inverse=True)[1]
    before, _ = held_out_membership(edges, forest, cut, labels, True, fold)
    after, _ = held_out_membership(edges, forest, cut, wrong, True, fold)
    np.testing.assert_array_equal(before.size[fold == 0], after.size[fold == 0])
    assert (before.size[fold == 1] != after.size[fold == 1]).any()
