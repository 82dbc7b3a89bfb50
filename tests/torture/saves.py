"""What is saved survives a kill at every step: models, unfinished clusterings, sweeps, files."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from supclust.cluster.resume import PartialOutput
from supclust.data.files import atomic_file, write_text
from supclust.experiment.sweep import Sweep
from supclust.model.folder import may_hold_model, read_model
from supclust.model.trained import TrainedModel
from torture.steps import in_child, kill_at_every_step


def model_of(value: float) -> TrainedModel:
    return TrainedModel(
        {"name": "mahalanobis", "kind": "vectors", "d": 2},
        {"weight": np.full((2, 2), value, np.float32)},
        "exp_alpha",
        ("x", "y"),
        *("exp", 0.0, value),
    )


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def save_over_a_model(folder: Path) -> int:
    """The older model or the new one, never a mixture; what else is in the folder stays."""
    target = folder / "model"
    model_of(1.0).save(target)
    (target / "notes").mkdir()
    (target / "notes" / "mine.txt").write_text("precious")

    def check(complete: bool) -> None:
        model = read_model(target)
        assert model.threshold == model.weights["weight"][0, 0]
        assert model.threshold == 2.0 or not complete
        assert (target / "notes" / "mine.txt").read_text() == "precious"

    steps = kill_at_every_step(lambda: model_of(2.0).save(target), folder, check)
    assert names_in(folder) == ["model"], names_in(folder)
    assert names_in(target) == ["model.json", "model.safetensors", "notes"], names_in(target)
    return steps


def save_a_new_model(folder: Path) -> int:
    """Nothing or the whole model; a rerun accepts what is there."""
    target = folder / "model"

    def check(complete: bool) -> None:
        assert may_hold_model(target)
        if complete or target.exists():
            assert read_model(target).threshold == 3.0

    steps = kill_at_every_step(lambda: model_of(3.0).save(target), folder, check)
    assert names_in(folder) == ["model"], names_in(folder)
    return steps


def cluster_in_chunks(folder: Path) -> int:
    """Every rerun of an unfinished output is accepted; a finished one leaves nothing behind."""
    output = folder / "clusters.csv"

    def work() -> None:
        with PartialOutput(output, "a fingerprint").opened() as partial:
            for chunk in range(3):
                if chunk not in partial.finished():
                    partial.store(chunk, np.arange(4, dtype=np.int32))
            assert [list(partial.load(chunk)) for chunk in range(3)] == 3 * [[0, 1, 2, 3]]
            write_text(output, "done\n")

    steps = kill_at_every_step(work, folder, lambda _: None)
    assert in_child(work, folder) == 0
    assert names_in(folder) == ["clusters.csv"], names_in(folder)
    return steps


def start_sweeps(folder: Path) -> int:
    """A sweep removes the reports of killed ones, and not those of one that runs."""
    running = Sweep(folder, "running")
    running.start()

    def work() -> None:
        sweep = Sweep(folder, f"killed-{os.getpid()}")
        sweep.start()
        write_text(sweep.folder / "0.json", "{}")
        sweep.stop()

    steps = kill_at_every_step(work, folder, lambda _: None)
    assert names_in(folder / ".sweeps") == ["running"], names_in(folder / ".sweeps")
    running.stop()
    assert names_in(folder) == [], names_in(folder)
    return steps


def write_a_file(folder: Path) -> int:
    """The old content or the new one; drafts of killed processes are removed, others not."""
    path = folder / ("x" * 250)
    write_text(path, "old")
    stranger = folder / f".other-{'0' * 32}"
    stranger.touch()

    def check(complete: bool) -> None:
        assert path.read_text() == "new" or (path.read_text() == "old" and not complete)

    steps = kill_at_every_step(lambda: write_text(path, "new"), folder, check)
    with atomic_file(path) as draft:
        assert in_child(lambda: write_text(path, "another"), folder) == 0
        draft.write_text("last")  # another writer has not removed it
    assert path.read_text() == "last"
    assert names_in(folder) == sorted([stranger.name, path.name]), names_in(folder)
    return steps


def change_a_store(folder: Path) -> int:
    """The old version of an entity store or the new one."""
    from torture.stores import change_store, check_store, create_store

    def made(action: Callable[[], object]) -> None:
        assert in_child(action, folder) == 0  # a fork must not copy the threads of pyarrow

    made(lambda: create_store(folder / "old"))
    made(lambda: shutil.copytree(folder / "old", folder / "new"))
    made(lambda: change_store(folder / "new", "update"))
    made(lambda: shutil.copytree(folder / "old", folder / "store"))
    steps = kill_at_every_step(
        lambda: change_store(folder / "store", "update"),
        folder / "store",
        lambda complete: made(lambda: check_store(folder, complete)),
    )
    made(lambda: check_store(folder, True))
    return steps


SCENARIOS: dict[str, Callable[[Path], int]] = {
    scenario.__name__: scenario
    for scenario in (
        save_over_a_model,
        save_a_new_model,
        cluster_in_chunks,
        start_sweeps,
        write_a_file,
    )
}
LONGER = {"change_a_store": change_a_store}
"""Scenarios of ``make torture`` alone."""

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print({**SCENARIOS, **LONGER}[sys.argv[1]](Path(name).resolve()))
