"""``supclust fit`` and ``cluster`` through files give the scores of ``train.py`` on the split."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pair_files
from experiment_runs import composed
from supclust.cli import main as cli
from supclust.data.block import Dataset
from supclust.data.sets.registry import load_dataset
from supclust.data.splits import split_dataset
from supclust.metrics.pairwise import PairCounts, pair_counts, scores_from_counts
from supclust.model.trained import TrainedModel


def trained(overrides: list[str]) -> dict[str, Any]:
    """The result of a job under exponential linkage."""
    from supclust.experiment.config import Settings, plain
    from supclust.experiment.job import Job

    outcome = Job(Settings.from_config(plain(composed(*overrides)))).run()
    linkages: dict[str, Any] = outcome.results[0]["linkages"]["exp"]
    return linkages


def write_lists(dataset: Dataset, folder: Path) -> dict[str, Path]:
    """The blocks of every part of split 0, one file each."""
    parts = split_dataset(dataset, 0)
    files = {name: folder / f"{name}.txt" for name in parts._fields}
    for name, path in files.items():
        path.write_text("".join(f"{block.name}\n" for block in getattr(parts, name)))
    return files


def scores(dataset: Dataset, clusters: Path, names: list[str]) -> tuple[float, float, float]:
    with clusters.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    found = {(row["block"], row["id"]): row["cluster"] for row in rows}
    counts = [
        pair_counts(b.labels, [found[b.name, i] for i in b.ids])
        for b in dataset.blocks
        if b.name in names
    ]
    return scores_from_counts(PairCounts(*(sum(column) for column in zip(*counts, strict=True))))


def check(
    expected: dict[str, Any], dataset: Dataset, model: Path, clusters: Path, names: list[str]
) -> None:
    made = TrainedModel.load(model)
    assert made.alpha == expected["alpha"] and made.threshold == expected["threshold"]
    assert made.record["dev"] == expected["dev"]
    precision, recall, f1 = scores(dataset, clusters, names)
    test = expected["test"]
    assert (precision, recall, f1) == (test["precision"], test["recall"], test["pairwise_f1"])
    assert not math.isnan(f1)


def test_own_pair_features(tmp_path: Path, rng: np.random.Generator) -> None:
    data = tmp_path / "pairs"
    pair_files.write_pair_folders(data, rng)
    overrides = ["dataset=pairs", f"dataset.path={data}", "trainer.max_epochs=3", "logger=none"]
    places = [f"paths.outputs={tmp_path / 'outputs'}", f"paths.cache={tmp_path / 'cache'}"]
    expected = trained([*overrides, *places])
    dataset = load_dataset("pairs", path=data, cache_dir=tmp_path / "cache")
    files = write_lists(dataset, tmp_path)
    fit = ["fit", data, "--epochs", 3, "-o", tmp_path / "m"]
    fit += ["--train-blocks", files["train"], "--dev-blocks", files["dev"]]
    assert cli.main([str(argument) for argument in fit]) == 0
    cluster = ["cluster", data, "--model", tmp_path / "m", "-o", tmp_path / "c.csv"]
    assert cli.main([str(argument) for argument in cluster]) == 0
    names = files["test"].read_text().split()
    check(expected, dataset, tmp_path / "m", tmp_path / "c.csv", names)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("epochs", [3, 200])
def test_aminer(tmp_path: Path, data_dir: Path, epochs: int) -> None:
    if not (data_dir / "aminer").is_dir():
        pytest.skip(f"needs the real AMINER data in {data_dir / 'aminer'}")
    common = [f"paths.data={data_dir}", f"paths.outputs={tmp_path / 'outputs'}", "logger=none"]
    aminer = ["dataset=aminer", "dataset.source=real", f"trainer.max_epochs={epochs}"]
    expected = trained([*aminer, *common, f"paths.cache={tmp_path / 'cache'}"])
    dataset = load_dataset("aminer", data_dir=data_dir, cache_dir=tmp_path / "cache")
    files = write_lists(dataset, tmp_path)
    fit = ["fit", data_dir / "aminer", "--lr", 0.05, "--alpha-lr", 0.005, "--epochs", epochs]
    fit += ["--train-blocks", files["train"], "--dev-blocks", files["dev"], "-o", tmp_path / "m"]
    assert cli.main([str(argument) for argument in fit]) == 0
    cluster = ["cluster", data_dir / "aminer", "--model", tmp_path / "m", "-o", tmp_path / "c.csv"]
    assert cli.main([str(a) for a in [*cluster, "--only-blocks", files["test"]]]) == 0
    names = files["test"].read_text().splitlines()
    check(expected, dataset, tmp_path / "m", tmp_path / "c.csv", names)
