"""One job in this process: its numbers against slow oracles, and what a second run does."""

from __future__ import annotations

import json
import logging
import math
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist, squareform

from experiment_runs import ROOT, arguments, composed, numbers_of, result, run_here
from oracles.hac import greedy_tree
from oracles.metrics import best_threshold, dendrogram_purity, pooled_scores
from supclust.data.block import Block
from supclust.data.sets.registry import load_dataset
from supclust.data.splits import DatasetSplit, split_dataset
from supclust.experiment import training
from supclust.experiment.provenance import source_commit
from supclust.experiment.run import run
from supclust.model.results import OtherConfigError
from supclust.objectives import TrainingDiverged


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[int, ...]]]:
    """Objective and splits of every training that really happens."""
    calls: list[tuple[str, tuple[int, ...]]] = []
    original = training.train

    def counted(settings: Any, dataset: Any, splits: Any, **more: Any) -> Any:
        calls.append((settings.objective, tuple(splits)))
        return original(settings, dataset, splits, **more)

    monkeypatch.setattr(training, "train", counted)
    return calls


def parts_of(folder: Path, split: int) -> DatasetSplit:
    dataset = load_dataset(
        *("vectors",), cache_dir=folder / "cache", path=folder / "points.csv",
        label="who", block="where", id="id",
    )  # fmt: skip
    return split_dataset(dataset, split)


def distances(block: Block, weight: np.ndarray) -> np.ndarray:
    embedded = block.features.astype(np.float64) @ weight.astype(np.float64).T
    return squareform(pdist(embedded))


def trees(blocks: tuple[Block, ...], weight: np.ndarray, method: str, alpha: float) -> list[Any]:
    found = []
    for block in blocks:
        D = distances(block, weight)
        Z = greedy_tree(D, alpha) if method == "exp" else scipy_linkage(squareform(D), method)
        found.append((Z, block.labels.tolist()))
    return found


@pytest.mark.parametrize("objective", ["exp_alpha", "mst"])
def test_scores_are_those_of_slow_oracles_on_the_saved_model(
    tmp_path: Path, objective: str
) -> None:
    run_here(tmp_path, f"objective={objective}", "split=1", "trainer.precision=64")
    found = result(tmp_path, objective, 1)
    model = tmp_path / "outputs" / found["model"]
    record = json.loads((model / "model.json").read_text())
    weight = load_file(model / "model.safetensors")["weight"]
    parts = parts_of(tmp_path, 1)
    assert list(found["linkages"]) == ["single", "average", "complete", "exp"]
    if objective == "exp_alpha":
        assert found["linkages"]["exp"]["alpha"] == record["alpha"]
    for method, entry in found["linkages"].items():
        alpha = float(entry["alpha"])
        dev, test = (trees(blocks, weight, method, alpha) for blocks in (parts.dev, parts.test))
        best = best_threshold(dev)
        assert entry["dev"]["pairwise_f1"] == pytest.approx(best.f1)
        assert any(low <= entry["threshold"] < high for low, high in best.intervals)
        for part, forest in (("dev", dev), ("test", test)):
            scores = pooled_scores(forest, entry["threshold"])
            assert entry[part]["precision"] == pytest.approx(scores.precision)
            assert entry[part]["recall"] == pytest.approx(scores.recall)
            assert entry[part]["pairwise_f1"] == pytest.approx(scores.f1)
            purity = np.mean([dendrogram_purity(Z, labels) for Z, labels in forest])
            assert entry[part]["dendrogram_purity"] == pytest.approx(purity)


def test_a_result_says_everything(tmp_path: Path) -> None:
    score = run_here(tmp_path, "objective=exp_alpha")
    found = result(tmp_path, "exp_alpha", 0)
    assert found["status"] == "done"
    assert (found["dataset"], found["source"]) == ("vectors-points", "file")
    assert (found["objective"], found["split"], found["seed"]) == ("exp_alpha", 0, 0)
    assert found["epochs"] == 3 and found["seconds"] > 0
    assert len(found["config_hash"]) == 64
    assert found["config"]["recipe"]["lr"] == 0.01
    assert {"supclust", "torch", "numba"} <= set(found["versions"])
    assert found["commit"] == source_commit()
    assert not (ROOT / ".git").exists() or re.fullmatch(r"[0-9a-f]{40}\+?", found["commit"])
    assert found["linkages"]["single"]["alpha"] == "-inf"  # JSON knows no infinity
    assert score == found["linkages"]["exp"]["dev"]["dendrogram_purity"]
    assert not list((tmp_path / "outputs").rglob("*.pkl")) + list(tmp_path.rglob("*.ckpt"))


def test_a_second_run_trains_nothing_and_changes_nothing(
    tmp_path: Path, trainings: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run_here(tmp_path, "objective=exp_zero", "split=[0,1]")
    path = tmp_path / "outputs/vectors-points/exp_zero/all/seed-0/split-1/result.json"
    before = path.stat().st_mtime_ns, numbers_of(tmp_path)
    run_here(tmp_path, "objective=exp_zero", "split=[0,1]")
    assert trainings == [("exp_zero", (0, 1))]
    assert (path.stat().st_mtime_ns, numbers_of(tmp_path)) == before
    assert "2 of 2 results were there already" in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["delete", "truncate", "empty", "failed"])
def test_what_is_half_done_is_redone_to_the_same_numbers(
    tmp_path: Path, trainings: list[Any], damage: str
) -> None:
    run_here(tmp_path, "objective=exp_alpha", "split=[0,1]")
    before = numbers_of(tmp_path)
    path = tmp_path / "outputs/vectors-points/exp_alpha/all/seed-0/split-1/result.json"
    content = path.read_text()
    if damage == "delete":
        path.unlink()
    elif damage == "failed":
        path.write_text(content.replace('"done"', '"failed"'))
    else:
        path.write_text(content[:200] if damage == "truncate" else "")
    run_here(tmp_path, "objective=exp_alpha", "split=[0,1]")
    assert numbers_of(tmp_path) == before
    assert trainings == [("exp_alpha", (0, 1))]  # the model is still there


def test_a_damaged_model_is_trained_again(tmp_path: Path, trainings: list[Any]) -> None:
    run_here(tmp_path, "objective=exp_alpha")
    before = numbers_of(tmp_path)
    (weights,) = (tmp_path / "outputs" / "trainings").rglob("model.safetensors")
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    next((tmp_path / "outputs").rglob("result.json")).unlink()
    run_here(tmp_path, "objective=exp_alpha")
    assert len(trainings) == 2
    assert numbers_of(tmp_path) == before


def test_other_settings_in_the_same_folder_are_refused_with_the_difference(tmp_path: Path) -> None:
    run_here(tmp_path, "objective=exp_alpha")
    with pytest.raises(OtherConfigError, match=r"recipe\.lr: 0\.01 there, 0\.02 here.*axes="):
        run_here(tmp_path, "objective=exp_alpha", "recipe.lr=0.02")
    run_here(tmp_path, "objective=exp_alpha", "recipe.lr=0.02", "axes=[recipe.lr]")
    assert result(tmp_path, "exp_alpha", 0, seed="0,recipe.lr=0.02")["status"] == "done"


def test_other_data_under_the_same_name_are_refused(tmp_path: Path) -> None:
    run_here(tmp_path, "objective=exp_alpha")
    points = tmp_path / "points.csv"
    points.write_text(points.read_text().replace("0.1", "0.2"))
    with pytest.raises(OtherConfigError, match="data: "):
        run_here(tmp_path, "objective=exp_alpha")


def test_linkages_share_a_training_and_agree_with_all(tmp_path: Path, trainings: list[Any]) -> None:
    for linkage in ("single", "exp", "all", "rsc", "random"):
        run_here(tmp_path, "objective=best", f"linkage={linkage}")
    assert len(trainings) == 1
    everything = result(tmp_path, "best", 0)["linkages"]
    for linkage in ("single", "exp"):
        assert result(tmp_path, "best", 0, linkage)["linkages"] == {linkage: everything[linkage]}
    for linkage in ("rsc", "random"):
        entry = result(tmp_path, "best", 0, linkage)["linkages"][linkage]
        assert entry["alpha"] is None and entry["threshold"] is None
        assert entry["test"]["pairwise_f1"] is None
        assert 0 < entry["test"]["dendrogram_purity"] <= 1


def test_splits_with_a_result_are_left_out_and_the_rest_come_out_the_same(
    tmp_path: Path, trainings: list[Any]
) -> None:
    apart, together = tmp_path / "apart", tmp_path / "together"
    for folder in (apart, together):
        folder.mkdir()
    run_here(apart, "objective=exp_alpha", "split=2", "trainer.precision=64")
    run_here(apart, "objective=exp_alpha", "split=all", "trainer.precision=64")
    run_here(together, "objective=exp_alpha", "split=all", "trainer.precision=64")
    splits = [splits for _, splits in trainings]
    assert splits == [(2,), (0, 1, 3), (0, 1, 2, 3)]
    one, other = numbers_of(apart), numbers_of(together)
    assert one.keys() == other.keys() and len(one) == 4
    for path, linkages in one.items():
        for linkage, entry in linkages.items():
            assert entry["threshold"] == pytest.approx(other[path][linkage]["threshold"])
            for part in ("dev", "test"):
                assert entry[part] == pytest.approx(other[path][linkage][part])


def test_a_split_that_diverges_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    original = training.train

    def diverging(settings: Any, dataset: Any, splits: Any, **more: Any) -> Any:
        if 1 in splits:
            raise TrainingDiverged(3, ["block0"], [1], "the loss is not finite.")
        return original(settings, dataset, splits, **more)

    monkeypatch.setattr(training, "train", diverging)
    with pytest.raises(SystemExit) as stopped:
        run_here(tmp_path, "objective=exp_alpha", "split=[0,1,2]")
    assert stopped.value.code == 1
    assert "FAILED split 1: TrainingDiverged" in capsys.readouterr().err
    assert [result(tmp_path, "exp_alpha", s)["status"] for s in (0, 1, 2)] == [
        *("done", "failed", "done")
    ]
    monkeypatch.setattr(training, "train", original)
    run_here(tmp_path, "objective=exp_alpha", "split=[0,1,2]")
    assert result(tmp_path, "exp_alpha", 1)["status"] == "done"


def test_a_failure_is_written_down_and_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(training, "train", broken)
    with pytest.raises(RuntimeError, match="out of memory"):
        run_here(tmp_path, "objective=mst")
    found = result(tmp_path, "mst", 0)
    assert (found["status"], found["error"]) == ("failed", "RuntimeError: out of memory")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interruption_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(training, "train", interrupted)
    with pytest.raises(error):
        run_here(tmp_path, "objective=mst")
    assert not list((tmp_path / "outputs").rglob("result.json"))


def test_a_stand_in_is_announced_and_written_down(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [w for w in arguments(tmp_path) if not w.startswith(("dataset", "recipe"))]
    with caplog.at_level(logging.WARNING):
        run(composed(*words, "dataset=faces", "linkage=average", "trainer.max_epochs=1"))
    assert "STAND-IN" in caplog.text and "!!!!!!!!!!" in caplog.text
    assert "STAND-IN" in capsys.readouterr().out
    path = tmp_path / "outputs/faces/exp_alpha/average/seed-0/split-0/result.json"
    found = json.loads(path.read_text())
    assert found["source"] == "stand-in" and "STAND-IN" in found["notes"][0]


@pytest.mark.parametrize("form", ["linear", "encoder", "mahalanobis"])
def test_every_dissimilarity_trains_and_comes_back_from_disk(tmp_path: Path, form: str) -> None:
    run_here(
        tmp_path, "objective=all_pairs", f"dissimilarity={form}", "linkage=average", "split=[0,3]"
    )
    before = numbers_of(tmp_path)
    for path in (tmp_path / "outputs").rglob("result.json"):
        path.unlink()
    run_here(
        tmp_path, "objective=all_pairs", f"dissimilarity={form}", "linkage=average", "split=[0,3]"
    )
    assert numbers_of(tmp_path) == before
    assert all(math.isfinite(v["average"]["threshold"]) for v in before.values())


def test_results_of_version_0_1_are_recognised(
    tmp_path: Path, trainings: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    old = ROOT / "tests" / "fixtures" / "version_0_1" / "outputs"
    outputs = tmp_path / "outputs"
    shutil.copytree(old, outputs)
    path = outputs / "rexa" / "all_pairs" / "all" / "seed-0" / "split-0" / "result.json"
    before = path.read_bytes()
    epochs = json.loads(before)["config"]["max_epochs"]
    words = ["dataset=rexa", "dataset.source=stand-in", f"trainer.max_epochs={epochs}"]
    words += ["objective=all_pairs", "logger=none", f"paths.cache={tmp_path / 'cache'}"]
    run(composed(*words, f"paths.outputs={outputs}"))
    assert "1 of 1 results were there already" in capsys.readouterr().out
    assert trainings == [] and path.read_bytes() == before
