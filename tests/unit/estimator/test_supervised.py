"""`SupervisedHAC`: what it learns, how it is used, what it refuses."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.cluster.hierarchy import fcluster
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from torch import nn

from supclust import SupervisedHAC
from supclust.cli import main as cli
from supclust.dissimilarity import Encoder, LinearPair, Mahalanobis
from supclust.hac import ExpLinkHAC
from supclust.metrics import pair_counts, pairwise_scores
from supclust.model import load
from supclust.objectives import MST, Recipe
from training_blocks import pair_block, vector_block

QUICK = {"max_epochs": 3, "lr": 0.01}


def records(n_blocks: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows in mixed order: X, clusters, blocks."""
    rng = np.random.default_rng(seed)
    blocks = [vector_block(f"b{k}", rng, (5, 4, 3)) for k in range(n_blocks)]
    X = np.concatenate([block.features for block in blocks])
    y = np.concatenate([block.labels for block in blocks])
    groups = np.repeat([block.name for block in blocks], 12)
    order = rng.permutation(len(X))
    return X[order], y[order], groups[order]


def gaps(rows: Any) -> np.ndarray:
    """Features of all pairs of rows, (n, n, d)."""
    values = np.asarray(rows, dtype=float)
    return np.abs(values[:, None] - values[None])


@pytest.fixture(scope="module")
def fitted() -> SupervisedHAC:
    return SupervisedHAC(**QUICK, cut="threshold").fit(*records())


def test_training_helps() -> None:
    X, y, groups = records(12)
    new = records(8, seed=1)
    untrained = SupervisedHAC(max_epochs=1, lr=0.0, recipe="paper").fit(X, y, groups)
    trained = SupervisedHAC(max_epochs=60, lr=0.02, recipe="paper").fit(X, y, groups)
    best = SupervisedHAC(max_epochs=10).fit(X, y, groups)
    assert best.score(*new) > untrained.score(*new) + 0.1
    assert trained.score(*new) > untrained.score(*new) + 0.1
    assert trained.n_iter_ <= 60
    weight = trained.dissimilarity_.weight[0].abs().mean(dim=0)
    assert weight[:2].min() > weight[2:].max()  # the loud noise has been turned down


def test_predictions_are_cuts_of_the_learned_trees(fitted: SupervisedHAC) -> None:
    X, y, groups = records(3, seed=5)
    found = fitted.predict(X, groups)
    true = predicted = shared = 0
    for name in pd.unique(groups):
        rows = np.flatnonzero(groups == name)
        Z = fitted.linkage_matrix(X[rows])
        expected = fcluster(Z, fitted.threshold_, "distance")
        assert pairwise_scores(expected, found[rows]).f1 == 1.0
        counts = pair_counts(y[rows], expected)
        true, predicted, shared = true + counts[0], predicted + counts[1], shared + counts[2]
        assert not set(found[rows]) & set(found[groups != name])
    assert sorted(set(found)) == list(range(found.max() + 1))
    assert fitted.score(X, y, groups) == pytest.approx(2 * shared / (true + predicted))


def test_a_score_says_which_labelled_pairs_are_in_different_blocks(fitted: SupervisedHAC) -> None:
    X, y, groups = records(3, seed=5)
    score = fitted.score(X, y, groups)  # every label is in one block: no warning
    blocks = pd.factorize(groups)[0]
    names = np.array([f"entity {k}" for k in y], object)
    moved = np.flatnonzero(blocks == 0)[0]
    names[blocks == 1] = names[moved]  # one entity of the first block has all rows of the second
    counts = pair_counts(names, fitted.predict(X, groups))
    within = sum(pair_counts(names[groups == g], y[groups == g]).true for g in pd.unique(groups))
    share = 100 * (1 - within / counts.true)
    f1 = 2 * counts.shared / (counts.true + counts.predicted)
    text = f"of the labelled pairs, {share:.1f} % are in different blocks: .* F1 is {f1:.3f}"
    with pytest.warns(UserWarning, match=text) as caught:
        fitted.score(X, names, groups)
    assert caught[0].filename == __file__
    y = y.astype(object)
    y[moved] = None  # not known
    for first in (0, 1):  # numbered in every block: no warning
        for g in pd.unique(groups):
            known = (groups == g) & (y != None)  # noqa: E711
            y[known] = pd.factorize(y[known])[0] + first
        assert fitted.score(X, y, groups) == pytest.approx(score, abs=0.1)


def test_constraints_hold_in_predictions(fitted: SupervisedHAC) -> None:
    X, _, groups = records(3, seed=5)
    free = fitted.predict(X, groups, n_clusters=3)
    rows = np.flatnonzero(groups == groups[0])
    apart = next((a, b) for a in rows for b in rows if free[a] != free[b])
    together = next((a, b) for a in rows for b in rows if a < b and free[a] == free[b])
    other = int(np.flatnonzero(groups != groups[0])[0])
    found = fitted.predict(
        X, groups, n_clusters=3, must_link=[apart],
        cannot_link=[together, (int(rows[0]), other)],
    )  # fmt: skip
    assert found[apart[0]] == found[apart[1]] and found[together[0]] != found[together[1]]
    unlike = groups != groups[0]
    assert pairwise_scores(free[unlike], found[unlike]).f1 == 1.0
    with pytest.raises(ValueError, match="must-link must lie within one block"):
        fitted.predict(X, groups, must_link=[(int(rows[0]), other)])
    with pytest.raises(ValueError, match="contradict"):
        fitted.predict(X, groups, must_link=[apart], cannot_link=[apart])
    with pytest.raises(ValueError, match="n_clusters must be at least 2"):
        fitted.predict(X, groups, n_clusters=1, cannot_link=[together])


def test_the_order_of_rows_does_not_matter(fitted: SupervisedHAC, rng: np.random.Generator) -> None:
    X, _, groups = records(3, seed=5)
    order = rng.permutation(len(X))
    found, shuffled = fitted.predict(X, groups), fitted.predict(X[order], groups[order])
    assert pairwise_scores(found[order], shuffled).f1 == 1.0


def test_the_number_of_clusters_can_be_given(fitted: SupervisedHAC) -> None:
    X, _, groups = records(3, seed=5)
    assert len(set(fitted.predict(X, groups, n_clusters=2))) == 6
    counts = {"b0": 1, "b1": 5}
    found = fitted.predict(X, groups, n_clusters=counts)
    by_height = fitted.predict(X, groups)
    assert [len(set(found[groups == name])) for name in counts] == [1, 5]
    assert len(set(found[groups == "b2"])) == len(set(by_height[groups == "b2"]))
    fitted = clone(fitted).fit(*records())
    fitted.threshold_ = math.inf
    assert len(set(fitted.predict(X, groups))) == 3


def test_unlabelled_rows_do_not_change_what_is_learned() -> None:
    X, y, groups = records()
    rng = np.random.default_rng(3)
    more = rng.normal(scale=50.0, size=(20, 4))
    mixed = rng.permutation(len(X) + 20)
    back = np.argsort(mixed)[: len(X)]
    places = rng.choice(["b0", "b1", "new"], 20)
    joined = ((X, more), (y, np.full(20, -1)), (groups, places))
    everything = [np.concatenate(parts)[mixed] for parts in joined]
    order = np.sort(back)  # labelled rows in the order in which they now stand
    known = [values[order] for values in everything]
    plain = SupervisedHAC(**QUICK).fit(*known)
    found = SupervisedHAC(**QUICK).fit(*everything)
    assert torch.equal(found.dissimilarity_.weight, plain.dissimilarity_.weight)
    assert found.threshold_ == plain.threshold_
    assert found.predict(everything[0], everything[2]).shape == (len(X) + 20,)
    assert found.score(*everything) == pytest.approx(_score_of_known(found, everything), abs=1e-12)


def _score_of_known(model: SupervisedHAC, everything: list[np.ndarray]) -> float:
    X, y, groups = everything
    predicted = model.predict(X, groups)
    known = y >= 0
    counts = [
        pair_counts(y[known & (groups == g)], predicted[known & (groups == g)])
        for g in set(groups[known])
    ]
    true, pred, shared = np.sum(counts, axis=0)
    return 2 * shared / (true + pred)


def test_the_same_seed_gives_the_same_model() -> None:
    data = records()
    first, second = (SupervisedHAC(**QUICK, random_state=7).fit(*data) for _ in range(2))
    other = SupervisedHAC(**QUICK, random_state=8).fit(*data)
    assert torch.equal(first.dissimilarity_.weight, second.dissimilarity_.weight)
    assert not torch.equal(first.dissimilarity_.weight, other.dissimilarity_.weight)
    drawn = SupervisedHAC(**QUICK, random_state=np.random.RandomState(0)).fit(*data)
    assert drawn.model_.record["seed"] > 8


def test_one_block_holds_out_clusters() -> None:
    block = vector_block("one", np.random.default_rng(0), (4, 4, 3, 3, 2, 5))
    model = SupervisedHAC(**QUICK).fit(block.features, block.labels)
    sizes = model.model_.record["sizes"]
    assert (sizes["train"]["clusters"], sizes["dev"]["clusters"]) == (4, 2)
    few = SupervisedHAC(**QUICK).fit(block.features[:8], block.labels[:8])
    assert few.model_.record["sizes"]["dev"]["blocks"] == 0
    assert math.isfinite(few.threshold_)


def test_dev_groups_are_held_out() -> None:
    X, y, groups = records()
    model = SupervisedHAC(**QUICK).fit(X, y, groups, dev_groups=["b1", "b4"])
    assert model.model_.record["sizes"]["dev"] == {"blocks": 2, "points": 24, "clusters": 6}
    with pytest.raises(ValueError, match="received 'b9', which no row has"):
        model.fit(X, y, groups, dev_groups=["b1", "b9"])
    with pytest.raises(ValueError, match="received all of them"):
        model.fit(X, y, groups, dev_groups=set(groups))


@pytest.mark.parametrize("form", ["square", "condensed", "frame"])
def test_pair_features_from_a_function(form: str) -> None:
    X, y, groups = records()
    if form == "frame":
        X = pd.DataFrame(X.round(3).astype(str), columns=list("abcd"))

    def compare(rows: Any) -> np.ndarray:
        assert isinstance(rows, pd.DataFrame) == (form == "frame") and len(rows) == 12
        square = gaps(rows)
        return square[np.triu_indices(12, 1)] if form == "condensed" else square

    model = SupervisedHAC(pairs=compare, feature_names=["p", "q", "r", "s"], **QUICK)
    model.fit(X, y, groups)
    assert model.n_features_in_ == 4
    assert model.model_.kind == "pairs" and model.model_.feature_names == ("p", "q", "r", "s")
    rows = np.flatnonzero(groups == "b0")
    values = np.asarray(X)[rows].astype(float)
    weight = model.dissimilarity_.average_weight[0].numpy()
    bias = float(model.dissimilarity_.average_bias[0])
    scores = gaps(values) @ weight + bias
    np.fill_diagonal(scores, 0)
    block = X.iloc[rows] if form == "frame" else X[rows]
    Z = model.linkage_matrix(block)
    assert Z[0, 2] == pytest.approx(squareform(scores, checks=False).min(), abs=1e-4)
    assert model.predict(block).shape == (12,)


def test_a_row_alone_in_its_block_is_compared_with_nothing() -> None:
    X, y, groups = records(3)

    def compare(rows: np.ndarray) -> np.ndarray:
        assert len(rows) > 1
        return gaps(rows)

    model = SupervisedHAC(pairs=compare, **QUICK).fit(X, y, groups)
    assert model.predict(X[:3], ["p", "q", "r"]).tolist() == [0, 1, 2]
    assert model.predict(X[:1], n_clusters=1).tolist() == [0]


def test_precomputed_pair_features() -> None:
    rng = np.random.default_rng(0)
    blocks = [pair_block(f"b{k}", rng) for k in range(4)]
    X = [block.features for block in blocks]
    y = np.concatenate([block.labels for block in blocks])
    names = [block.name for block in blocks]
    model = SupervisedHAC(pairs="precomputed", **QUICK).fit(X, y, names, dev_groups=["b3"])
    assert model.predict(X).shape == y.shape
    assert model.score(X, y) > 0.5
    lookup = SupervisedHAC(pairs=lambda rows: X[int(rows[0, 0])], **QUICK)
    which = np.repeat(np.arange(4), 13)
    lookup.fit(which[:, None], y, which, dev_groups=[3])
    assert torch.equal(lookup.dissimilarity_.weight, model.dissimilarity_.weight)

    square = np.stack([squareform(column) for column in X[0].T], axis=2)
    alone = SupervisedHAC(pairs="precomputed", **QUICK).fit(square, blocks[0].labels)
    assert np.array_equal(alone.linkage_matrix(square), alone.linkage_matrix(X[0]))
    with pytest.raises(ValueError, match="one block; received 4"):
        alone.linkage_matrix(X)
    with pytest.raises(ValueError, match="each of the 4 precomputed blocks"):
        alone.predict(X, ["a"])


@pytest.mark.parametrize(
    "changes",
    [
        {"objective": "mst"},
        {"objective": MST, "linkage": "single"},
        {"objective": MST(Mahalanobis(4), Recipe(1.0, 0.5))},
        {"linkage": "complete"},
        {"linkage": -0.25},
        {"linkage": ExpLinkHAC(-0.25)},
        {"dissimilarity": "linear"},
        {"dissimilarity": "encoder"},
        {"dissimilarity": LinearPair(4, kind="vectors")},
        {"dissimilarity": Encoder(nn.Linear(4, 2))},
        {"dissimilarity": nn.Linear(4, 2)},
        {"precision": 64, "recipe": {"variant": "ranking"}},
    ],
)
def test_parts_by_name_or_instance(changes: dict[str, Any]) -> None:
    data = records(3)
    kept = {k: v.state_dict() for k, v in changes.items() if isinstance(v, nn.Module)}
    kept = {k: {n: t.clone() for n, t in state.items()} for k, state in kept.items()}
    own = isinstance(changes.get("objective"), nn.Module)
    arguments = {"max_epochs": 2} if own else {"max_epochs": 2, "lr": 0.01}
    model = clone(SupervisedHAC(**changes, **arguments)).fit(*data)
    assert model.predict(data[0], data[2]).shape == data[1].shape
    if changes.get("linkage") in ("single", "complete"):
        assert model.alpha_ == {"single": -math.inf, "complete": math.inf}[changes["linkage"]]
    elif "linkage" in changes:
        assert model.alpha_ == -0.25
    for name, state in kept.items():  # what was given is as it was
        assert all(torch.equal(t, state[n]) for n, t in changes[name].state_dict().items())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"objective": "nonsense"}, r"objective must be one of .*all_pairs"),
        ({"objective": 3}, "objective must be a name"),
        ({"objective": MST(Mahalanobis(4)), "lr": 1.0}, "brings its own .* received lr"),
        ({"linkage": "ward"}, "linkage must be one of single"),
        ({"linkage": math.nan}, "alpha must be a number"),
        ({"dissimilarity": "cosine"}, "dissimilarity must be one of auto"),
        ({"dissimilarity": 3}, "dissimilarity must be a name"),
        ({"dissimilarity": LinearPair(4)}, "for vectors is needed"),
        ({"dissimilarity": Mahalanobis(4, splits=(0, 1))}, "of one model"),
        ({"pairs": "all"}, "pairs must be None, a function"),
        ({"pairs": gaps, "dissimilarity": "mahalanobis"}, "works on points"),
        ({"pairs": lambda rows: np.zeros((3, 2))}, r"received \(3, 2\) from pairs\(...\)"),
        ({"feature_names": ["a"]}, "each of the 4 features; received 1"),
        ({"lr": -1.0}, "lr must be a number >= 0"),
        ({"recipe": {"speed": 1}}, "received speed"),
        ({"dev_fraction": 1.0}, "dev_fraction must be"),
    ],
)
def test_mistakes(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SupervisedHAC(**changes).fit(*records(3))


def test_mistakes_in_the_data() -> None:
    X, y, groups = records(3)
    model = SupervisedHAC(**QUICK)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match=r"y must hold two clusters.*0 labelled rows"):
        model.fit(X, np.full(len(y), -1), groups)
    with pytest.raises(ValueError, match="y must hold two clusters"):
        model.fit(X, np.arange(len(y)), groups)
    with pytest.raises(ValueError, match=r"requires y to be passed.*ExpLinkClustering"):
        model.fit(X, None)


def test_verbose_prints_and_default_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    SupervisedHAC(**QUICK).fit(*records(3))
    assert capsys.readouterr() == ("", "")
    SupervisedHAC(**QUICK, recipe="paper", verbose=25).fit(*records(3))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and lines[-1].startswith("epoch 3/3  train loss")


def test_a_saved_estimator_comes_back(tmp_path: Path) -> None:
    X, y, groups = records()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = SupervisedHAC("mst", -0.5, random_state=3, recipe={"window": 5}, **QUICK)
    model.fit(frame, y, groups)
    model.threshold_ *= 1.25
    found = SupervisedHAC.load(model.save(tmp_path))
    assert np.array_equal(found.predict(frame, groups), model.predict(frame, groups))
    assert (found.alpha_, found.threshold_) == (-0.5, model.threshold_)
    assert found.n_features_in_ == 4 and found.n_iter_ == model.n_iter_
    asked = {k: v for k, v in model.get_params().items() if k != "feature_names"}
    assert {k: found.get_params()[k] for k in asked} == asked
    again = clone(found).fit(frame, y, groups)
    assert torch.equal(again.dissimilarity_.weight, model.dissimilarity_.weight)
    with pytest.raises(ValueError, match="feature names"):
        found.predict(frame[list("dcba")], groups)
    assert load(tmp_path).record["sizes"]["train"]["blocks"] == 5


def test_a_saved_estimator_can_be_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y, groups = records()
    SupervisedHAC(**QUICK).fit(X, y, groups).save(tmp_path)
    assert cli.main(["explain", str(tmp_path), "--json"]) == 0
    explained = json.loads(capsys.readouterr().out)
    assert explained["spread"] == load(tmp_path).record["spread"] > 0
    assert cli.main(["explain", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert f"nearest to {explained['nearest_linkage']}\n" in shown  # without a guess at the scale


def test_a_saved_model_of_pairs_takes_features_or_the_function(tmp_path: Path) -> None:
    X, y, groups = records()
    model = SupervisedHAC(pairs=gaps, **QUICK).fit(X, y, groups)
    model.save(tmp_path)
    expected = model.predict(X, groups)
    assert np.array_equal(SupervisedHAC.load(tmp_path, pairs=gaps).predict(X, groups), expected)
    plain = SupervisedHAC.load(tmp_path)
    rows = groups == groups[0]
    assert pairwise_scores(plain.predict(gaps(X[rows])), expected[rows]).f1 == 1.0


def test_complete_clusters_among_unknown_rows() -> None:
    """One labelled cluster a block teaches nothing alone; with strangers around it, it does."""
    rng = np.random.default_rng(0)
    y, groups = np.repeat(np.arange(24), 6), np.repeat(np.arange(6), 24)
    X = rng.normal(size=(24, 3))[y] * 3 + rng.normal(size=(144, 3)) * 0.5
    known = np.where(y % 4 == 0, y, -1)
    with pytest.raises(ValueError, match="y must hold two clusters in one block"):
        SupervisedHAC().fit(X, known, groups)
    model = SupervisedHAC(unlabelled="other").fit(X, known, groups)
    everything = pairwise_scores(y, model.predict(X, groups))
    assert everything.f1 > 0.8  # of clusters that were never labelled, too
    assert model.score(X, known, groups) > 0.8
    model.threshold_ = np.inf  # all rows of a block in one cluster: strangers count as mistakes
    assert model.score(X, known, groups) < 0.5
    with pytest.raises(ValueError, match="unlabelled must be ignored or other"):
        SupervisedHAC(unlabelled="unknown").fit(X, known, groups)
