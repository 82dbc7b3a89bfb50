"""What an epoch of `exp_alpha` on Faces-sized splits costs, and the share that Lightning takes."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bench_experiment import timed
from benchmarks.timing import table
from supclust.data import BlockDataModule, Dataset, load_dataset
from supclust.dissimilarity import Mahalanobis
from supclust.objectives import ExpAlpha, Objective, Recipe, quiet_trainer
from supclust.objectives.training.optimizer import SplitAdamRows

RECIPE = Recipe(threshold=100.0, margin=10.0, weight_decay=0.01, tolerance=0.0)
WORK = [(Objective, "loss_parts"), (Objective, "manual_backward"), (SplitAdamRows, "step")]


def seconds_of_fit(dataset: Dataset, splits: int, epochs: int) -> tuple[float, float]:
    """Seconds of a fit: in all, and in losses, gradients and optimiser (training and dev)."""
    numbers = list(range(splits))
    objective = ExpAlpha(Mahalanobis(20, splits=numbers), RECIPE)
    data = BlockDataModule.from_dataset(dataset, numbers)
    with timed(WORK) as inside:
        start = time.perf_counter()
        quiet_trainer(epochs).fit(objective, datamodule=data)
        return time.perf_counter() - start, sum(inside)


def report(quick: bool) -> str:
    """Time one split alone and fifty together, and return Markdown."""
    with TemporaryDirectory() as folder:
        here = Path(folder)
        dataset = load_dataset("faces", data_dir=here, cache_dir=here, source="stand-in")
    rows = []
    for splits in (1, 5 if quick else 50):
        epochs = 100 if splits == 1 else 20
        seconds_of_fit(dataset, splits, 2)
        full, inside = (1e3 * x / epochs for x in seconds_of_fit(dataset, splits, epochs))
        cells = [full, inside, full - inside, full / splits]
        share = 1 - inside / full
        rows.append([str(splits), *(f"{value:.2f}" for value in cells), f"{share:.0%}"])
    header = [
        "splits in one batch",
        "epoch, ms",
        "losses, gradients, optimiser, ms",
        "outside, ms",
        "epoch / split, ms",
        "outside",
    ]
    note = (
        "Stand-in faces, 7 training and 6 dev clusters a split, float32, all cores. Mean over the "
        "epochs of one fit (100 for one split, 20 else), its set-up included, after a short fit "
        "that warms up. Outside are Lightning, batches and the stopping rule."
    )
    return note + "\n\n" + table(header, rows)
