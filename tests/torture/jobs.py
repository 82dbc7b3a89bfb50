"""The commands that work for long, each with its input, its output and what must be true of it.

To add a command, add an entry to `JOBS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiment_runs import arguments, numbers_of, train_here
from supclust.cli.main import main
from supclust.model.folder import may_hold_model, read_model
from torture.inputs import Inputs

_LEFTOVER = re.compile(r"\.(.+)-[0-9a-f]{32}|.*\.partial|\.sweeps")


@dataclass(frozen=True)
class Job:
    """One command and its output.

    Attributes:
        name: of the command.
        run: returns the exit code; the output is below the given folder.
        content: of the finished output, to compare with that of an undisturbed run.
        check: raises if an unfinished output would be refused by a rerun.
    """

    name: str
    run: Callable[[Path], int]
    content: Callable[[Path], Any]
    check: Callable[[Path], object] = lambda folder: None


def leftovers(folder: Path) -> list[str]:
    """Names below a folder that only killed processes leave."""
    found = [path for path in folder.rglob("*") if _LEFTOVER.fullmatch(path.name)]
    return sorted(str(path.relative_to(folder)) for path in found)


def jobs(inputs: Inputs) -> Mapping[str, Job]:
    """The jobs by name."""
    records, pairs, vectors = inputs.long_table, inputs.edges, inputs.tables["vectors"]
    model = inputs.models["records"]

    def cluster(folder: Path) -> int:
        words = ("cluster", records, "--model", model, "--memory", "1", "-o", folder / "c.csv")
        return main([str(word) for word in words])

    def edges(folder: Path) -> int:
        words = ("edges", pairs, "--threshold", "0.5", "-o", folder / "e.parquet")
        return main([str(word) for word in words])

    def fit(folder: Path) -> int:
        words = ("fit", vectors, "--label", "who", "--epochs", "60", "-o", folder / "model")
        return main([str(word) for word in words])

    def weights(folder: Path) -> Any:
        model = read_model(folder / "model")
        return {name: array.tobytes() for name, array in model.weights.items()}, model.threshold

    def whole_model(folder: Path) -> None:
        assert may_hold_model(folder / "model"), "a rerun would refuse the folder"
        if (folder / "model").exists():
            read_model(folder / "model")

    def sweep(folder: Path) -> int:
        words = arguments(folder, "objective=mst,exp_alpha", "split=[0,1]")
        return train_here("-m", *words)

    made = (
        Job("cluster", cluster, lambda folder: (folder / "c.csv").read_bytes()),
        Job("edges", edges, lambda folder: (folder / "e.parquet").read_bytes()),
        Job("fit", fit, weights, whole_model),
        Job("sweep", sweep, numbers_of),
    )
    return {job.name: job for job in made}


JOBS = ("cluster", "edges", "fit", "sweep")
