"""Counts that contradict the arrays they come with are refused, never cut to fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from supclust.hac.dendrogram import Dendrogram
from supclust.metrics import BCubed, DendrogramPurity, PairwiseF1, best_threshold, threshold_curve
from trees import chain_tree


def batch_of(*sizes: int, n: int) -> Dendrogram:
    trees = [chain_tree(size) for size in sizes]
    return Dendrogram.from_blocks(
        [(Z[:, :2].astype(int), Z[:, 2], Z[:, 3].astype(int)) for Z in trees], n=n
    )


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (torch.zeros(2, 20), r"block 0: .* 3 labels, or 5 with padding; received 20; pass"),
        (torch.zeros(2, 4), r"block 0: .* 3 labels, or 5 with padding; received 4; pass"),
        ([[0] * 3, [0] * 4], "block 1: .* 5 labels, or 5 with padding; received 4; pass"),
        (torch.zeros(2), r"block 0: labels must be one-dimensional; received 0\.0; pass \(b, n\)"),
    ],
)
def test_labels_must_fit_a_dendrogram(labels: Any, message: str) -> None:
    metric = DendrogramPurity()
    with pytest.raises(ValueError, match=message):
        metric.update(batch_of(3, 5, n=5), labels)
    assert metric.defined == metric.undefined == 0


def test_labels_of_a_dendrogram_may_be_padded_or_not() -> None:
    tree = batch_of(3, 4, n=6)  # wider than any of its blocks
    padded, exact = DendrogramPurity(), DendrogramPurity()
    padded.update(tree, [[0, 1, 0, -1, -1, -1], [0, 1, 0, 1, -1, -1]])
    exact.update(tree, [[0, 1, 0], [0, 1, 0, 1]])
    assert padded.compute() == exact.compute() < 1.0


@pytest.mark.parametrize("kind", [PairwiseF1, BCubed])
@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        (torch.tensor([70]), "block 0: lengths must lie between 0 and .* 10; received 70; correct"),
        (torch.tensor([-3]), "block 0: lengths must lie between 0 and .* 10; received -3; correct"),
        (torch.tensor([3.7]), r"lengths must be integers of shape \(b,\).* float32 of shape \(1,"),
        ([True], r"lengths must be integers of shape \(b,\).*; received bool"),
        (7, r"lengths must be integers of shape \(b,\).*; received int64 of shape \(\); pass"),
        ([3, 4], "as many blocks; received 1 and 2"),
    ],
)
def test_lengths_must_fit_the_labels(kind: Any, lengths: Any, message: str) -> None:
    metric, labels = kind(), torch.arange(10)[None] % 3
    with pytest.raises(ValueError, match=message):
        metric.update(labels, labels, lengths=lengths)


@pytest.mark.parametrize("kind", [PairwiseF1, BCubed])
def test_lengths_hold_for_either_labeling(kind: Any) -> None:
    labels = torch.zeros(1, 10)
    for pair in ((labels, labels[:, :5]), (labels[:, :5], labels)):
        with pytest.raises(ValueError, match=r"between 0 and .* 5; received 7"):
            kind().update(*pair, lengths=[7])


@pytest.mark.parametrize("form", [list, tuple, np.array, torch.tensor])
def test_lengths_of_any_integer_kind_are_taken(form: Any) -> None:
    metric, labels = PairwiseF1(), [[0, 0, 9], [1, 9, 9], [9, 9, 9]]
    metric.update(labels, labels, lengths=form([2, 1, 0]))
    assert metric.true == 1


@pytest.mark.parametrize("score", [best_threshold, threshold_curve])
@pytest.mark.parametrize(
    ("trees", "message"),
    [
        ((chain_tree(6), [0, 0, 0, 1, 1, 1]), r"received ndarray of length 5 as entry 0; .*\[\(Z"),
        ([(chain_tree(2),)], "received tuple of length 1 as entry 0"),
        ([(chain_tree(2), [0, 0]), 7], "received int as entry 1"),
    ],
)
def test_trees_come_with_their_labels(score: Any, trees: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"pair \(Z, labels\) for each block; {message}"):
        score(trees)
