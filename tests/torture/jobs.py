"""The commands that work for long, each with its input, its output and what must be true of it.

To add a command, add a `Job` to `jobs`.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiment_runs import arguments, numbers_of, train_here
from supclust.cli.main import main
from supclust.model.folder import may_hold_model, read_model
from supclust.resolve.blocking import candidates
from supclust.store.entity_store import EntityStore
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
        prepare: makes what the command needs below a new folder.
    """

    name: str
    run: Callable[[Path], int]
    content: Callable[[Path], Any]
    check: Callable[[Path], object] = lambda folder: None
    prepare: Callable[[Path], object] = lambda folder: None


def leftovers(folder: Path) -> list[str]:
    """Names below a folder that only killed processes leave."""
    found = [path for path in folder.rglob("*") if _LEFTOVER.fullmatch(path.name)]
    return sorted(str(path.relative_to(folder)) for path in found)


def jobs(inputs: Inputs) -> Mapping[str, Job]:
    """The jobs by name."""
    records, pairs, vectors = inputs.long_table, inputs.edges, inputs.tables["vectors"]
    model, table = inputs.models["records"], inputs.tables["records"]

    def cluster(folder: Path) -> int:
        words = ("cluster", records, "--model", model, "--memory", "1", "-o", folder / "c.csv")
        return main([str(word) for word in words])

    def edges(folder: Path) -> int:
        words = ("edges", pairs, "--threshold", "0.5", "-o", folder / "e.parquet")
        return main([str(word) for word in words])

    def fit(folder: Path) -> int:
        words = ("fit", vectors, "--label", "who", "--epochs", "60", "-o", folder / "model")
        return main([str(word) for word in words])

    def table_fit(folder: Path) -> int:
        words = ("fit", table, "--label", "who", "--ignore", "block", "-o", folder / "model")
        return main([str(word) for word in words])

    def table_cluster(folder: Path) -> int:
        candidates.CHUNK = 100  # pairs, of 1,770
        words = ("cluster", table, "--model", inputs.bare, "-o", folder / "c.csv")
        return main([str(word) for word in words])

    def learned_cut(folder: Path) -> int:
        words = ("cluster", vectors, "--model", inputs.learned, "-o", folder / "c.csv")
        return main([str(word) for word in words])

    def update(folder: Path) -> int:
        store = str(folder / "store")
        return main(["update", store, str(inputs.new_records)]) or main(
            ["correct", store, "--together", "r0", "r59"]
        )

    def copy_store(folder: Path) -> None:
        assert inputs.new_records
        shutil.copytree(inputs.store, folder / "store")

    def clusters_of_store(folder: Path) -> Any:
        """Clusters, and segments that the store does not name."""
        found = EntityStore.open(folder / "store").clusters().to_pylist()
        named = json.loads((folder / "store" / "store.json").read_text())["segments"]
        return found, {path.name for path in (folder / "store" / "segments").iterdir()} - {*named}

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

    def clusters(folder: Path) -> bytes:
        return (folder / "c.csv").read_bytes()

    made = (
        Job("cluster", cluster, clusters),
        Job("edges", edges, lambda folder: (folder / "e.parquet").read_bytes()),
        Job("fit", fit, weights, whole_model),
        Job("sweep", sweep, numbers_of, prepare=arguments),
        Job("fit of a bare table", table_fit, weights, whole_model),
        Job("cluster of a bare table", table_cluster, clusters, prepare=lambda _: inputs.bare),
        Job("learned cut", learned_cut, clusters, prepare=lambda _: inputs.learned),
        Job("update", update, clusters_of_store, clusters_of_store, copy_store),
    )
    return {job.name: job for job in made}
