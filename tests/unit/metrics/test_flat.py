"""Scores of flat clusterings: pairwise, B-cubed, adjusted Rand."""

from __future__ import annotations

import er_evaluation
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import pair_confusion_matrix

from oracles import metrics as oracle
from supclust.metrics import (
    BCubedSums,
    PairCounts,
    adjusted_rand,
    bcubed_from_sums,
    bcubed_scores,
    bcubed_sums,
    pair_counts,
    pairwise_scores,
    pooled_scores,
    scores_from_counts,
)

# er-evaluation calls pandas in ways that pandas has since deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")

SCORES = [pairwise_scores, bcubed_scores]


@pytest.fixture(params=[1, 2, 3, 10, 40])
def pair(request: pytest.FixtureRequest, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    n = request.param
    return rng.integers(0, max(n // 3, 2), n), rng.integers(0, max(n // 4, 2), n)


def test_pairwise_matches_enumeration_and_scikit_learn(pair: tuple[np.ndarray, np.ndarray]) -> None:
    counts = pair_counts(*pair)
    both, predicted, true = oracle.pair_counts(*pair)
    assert counts == PairCounts(true, predicted, both)
    assert all(type(count) is int for count in counts)
    confusion = pair_confusion_matrix(*pair) // 2
    assert counts == (confusion[1].sum(), confusion[:, 1].sum(), confusion[1, 1])
    assert pairwise_scores(*pair) == pytest.approx(oracle.pairwise_scores(*pair), rel=1e-12)


def test_pairwise_matches_er_evaluation(pair: tuple[np.ndarray, np.ndarray]) -> None:
    true, pred = (pd.Series(labels) for labels in pair)
    scores = pairwise_scores(*pair)
    assert scores.precision == pytest.approx(er_evaluation.pairwise_precision(pred, true))
    if len(true) > len(set(true)):  # er-evaluation has no convention for this case
        assert scores.recall == pytest.approx(er_evaluation.pairwise_recall(pred, true))
        if scores.f1 > 0:
            assert scores.f1 == pytest.approx(er_evaluation.pairwise_f(pred, true))


def test_bcubed_matches_enumeration(pair: tuple[np.ndarray, np.ndarray]) -> None:
    assert bcubed_scores(*pair) == pytest.approx(oracle.b_cubed(*pair), rel=1e-12)


def test_bcubed_matches_er_evaluation_on_clusters_of_one_size(rng: np.random.Generator) -> None:
    """It averages over true clusters first, which only then is the mean over points."""
    true, pred = rng.permutation(np.arange(48) // 4), rng.integers(0, 10, 48)
    scores = bcubed_scores(true, pred)
    series = pd.Series(pred), pd.Series(true)
    assert scores.precision == pytest.approx(er_evaluation.b_cubed_precision(*series))
    assert scores.recall == pytest.approx(er_evaluation.b_cubed_recall(*series))
    assert scores.f1 == pytest.approx(er_evaluation.b_cubed_f(*series))


def test_adjusted_rand_is_scikit_learns(pair: tuple[np.ndarray, np.ndarray]) -> None:
    assert adjusted_rand(*pair) == pytest.approx(adjusted_rand_score(*pair), rel=1e-12)
    names = [f"cluster {label}" for label in pair[1]]
    assert adjusted_rand(pair[0], names) == pytest.approx(adjusted_rand_score(*pair), rel=1e-12)


@pytest.mark.parametrize(
    ("true", "pred", "expected"),
    [
        ([0], [0], (1, 1, 1)),  # neither true nor predicted pairs
        ([0, 1], ["a", "b"], (1, 1, 1)),
        ([0, 0], [0, 1], (1, 0, 0)),  # no predicted pair: precision 1
        ([0, 1], [0, 0], (0, 1, 0)),  # no true pair: recall 1
        ([0, 0], [1, 1], (1, 1, 1)),
        ([0, 0, 1, 1], [0, 1, 0, 1], (0, 0, 0)),
        ([0, 0, 0, 1], [0, 0, 0, 0], (0.5, 1, 2 / 3)),
        (["a", "a", "b", "b"], [0, 0, 1, 2], (1, 0.5, 2 / 3)),
    ],
)
def test_pairwise_by_hand(true: list[object], pred: list[object], expected: object) -> None:
    assert pairwise_scores(true, pred) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("true", "pred", "expected"),
    [
        ([0], [0], (1, 1, 1)),
        ([0, 0], [0, 1], (1, 0.5, 2 / 3)),
        ([0, 1], [0, 0], (0.5, 1, 2 / 3)),
        (["a", "a", "a", "b"], [0, 0, 1, 1], (0.75, 2 / 3, 12 / 17)),
    ],
)
def test_bcubed_by_hand(true: list[object], pred: list[object], expected: object) -> None:
    assert bcubed_scores(true, pred) == pytest.approx(expected)


def test_blocks_pool_by_adding(rng: np.random.Generator) -> None:
    """Two blocks scored together are one block in which no cluster spans both."""
    true, pred = rng.integers(0, 4, (2, 15)), rng.integers(0, 4, (2, 15))
    apart = np.array([[0], [10]])
    whole = (true + apart).ravel(), (pred + apart).ravel()
    blocks = list(zip(true, pred, strict=True))
    pooled = PairCounts(*map(sum, zip(*(pair_counts(*block) for block in blocks), strict=True)))
    assert scores_from_counts(pooled) == pairwise_scores(*whole) == pooled_scores(blocks)
    sums = BCubedSums(*map(sum, zip(*(bcubed_sums(*block) for block in blocks), strict=True)))
    assert bcubed_from_sums(sums) == pytest.approx(bcubed_scores(*whole), rel=1e-12)


@pytest.mark.parametrize("score", [*SCORES, adjusted_rand])
@pytest.mark.parametrize(
    ("true", "pred", "message"),
    [
        ([0, 1], [0], "labels_pred must have one entry per point, 2; received 1; pass"),
        ([], [], "labels_true must hold at least one point; received none"),
        ([[0, 1]], [0], "labels_true must be one-dimensional"),
        ([0.0, np.nan], [0, 1], "labels_true must not be missing"),
    ],
)
def test_wrong_labels_are_refused(score: object, true: object, pred: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score(true, pred)


def test_bcubed_of_no_points_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one point; received none"):
        bcubed_from_sums(BCubedSums(0.0, 0.0, 0))
