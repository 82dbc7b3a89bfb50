"""The learned cut and its gate: fits, saves, and is not used where it is clearly worse."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from supclust import linkage
from supclust.boosting import Booster
from supclust.cut import Fold, LearnedCut, best_threshold, choose_cut, fit_learned_cut
from supclust.cut.counts import labelled_merge_pairs, scores_of_cut
from supclust.cut.gate import block_folds
from supclust.hac.tree import cut_tree

Tree = tuple[np.ndarray, np.ndarray]


def spread_blocks(count: int, seed: int) -> list[Tree]:
    """Large clusters are wide and small ones narrow, so that the best height depends on size."""
    rng = np.random.default_rng(seed)
    trees = []
    for _ in range(count):
        sizes = rng.choice([3, 3, 3, 40], 10)
        labels = np.repeat(np.arange(10), sizes)
        width = np.where(sizes > 10, 5.0, 0.3)[labels]
        centres = rng.permutation(10)[labels] * np.where(sizes > 10, 30.0, 4.0)[labels]
        points = np.stack([centres, np.where(sizes > 10, 500.0, 0.0)[labels]], 1)
        points = points + rng.normal(size=points.shape) * width[:, None]
        gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
        trees.append((linkage(gaps, "average"), labels))
    return trees


def even_blocks(count: int, seed: int, noise: float) -> list[Tree]:
    """Clusters of one size and width: one height is the whole truth."""
    rng = np.random.default_rng(seed)
    trees = []
    for _ in range(count):
        labels = np.repeat(np.arange(6), 8)
        points = rng.normal(size=(6, 3))[labels] * 4 + rng.normal(size=(48, 3)) * noise
        gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
        trees.append((linkage(gaps, "average"), labels))
    return trees


def f1(trees: list[Tree], applied: list[np.ndarray]) -> float:
    return scores_of_cut([labelled_merge_pairs(Z, labels) for Z, labels in trees], applied).f1


def test_it_cuts_where_one_height_cannot() -> None:
    trees, new = spread_blocks(12, 0), spread_blocks(12, 1)
    choice = choose_cut(trees)
    assert choice.name == "learned" and choice.learned is not None
    learned = f1(new, [choice.learned.applied(Z) for Z, _ in new])
    height = f1(new, [Z[:, 2] <= choice.threshold for Z, _ in new])
    assert learned > height + 0.01
    assert choice.cross_validated["learned"] > choice.cross_validated["threshold"]
    assert choice.reason.startswith("learned: held-out F1 ")


@pytest.mark.parametrize("seed", range(3))
def test_the_gate_keeps_the_threshold_where_learning_cannot_help(seed: int) -> None:
    separated = choose_cut(even_blocks(8, seed, noise=0.01))  # both are perfect: a tie
    assert separated.name == "threshold"
    assert set(separated.cross_validated.values()) == {1.0}
    rng = np.random.default_rng(seed)  # labels that have nothing to do with the tree
    noise = [(Z, rng.permutation(labels)) for Z, labels in even_blocks(8, seed, noise=1.0)]
    for trees in (even_blocks(1, seed, 0.5), [(Z, np.arange(len(y))) for Z, y in noise]):
        assert choose_cut(trees).name == "threshold"
        assert "too little" in choose_cut(trees).reason


@pytest.mark.parametrize("seed", range(3))
def test_the_threshold_has_to_be_clearly_better(seed: int) -> None:
    fitted = spread_blocks(8, seed)  # large clusters are wide there, and narrow where it is scored
    rng, labels = np.random.default_rng(seed), np.repeat(np.arange(20), 20)
    folds = []
    for _ in range(4):
        points = rng.permutation(20)[labels] * 30.0 + rng.normal(size=400) * 0.3
        tree = linkage(np.abs(points[:, None] - points), "average")
        folds.append(Fold(fitted, [(tree, labels)]))
    worse = choose_cut(fitted, folds)
    scores = worse.cross_validated
    assert worse.name == "threshold" and worse.learned is not None
    assert scores["threshold"] - scores["learned"] > 2 * worse.standard_error
    better = [Fold(fitted, [tree]) for tree in spread_blocks(1, seed + 10)]
    doubtful = choose_cut(fitted, [folds[0], *better])  # it loses once and wins once
    assert doubtful.name == "learned" and doubtful.standard_error > 0


def test_folds_hold_every_block_out_once() -> None:
    trees = even_blocks(7, 0, 1.0)
    folds = block_folds(trees, 3)
    held = [id(tree) for fold in folds for tree in fold.held_out]
    assert sorted(held) == sorted(map(id, trees))
    for fold in folds:
        assert not {id(tree) for tree in fold.fit} & {id(tree) for tree in fold.held_out}
        assert len(fold.fit) + len(fold.held_out) == 7


def test_clusters_are_tree_consistent_and_do_not_depend_on_other_blocks() -> None:
    trees = spread_blocks(6, 0)
    cut = fit_learned_cut(trees)
    for Z, _ in trees:
        applied = cut.applied(Z)
        n = len(Z) + 1
        for k in np.flatnonzero(applied):
            below = [int(c) - n for c in Z[k, :2] if c >= n]
            assert applied[below].all()
        labels = cut.labels(Z)
        assert labels.max() + 1 == n - applied.sum()
        assert ((cut.shares(Z) > 0) & (cut.shares(Z) < 1)).all()
    assert cut.labels(np.empty((0, 4))).tolist() == [0]


def test_it_is_deterministic_and_round_trips() -> None:
    trees = spread_blocks(6, 0)
    cut = fit_learned_cut(trees)
    stored = json.loads(json.dumps(cut.to_json()))
    again = LearnedCut.from_json(stored, cut.booster.to_text())
    twin = fit_learned_cut(trees)
    for Z, _ in spread_blocks(3, 2):
        np.testing.assert_array_equal(again.labels(Z), cut.labels(Z))
        np.testing.assert_array_equal(again.shares(Z), cut.shares(Z))
        np.testing.assert_array_equal(twin.shares(Z), cut.shares(Z))


def test_the_scale_of_heights_does_not_matter() -> None:
    trees = spread_blocks(6, 0)
    cut = fit_learned_cut(trees)
    scaled = [(Z * [1, 1, 1024.0, 1] - [0, 0, 7 * 1024.0, 0], labels) for Z, labels in trees]
    other = fit_learned_cut(scaled)
    for (Z, _), (large, _) in zip(trees, scaled, strict=True):
        np.testing.assert_array_equal(cut.labels(Z), other.labels(large))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"unit": 0.0}, "unit > 0"),
        ({"unit": None}, "must be numbers"),
        ({"exchange": 2.0}, "exchange in"),
        ({"threshold": float("nan")}, "finite threshold"),
        ({"features": ["height"]}, "must have the features"),
    ],
)
def test_damaged_numbers_are_refused(change: dict, problem: str) -> None:
    cut = fit_learned_cut(spread_blocks(3, 0))
    with pytest.raises(ValueError, match=problem):
        LearnedCut.from_json({**cut.to_json(), **change}, cut.booster.to_text())


def test_strangers_teach_the_threshold_and_the_cut() -> None:
    """Two of twelve clusters are labelled, at the ends of a chain: the strangers set the cut."""
    rng = np.random.default_rng(0)
    trees, hidden = [], []
    for _ in range(8):
        labels = np.repeat(np.arange(12), 5)
        points = np.arange(12)[labels] * 3.0 + rng.normal(size=60) * 0.4
        Z = linkage(np.abs(points[:, None] - points[None]), "average")
        known = np.where(np.isin(labels, [0, 11]), labels, -1)
        trees.append((Z, known))
        hidden.append((Z, labels))
    threshold = best_threshold(trees).threshold
    assert threshold == pytest.approx(best_threshold(hidden).threshold, rel=0.5)
    cut = fit_learned_cut(trees)
    assert f1(hidden, [cut.applied(Z) for Z, _ in hidden]) > 0.9


def test_the_compiled_rule_needs_no_lightgbm_and_torch() -> None:
    trees = spread_blocks(3, 0)
    cut = fit_learned_cut(trees)
    code = """
import json, sys
sys.modules["lightgbm"] = sys.modules["torch"] = None
from supclust.cut import LearnedCut
described, text, tree = json.load(sys.stdin)
print(json.dumps(LearnedCut.from_json(described, text).labels(tree).tolist()))
"""
    stored = json.dumps([cut.to_json(), cut.booster.to_text(), trees[0][0].tolist()])
    done = subprocess.run(
        [sys.executable, "-c", code], input=stored, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == cut.labels(trees[0][0]).tolist()
    assert isinstance(cut.booster, Booster)
    assert cut_tree(trees[0][0], height=np.inf).max() == 0


def test_nothing_to_learn_from_is_refused() -> None:
    Z, labels = even_blocks(1, 0, 1.0)[0]
    with pytest.raises(ValueError, match="belong together; received none"):
        fit_learned_cut([(Z, np.arange(len(labels)))])
