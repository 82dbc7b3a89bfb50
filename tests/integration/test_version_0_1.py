"""Models and results that version 0.1 wrote: read, applied and listed as by that version."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from supclust import SupervisedHAC
from supclust.cli import main as cli
from supclust.experiment.store import TrainingStore
from supclust.model import load
from supclust.model.results import find_results

OLD = Path(__file__).parents[1] / "fixtures" / "version_0_1"
ESTIMATORS = ("mahalanobis", "encoder", "float64", "complete")
SPLIT = OLD / "outputs" / "rexa" / "exp_alpha" / "all" / "seed-0" / "split-0"


def test_records_are_clustered_as_before(tmp_path: Path) -> None:
    output = tmp_path / "clusters.csv"
    arguments = ["cluster", OLD / "records.csv", "--model", OLD / "fit_model", "-o", output]
    assert cli.main([str(argument) for argument in arguments]) == 0
    assert output.read_bytes() == (OLD / "clusters.csv").read_bytes()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_predicts_as_before(name: str) -> None:
    stored = json.loads((OLD / "estimators.json").read_text(encoding="utf-8"))
    model = SupervisedHAC.load(OLD / f"estimator_{name}")
    assert (model.alpha_, model.threshold_) == (stored[name]["alpha"], stored[name]["threshold"])
    assert model.predict(stored["X"]).tolist() == stored[name]["labels"]


@pytest.mark.parametrize("name", ["fit_model", *(f"estimator_{name}" for name in ESTIMATORS)])
def test_a_model_is_saved_in_the_same_format(tmp_path: Path, name: str) -> None:
    load(OLD / name).save(tmp_path)
    for file in ("model.json", "model.safetensors"):
        assert (tmp_path / file).read_bytes() == (OLD / name / file).read_bytes()


def test_a_result_and_its_training_are_one_model() -> None:
    (result,) = (r for r in find_results(OLD / "outputs") if r["objective"] == "exp_alpha")
    training = OLD / "outputs" / result["model"]
    stored = TrainingStore(OLD / "outputs").load(training.name)
    assert stored is not None and not stored.has_cut
    features = np.random.default_rng(0).normal(size=(10, stored.d))
    for folder in (SPLIT, training):
        for linkage, entry in result["linkages"].items():
            if entry["alpha"] is None:
                continue
            model = load(folder, linkage=linkage)
            assert (model.alpha, model.threshold) == (entry["alpha"], entry["threshold"])
            assert model.record["test"] == entry["test"]
            assert np.array_equal(model.distances(features), stored.distances(features))


def test_tables_and_reports_show_the_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = {
        r["objective"]: r["linkages"]["average"]["test"]["pairwise_f1"]
        for r in find_results(OLD / "outputs")
    }
    assert cli.main(["table", str(OLD / "outputs")]) == 0
    printed = capsys.readouterr().out
    assert cli.main(["report", str(OLD / "outputs"), "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for objective, f1 in scores.items():
        assert objective in printed and f"{100 * f1:.1f}" in printed
        assert objective in page and f"{100 * f1:.1f}" in page
