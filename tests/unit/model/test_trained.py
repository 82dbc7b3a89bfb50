"""Trained models: what they compute, against NumPy and SciPy, and the folder they are kept in."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist, squareform
from torch import nn

from supclust.dissimilarity import Dissimilarity, Encoder, LinearPair, Mahalanobis
from supclust.dissimilarity.encoder import perceptron
from supclust.experiment.store import TrainingStore
from supclust.metrics import pairwise_scores
from supclust.model import TrainedModel, load

NAMES = ("a", "b", "inf")


def model_of(dissimilarity: Dissimilarity, kind: str = "vectors", **more: object) -> TrainedModel:
    facts = {"linkage": "exp", "alpha": -0.5, "threshold": 1.0, "record": {"epochs": 3}, **more}
    return TrainedModel.from_module(dissimilarity, kind, "exp_alpha", NAMES, **facts)


MODULES = {
    "mahalanobis": (lambda: Mahalanobis(3, seed=4), "vectors"),
    "linear-vectors": (lambda: LinearPair(3, kind="vectors", seed=4), "vectors"),
    "linear-pairs": (lambda: LinearPair(3, seed=4), "pairs"),
    "encoder": (lambda: Encoder(lambda: perceptron([3, 5, 2]), seed=4), "vectors"),
}


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_saved_model_comes_back_the_same(
    tmp_path: Path, rng: np.random.Generator, name: str, dtype: torch.dtype
) -> None:
    make, kind = MODULES[name]
    saved = model_of(make().to(dtype), kind, alpha=-math.inf, linkage="single")
    features = rng.normal(size=(6 if kind == "vectors" else 15, 3))
    found = load(saved.save(tmp_path / "deep" / "model"))
    assert np.array_equal(found.distances(features), saved.distances(features))
    assert found.distances(features).dtype == np.dtype(str(dtype).split(".")[1])
    assert {**vars(found), "dissimilarity": None, "weights": None, "folder": None} == {
        **vars(saved), "dissimilarity": None, "weights": None
    }  # fmt: skip
    assert found.weights.keys() == saved.weights.keys()
    assert all(np.array_equal(found.weights[name], saved.weights[name]) for name in saved.weights)
    assert found.digest == saved.digest != replace(found, threshold=2.0).digest
    assert not found.dissimilarity.training
    assert sorted(path.name for path in (tmp_path / "deep" / "model").iterdir()) == [
        "model.json",
        "model.safetensors",
    ]


def test_saving_again_replaces_the_model_and_keeps_other_files(tmp_path: Path) -> None:
    model_of(Mahalanobis(3)).save(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    model_of(Mahalanobis(3, seed=1), threshold=7.0).save(tmp_path)
    found = load(tmp_path)
    assert found.threshold == 7.0
    assert torch.equal(found.dissimilarity.weight, Mahalanobis(3, seed=1).weight)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_network_of_the_users_own_is_given_back_at_loading(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    def network() -> nn.Module:
        return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.BatchNorm1d(4, affine=False))

    class Flat(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = network()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x.flatten(0, -2)).unflatten(0, x.shape[:-1])

    own = Encoder(Flat())
    own.form.inner[2].running_mean += 0.7  # state that training would have left
    saved = model_of(own)
    saved.save(tmp_path)
    with pytest.raises(ValueError, match=r"Encoder, which cannot be built.*dissimilarity="):
        load(tmp_path)
    found = load(tmp_path, dissimilarity=Encoder(Flat()))
    points = rng.normal(size=(5, 3))
    assert np.array_equal(found.distances(points), saved.distances(points))
    with pytest.raises(ValueError, match="weights do not fit Mahalanobis"):
        load(tmp_path, dissimilarity=Mahalanobis(3))


def test_distances_are_those_of_numpy(rng: np.random.Generator) -> None:
    points = rng.normal(size=(7, 3))
    maha = Mahalanobis(3, seed=2).double()
    expected = squareform(pdist(points @ maha.weight[0].detach().numpy().T))
    np.testing.assert_allclose(model_of(maha).distances(points), expected, rtol=1e-12)

    linear = LinearPair(3, seed=2).double()
    pairs = rng.normal(size=(21, 3))
    weight, bias = linear.weight[0].detach().numpy(), float(linear.bias[0].detach())
    found = model_of(linear, "pairs").distances(pairs)
    np.testing.assert_allclose(squareform(found), pairs @ weight + bias, rtol=1e-12)
    full = np.stack([squareform(column) for column in pairs.T], axis=2)  # (n, n, d)
    assert np.array_equal(model_of(linear, "pairs").distances(full), found)


def test_labels_are_those_of_scipy(rng: np.random.Generator) -> None:
    points = rng.normal(size=(30, 3))
    maha = Mahalanobis(3).double()
    model = model_of(maha, linkage="average", alpha=0.0, threshold=0.9)
    Z = scipy_linkage(points @ maha.weight[0].detach().numpy().T, "average")
    np.testing.assert_allclose(model.tree(points)[:, 2], Z[:, 2])
    for found, expected in (
        (model.labels(points), fcluster(Z, 0.9, "distance")),
        (model.labels(points, threshold=0.4), fcluster(Z, 0.4, "distance")),
        (model.labels(points, n_clusters=4), fcluster(Z, 4, "maxclust")),
    ):
        assert pairwise_scores(expected, found).f1 == 1.0
    assert model.labels(points, n_clusters=4).max() == 3


def test_tiny_blocks() -> None:
    points, pairs = model_of(Mahalanobis(3)), model_of(LinearPair(3), "pairs")
    assert points.labels(np.zeros((0, 3))).tolist() == []
    assert points.labels(np.zeros((1, 3))).tolist() == [0]
    assert points.tree(np.zeros((1, 3))).shape == (0, 4)
    assert pairs.labels(np.zeros((0, 3))).tolist() == [0]
    assert pairs.labels(np.zeros((1, 1, 3))).tolist() == [0]


def test_features_are_checked_and_not_changed(rng: np.random.Generator) -> None:
    points, pairs = model_of(Mahalanobis(3)), model_of(LinearPair(3), "pairs")
    given = rng.normal(size=(4, 3)).astype(np.float32)
    before = given.copy()
    points.labels(given)
    assert np.array_equal(given, before)
    assert np.array_equal(points.distances([[0, 0, 0], [1, 2, 3]]).shape, (2, 2))
    with pytest.raises(ValueError, match=r"shape \(n, 3\) .* received \(4, 2\).* a, b, inf"):
        points.distances(given[:, :2])
    with pytest.raises(ValueError, match=r"\(n, n, 3\) or \(n \(n - 1\) / 2, 3\)"):
        pairs.distances(np.zeros((2, 3, 3)))
    with pytest.raises(ValueError, match="received 4, between 3"):
        pairs.distances(given)
    with pytest.raises(ValueError, match="must be finite"):
        points.distances(np.full((2, 3), np.nan))
    with pytest.raises(ValueError, match="must be numbers"):
        points.distances([["a", "b", "c"]])
    with pytest.raises(ValueError, match="overflow"):
        points.distances(np.array([[1e38, 1e38, 1e38], [-3e38, -3e38, -3e38]], np.float32))


@pytest.mark.parametrize("file", ["model.safetensors", "model.json"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_folder_is_refused(tmp_path: Path, file: str, damage: str) -> None:
    path = model_of(Mahalanobis(3)).save(tmp_path) / file
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:-5] if damage == "cut" else content[:-2] + b"??")
    missing = file == "model.json" and damage == "gone"
    with pytest.raises(ValueError, match=r"holds neither model\.json" if missing else "damaged"):
        load(tmp_path)


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not exist"):
        load(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a file"):
        load(tmp_path / "file")
    with pytest.raises(ValueError, match="is a file"):
        model_of(Mahalanobis(3)).save(tmp_path / "file")
    with pytest.raises(ValueError, match=r"holds neither model\.json nor a readable result\.json"):
        load(tmp_path)


def test_a_newer_or_incomplete_description_is_refused(tmp_path: Path) -> None:
    model_of(Mahalanobis(3)).save(tmp_path)
    described = json.loads((tmp_path / "model.json").read_text())
    for change, message in (
        ({"format": 99}, r"newer supclust \(format 99\).*Upgrade"),
        ({"dissimilarity": None}, "dissimilarity is missing"),
    ):
        changed = {k: v for k, v in {**described, **change}.items() if v is not None}
        (tmp_path / "model.json").write_text(json.dumps(changed))
        with pytest.raises(ValueError, match=message):
            load(tmp_path)


TABLE = {"layout": "table", "columns": {"a": "text"}, "candidates": [], "missing": 4.0}
COMPARED = {"kind": "text", "missing": False, "neutral": [0, 0, 0], "spread": 1}
FACTS = {
    **{"records": 9, "labelled": 9, "entities": 3, "pairs": 36, "never_compared": 0.0},
    **{"reason": "every record has a label", "pair_model": "logistic"},
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objective": 3}, "objective must be a string; received 3"),
        ({"feature_names": "abc"}, "feature_names must be a list; received 'abc'"),
        ({"feature_names": ["a", [], "c"]}, r"feature_names\[1\] must be a name; received \[\]"),
        ({"feature_names": ["a"]}, "dissimilarity.d must be the number of features, 1; received 3"),
        ({"dissimilarity": {"kind": "vectors", "d": 3}}, "dissimilarity.name is missing"),
        ({"dissimilarity": {"name": "mahalanobis", "kind": "points", "d": 3}}, "vectors or pairs"),
        ({"dissimilarity": {"name": "linear", "kind": "pairs", "d": 3}}, "'average_weight' must"),
        ({"dissimilarity": {"name": "encoder", "kind": "vectors", "d": 3}}, "'stacked.0' must"),
        (
            {"cut": {"linkage": "exp", "alpha": None, "threshold": 1.0}},
            "cut.alpha must be a number; received None",
        ),
        ({"cut": {"linkage": "ward", "alpha": 0.0, "threshold": 1.0}}, "received .*ward"),
        ({"cut": [1]}, "cut must be an object with fields"),
        ({"epochs": "many"}, "epochs must be an integer >= 0; received 'many'"),
        ({"records": {"comparisons": [{}]}}, r"records.comparisons\[0\].column is missing"),
        ({"sizes": {"dev": {"blocks": []}}}, "sizes.dev.blocks must be an integer"),
        ({"alpha": 10**400}, "alpha must be a number"),
        ({"spread": 10**400}, "spread must be a number > 0"),
        ({"records": {"layout": "table"}}, "records.columns is missing"),
        ({"records": {**TABLE, "candidates": [{"rule": 3}]}}, r"candidates\[0\].rule must be a"),
        ({"records": {**TABLE, "missing": "4"}}, "records.missing must be a number"),
        ({"records": TABLE, "entities": {**FACTS, "pairs": []}}, "entities.pairs must be an int"),
        (
            {"records": {**TABLE, "candidates": [{"rule": "a"}]}, "entities": FACTS},
            r"records.candidates\[0\].pairs is missing",
        ),
        (
            {"records": {**TABLE, "comparisons": [{**COMPARED, "column": "b"}]}},
            r"records.columns must have all that are compared, \['b'\]",
        ),
        ({"entities": FACTS}, "records.columns is missing"),
        ({"guard": {"shipped": "x"}}, "guard.folds is missing"),
        (
            {"dissimilarity_choice": {"chosen": "x", "folds": 2, "scores": "x"}},
            "choice.scores must",
        ),
        ({"cut_choice": {"ceiling": "x"}}, "cut_choice.ceiling must be a number from 0 to 1"),
        ({"importances": {"a": []}}, "importances.a must be a finite number"),
        (
            {"threshold_curve": {"thresholds": [1], "precision": [], "recall": [], "f1": []}},
            r"lists of threshold_curve must have one length; received \[0, 1\]",
        ),
    ],
)
def test_every_field_is_checked(tmp_path: Path, change: dict[str, object], message: str) -> None:
    model_of(Mahalanobis(3)).save(tmp_path)
    described = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps({**described, **change}))
    with pytest.raises(ValueError, match=rf"model\.json is damaged: .*{message}"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros((3, 2), np.float32), r"floats of shape \(3, 3\); received float32 \(3, 2\)"),
        (np.zeros((3, 3), np.int64), r"floats of shape \(3, 3\); received int64"),
        (np.full((3, 3), np.nan), "must be finite"),
    ],
)
def test_weights_are_checked(tmp_path: Path, weight: np.ndarray, message: str) -> None:
    replace(model_of(Mahalanobis(3)), weights={"weight": weight}).save(tmp_path)
    with pytest.raises(ValueError, match=message):
        load(tmp_path)


def test_comparisons_must_make_the_features_of_the_weights(tmp_path: Path) -> None:
    """Else the compiled pass of `supclust cluster` would read beyond the weights."""
    names = ["same text", "shared words", "similar spelling"]
    text = {"column": "a", "kind": "text", "missing": False, "neutral": [0, 0, 0], "spread": 1,
            "features": names}  # fmt: skip
    one = model_of(LinearPair(3), "pairs", record={"records": {"comparisons": [text]}})
    assert load(one.save(tmp_path / "three")).d == 3
    two = replace(one, record={"records": {"comparisons": [text, {**text, "column": "b"}]}})
    with pytest.raises(ValueError, match="must make the 3 features of the weights; received 6"):
        load(two.save(tmp_path / "six"))


def test_a_column_may_be_called_inf(tmp_path: Path) -> None:
    stored = {"records": {"block": "inf", "label": "-inf", "id": r"\inf"}}
    assert load(model_of(Mahalanobis(3), record=stored).save(tmp_path)).record == stored


def test_a_record_is_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must not use the keys .*received cut"):
        model_of(Mahalanobis(3), record={"cut": 1}).save(tmp_path)
    with pytest.raises(ValueError, match="JSON's types"):
        model_of(Mahalanobis(3), record={"x": {1, 2}}).save(tmp_path)
    assert list(tmp_path.iterdir()) == []
    model_of(Mahalanobis(3), record={"columns": [{"name": "é"}], "nan": math.nan}).save(tmp_path)
    assert load(tmp_path).record == {"columns": [{"name": "é"}], "nan": None}
    with pytest.raises(ValueError, match=r"linkage must be that of the saved model, exp.*'single'"):
        load(tmp_path, linkage="single")


def test_a_model_is_a_training_that_the_store_takes(tmp_path: Path) -> None:
    model = model_of(LinearPair(3), "pairs", record={"alpha": -0.5, "epochs": 3, "seconds": 1.0})
    store = TrainingStore(tmp_path)
    with store.locked(["key"]):
        store.save({"key": replace(model, linkage="")})
    found = store.load("key")
    assert found is not None and found.record["alpha"] == -0.5 and found.folder is not None
    assert np.array_equal(found.weights["average_weight"], model.weights["average_weight"])
    with pytest.raises(ValueError, match="no finished result with a linkage uses"):
        load(found.folder)
    with pytest.raises(ValueError, match="no linkage and cut yet"):
        found.labels(np.zeros((1, 3)))


def test_a_model_is_read_without_torch(tmp_path: Path) -> None:
    model_of(Mahalanobis(3)).save(tmp_path)
    code = "import sys; from supclust.model import load; load(sys.argv[1]); print(*sys.modules)"
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not {"torch", "numba"} & set(done.stdout.split())
