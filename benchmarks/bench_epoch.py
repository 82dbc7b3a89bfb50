"""What an epoch of `exp_alpha` on Faces-sized splits costs, and how much of it is not the kernels.

The bare loop computes the same dissimilarities, losses and gradients (training and dev blocks) with
no trainer, optimiser or stopping rule around them.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from benchmarks.timing import table
from supclust.data import BlockDataModule, Dataset, load_dataset
from supclust.dissimilarity import Mahalanobis
from supclust.objectives import ExpAlpha, Recipe, quiet_trainer

RECIPE = Recipe(threshold=100.0, margin=10.0, weight_decay=0.01, tolerance=0.0)


def objective_and_data(dataset: Dataset, splits: int) -> tuple[ExpAlpha, BlockDataModule]:
    numbers = list(range(splits))
    return ExpAlpha(Mahalanobis(20, splits=numbers), RECIPE), BlockDataModule.from_dataset(
        dataset, numbers
    )


def bare_epoch(objective: ExpAlpha, data: BlockDataModule) -> float:
    """Seconds of one epoch's losses and gradients alone."""
    start = time.perf_counter()
    for step in data.steps(0):
        objective.zero_grad()
        for batch in step:
            objective.losses(batch).sum().backward()
    with torch.no_grad():
        for batch in data.whole("dev"):
            objective.losses(batch)
    return time.perf_counter() - start


def lightning_epoch(dataset: Dataset, splits: int, epochs: int) -> float:
    """Seconds per epoch of a fit, from the difference of two lengths, so that set-up cancels."""
    seconds = []
    for count in (5, 5 + epochs):
        objective, data = objective_and_data(dataset, splits)
        start = time.perf_counter()
        quiet_trainer(count).fit(objective, datamodule=data)
        seconds.append(time.perf_counter() - start)
    return (seconds[1] - seconds[0]) / epochs


def report(quick: bool) -> str:
    """Time one split alone and fifty together, and return Markdown."""
    with TemporaryDirectory() as folder:
        here = Path(folder)
        dataset = load_dataset("faces", data_dir=here, cache_dir=here, source="stand-in")
    rows = []
    for splits in (1, 5 if quick else 50):
        objective, data = objective_and_data(dataset, splits)
        bare = sorted(bare_epoch(objective, data) for _ in range(5))[2]
        full = lightning_epoch(dataset, splits, 20)
        share = 1 - min(bare / full, 1.0)
        cells = [1e3 * full, 1e3 * bare, 1e3 * (full - bare), 1e3 * full / splits]
        rows.append([str(splits), *(f"{value:.2f}" for value in cells), f"{share:.0%}"])
    header = [
        "splits in one batch",
        "epoch, ms",
        "bare loop, ms",
        "overhead, ms",
        "epoch / split, ms",
    ]
    note = (
        "Stand-in faces, 7 training and 6 dev clusters a split, float32, all cores. An epoch is "
        "the difference of two fits, measured once; the bare loop is the median of 5. An overhead "
        "below 0 is noise: it is too small to see."
    )
    return note + "\n\n" + table([*header, "outside the kernels"], rows)
