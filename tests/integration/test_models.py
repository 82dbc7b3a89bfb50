"""One model, two ways in: what train.py wrote is an estimator, and an estimator is a training."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from experiment_runs import arguments, composed, result, run_here
from supclust import SupervisedHAC
from supclust.data.block import Block
from supclust.data.splits import split_dataset
from supclust.experiment.config import Settings, plain
from supclust.experiment.job import load_data
from supclust.experiment.training import parts_of, train
from supclust.model import load
from supclust.model.evaluate import evaluate


def stacked(blocks: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and groups of some blocks."""
    X = np.concatenate([block.features for block in blocks])
    y = np.concatenate([block.labels for block in blocks])
    return X, y, np.repeat([block.name for block in blocks], [block.n for block in blocks])


def settings_and_data(folder: Path, *more: str) -> tuple[Settings, Any]:
    settings = Settings.from_config(plain(composed(*arguments(folder, *more))))
    return settings, load_data(settings)


@pytest.mark.parametrize("recipe", [{"threshold": 3, "margin": 1}, {}], ids=["given", "auto"])
@pytest.mark.parametrize("objective", ["exp_alpha", "mst"])
def test_both_ways_give_the_same_model_and_scores(
    tmp_path: Path, objective: str, recipe: dict[str, float]
) -> None:
    overrides = (
        "recipe=best",
        f"objective={objective}",
        "trainer.precision=64",
        *(f"recipe.{name}={value}" for name, value in recipe.items()),
    )
    run_here(tmp_path, *overrides)
    found = result(tmp_path, objective, 0)
    settings, dataset = settings_and_data(tmp_path, *overrides)
    parts = split_dataset(dataset, 0)
    known = [b for b in dataset.blocks if b in {*parts.train, *parts.dev}]

    # The estimator on the same blocks learns the same.
    model = SupervisedHAC(
        objective, max_epochs=3, lr=0.01, recipe=recipe, precision=64, cut=settings.cut
    )
    X, y, groups = stacked(known)
    model.fit(X, y, groups, dev_groups=[block.name for block in parts.dev])
    written = load(tmp_path / "outputs" / found["model"])
    assert torch.equal(model.dissimilarity_.weight, written.dissimilarity.weight)
    expected = found["linkages"]["exp"]
    assert model.alpha_ == expected["alpha"] and model.n_iter_ == found["epochs"]
    assert model.threshold_ == pytest.approx(expected["threshold"], rel=1e-12)
    assert model.model_.record["dev"] == expected["dev"]
    X, y, groups = stacked(parts.test)
    assert model.score(X, y, groups) == expected["test"]["pairwise_f1"]

    # What train.py wrote, as an estimator: the folder of the split, or of the training.
    split = tmp_path / "outputs" / settings.family / "split-0"
    for folder, linkage in ((split, "average"), (tmp_path / "outputs" / found["model"], "single")):
        loaded = SupervisedHAC.load(folder, linkage=linkage)
        assert loaded.score(X, y, groups) == found["linkages"][linkage]["test"]["pairwise_f1"]
        assert loaded.model_.record["test"] == found["linkages"][linkage]["test"]
        assert loaded.model_.feature_names == ("a", "b", "c", "d")
    assert SupervisedHAC.load(split).alpha_ == expected["alpha"]

    # The other way round: saved by the estimator, evaluated as by train.py.
    saved = load(model.save(tmp_path / "model"))
    part = parts_of(settings, dataset, [0])[0]
    scores = evaluate(saved, part, settings.methods, saved.alpha, cut=settings.cut)
    assert scores["exp"]["test"] == expected["test"]
    assert scores["complete"]["test"] == found["linkages"]["complete"]["test"]


def test_what_a_result_does_not_have_is_refused(tmp_path: Path) -> None:
    run_here(tmp_path, "objective=mst", "linkage=average")
    settings, _ = settings_and_data(tmp_path, "objective=mst", "linkage=average")
    split = tmp_path / "outputs" / settings.family / "split-0"
    assert load(split).linkage == "average"
    with pytest.raises(ValueError, match=r"one that the result has, average; received 'exp'"):
        load(split, linkage="exp")
    training = tmp_path / "outputs" / result(tmp_path, "mst", 0, "average")["model"]
    assert load(training).threshold == load(split).threshold
    copied = shutil.copytree(training, tmp_path / "elsewhere" / "batch" / "key")
    with pytest.raises(ValueError, match="no finished result with a linkage uses"):
        load(copied)  # and the rest of the disk is not searched
    result_file = split / "result.json"
    text = result_file.read_text(encoding="utf-8")
    result_file.write_text(text.replace('"done"', '"failed"'), encoding="utf-8")
    with pytest.raises(ValueError, match="the run failed"):
        load(split)
    result_file.write_text(
        text.replace('"model": "trainings/', '"model": "gone/'), encoding="utf-8"
    )
    with pytest.raises(ValueError, match="names the training gone/"):
        load(split)


@pytest.mark.data
def test_real_aminer_gives_what_train_py_gives(tmp_path: Path, data_dir: Path) -> None:
    overrides = ("dataset=aminer", "dataset.source=real", "logger=none", "trainer.max_epochs=1",
                 f"paths.data={data_dir}", f"paths.outputs={tmp_path / 'outputs'}",
                 f"paths.cache={tmp_path / 'cache'}", "linkage=exp")  # fmt: skip
    from supclust.experiment.run import run

    run(composed(*overrides))
    settings = Settings.from_config(plain(composed(*overrides)))
    dataset = load_data(settings)
    parts = split_dataset(dataset, 0)
    known: list[Block] = [b for b in dataset.blocks if b in {*parts.train, *parts.dev}]
    model = SupervisedHAC(
        pairs="precomputed", max_epochs=1, lr=0.05, weight_decay=0.001, alpha_lr=0.005,
        recipe="paper", cut="dev",
    )  # fmt: skip
    model.fit(
        [block.features for block in known],
        np.concatenate([block.labels for block in known]),
        [block.name for block in known],
        dev_groups=[block.name for block in parts.dev],
    )
    written = SupervisedHAC.load(tmp_path / "outputs" / settings.family / "split-0")
    assert (model.alpha_, model.threshold_) == (written.alpha_, written.threshold_)
    test_labels = np.concatenate([block.labels for block in parts.test])
    score = model.score([block.features for block in parts.test], test_labels)
    assert score == written.model_.record["test"]["pairwise_f1"]


@pytest.mark.parametrize("unit", ["block", "cluster"])
@pytest.mark.parametrize("objective", ["exp_alpha", "all_pairs"])
def test_training_knows_nothing_about_test_blocks(
    tmp_path: Path, objective: str, unit: str
) -> None:
    words = ["dataset.block=null"] if unit == "cluster" else []
    settings, dataset = settings_and_data(tmp_path, f"objective={objective}", *words)
    assert settings.recipe["threshold"] == "auto" and dataset.unit == unit
    others = {i for block in split_dataset(dataset, 1).test for i in block.ids}

    def moved(block: Block) -> Block:
        far = np.isin(block.ids, list(others))[:, None] * 1e3
        return replace(block, features=block.features + far * np.arange(block.n)[:, None])

    changed = replace(dataset, blocks=tuple(map(moved, dataset.blocks)))
    assert changed.digest() != dataset.digest()
    for wanted in ([1], [0, 1]):  # alone, and with another split, to which those points are known
        first, second = (train(settings, data, wanted)[-1] for data in (dataset, changed))
        assert np.array_equal(first.weights["weight"], second.weights["weight"])
        assert first.record["train_loss"] == second.record["train_loss"]
