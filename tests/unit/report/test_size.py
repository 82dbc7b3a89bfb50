"""A page of a whole sweep stays small enough to be mailed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from report_pages import Page
from supclust.hac.family import METHODS
from supclust.model.aggregate import summarise
from supclust.objectives import OBJECTIVES
from supclust.report.data import DatasetResults, Report
from supclust.report.results_page import results_page

SPLITS, EPOCHS = 50, 100


def made_result(rng: np.random.Generator, objective: str, split: int) -> dict[str, Any]:
    scores = {"dendrogram_purity": rng.uniform(0.5, 1), "pairwise_f1": rng.uniform(0.4, 1)}
    entry = {"alpha": rng.normal(), "threshold": 1.0, "dev": scores, "test": scores}
    return {
        "status": "done", "dataset": "faces", "source": "real", "objective": objective,
        "split": split, "seed": 0, "linkages": dict.fromkeys(METHODS, entry), "seconds": 1.0,
        "model": f"trainings/{objective}{split}", "config_hash": "0" * 64,
        "config": {"data": "1" * 64, "split": split, "recipe": {"lr": 0.1}},
    }  # fmt: skip


def made_record(rng: np.random.Generator, split: int) -> dict[str, Any]:
    curves = ("train_loss", "dev_loss", "train_within", "train_across", "alpha_path", "dev_purity")
    paths = {name: rng.uniform(1, 500, EPOCHS).tolist() for name in curves}
    return {"split": split, "epochs": EPOCHS, "alpha": 0.5, **paths}


def test_fifty_splits_of_eight_objectives_fit_into_four_megabytes(rng: np.random.Generator) -> None:
    places = [(objective, split) for objective in OBJECTIVES for split in range(SPLITS)]
    results = [made_result(rng, *place) for place in places]
    records: list[dict[str, Any] | None] = [made_record(rng, split) for _, split in places]
    cells = summarise(results)
    group = DatasetResults("faces", "real", cells, results, records, "exp", "mst", no_trees="none")
    source = results_page(Report(Path("outputs"), [group]))
    assert len(source.encode()) < 4_000_000
    page = Page(source)
    dots = [use for use in page.all("use") if "data-split" in use]
    assert len(dots) == 2 * len(METHODS) * len(places) + len(places)
    lines = [path for path in page.all("path") if "data-split" in path]
    assert len(lines) == 6 * len(places)
