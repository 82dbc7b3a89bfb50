"""A training that is killed resumes from its checkpoint and ends with the same numbers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from experiment_runs import ROOT, arguments, environment, numbers_of, run_here
from supclust.data.datamodule import BlockDataModule
from supclust.data.files import files_below
from supclust.dissimilarity import LinearPair
from supclust.experiment import training
from supclust.experiment.training import ResumeCheckpoint
from supclust.objectives import Objective, Recipe, objective_class, quiet_trainer
from training_blocks import overlapping_parts

RECIPE = Recipe(threshold=0.0, margin=1.0, lr=0.05, window=2, tolerance=0.1, samples_per_point=3)
SPLITS = [4, 0, 7]


# train.py with a checkpoint every tenth of a second, so that a short training has some.
OFTEN = f"""
import runpy
from supclust.experiment.training import ResumeCheckpoint
ResumeCheckpoint.__init__.__defaults__ = (0.1,)
runpy.run_path({str(ROOT / "train.py")!r}, run_name="__main__")
"""


class KilledError(Exception):
    """Stands for the end of the process."""


def fitted(
    name: str, path: Path, killed_after: int | None = None, step_unit: str = "block"
) -> tuple[Objective, str | None]:
    """Train with a checkpoint every epoch; also return what was resumed from."""
    objective = objective_class(name)(LinearPair(4, splits=SPLITS, seed=3), RECIPE, seed=3)
    data = BlockDataModule(overlapping_parts("pairs"), SPLITS, seed=3, step_unit=step_unit)
    checkpoint = ResumeCheckpoint(path, seconds=0.0)
    save = checkpoint.on_train_epoch_end

    def save_and_die(trainer: Any, module: Any) -> None:
        save(trainer, module)
        if trainer.current_epoch + 1 == killed_after:
            raise KilledError

    checkpoint.on_train_epoch_end = save_and_die  # type: ignore[method-assign]
    resumed_from = checkpoint.resume_path()
    trainer = quiet_trainer(12, purity_every=2, callbacks=[checkpoint])
    try:
        trainer.fit(objective, datamodule=data, ckpt_path=resumed_from, weights_only=True)
    except KilledError:
        assert killed_after is not None
    return objective, resumed_from


@pytest.mark.parametrize(
    ("name", "unit"), [("exp_alpha", "block"), ("triplet", "cluster"), ("mst", "block")]
)
def test_a_resumed_training_has_the_same_numbers_bit_for_bit(
    name: str, unit: str, tmp_path: Path
) -> None:
    whole, nothing = fitted(name, tmp_path / "whole.ckpt", step_unit=unit)
    assert nothing is None
    stops = whole.stopping.epochs.tolist()
    assert min(stops) < max(stops), "the test needs splits that stop at different epochs"
    path = tmp_path / "killed.ckpt"
    for epochs in (1, 3, min(stops) + 1):
        fitted(name, path, killed_after=epochs, step_unit=unit)
    resumed, found = fitted(name, path, step_unit=unit)
    assert found == str(path)
    assert len(resumed.history) == len(whole.history)
    for key, value in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[key], value), key
    for expected, epoch in zip(whole.history, resumed.history, strict=True):
        for key, value in expected.items():
            assert torch.equal(epoch[key].nan_to_num(-1), value.nan_to_num(-1)), key


def test_files_of_other_trainings_and_damaged_ones_are_ignored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.ckpt"
    fitted("mst", path, killed_after=2)
    path.rename(tmp_path / "b.ckpt")
    assert ResumeCheckpoint(tmp_path / "b.ckpt").resume_path() is None
    (tmp_path / "b.ckpt").write_bytes(b"half a file")
    assert ResumeCheckpoint(tmp_path / "b.ckpt").resume_path() is None
    assert caplog.text.count("is not usable") == 2


def test_a_finished_job_leaves_no_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training.ResumeCheckpoint.__init__, "__defaults__", (0.0,))
    run_here(tmp_path, "objective=mst")
    assert numbers_of(tmp_path)
    assert not list((tmp_path / "outputs").rglob("*.ckpt"))


@pytest.mark.slow
def test_a_killed_run_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    more = ["objective=exp_alpha", "split=[0,1,2]", "trainer.max_epochs=400", "recipe.tolerance=0"]
    folder = tmp_path / "killed"
    folder.mkdir()
    words = [sys.executable, "-c", OFTEN, *arguments(folder, *more)]
    kill_after_checkpoint(words, folder / "outputs")
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)
    (line,) = [x for x in (done.stdout + done.stderr).splitlines() if "resuming after epoch" in x]
    assert int(line.split()[-1]) > 0
    assert not list((folder / "outputs").rglob("*.ckpt"))
    whole = tmp_path / "whole"
    whole.mkdir()
    run_here(whole, *more)
    assert numbers_of(folder) == numbers_of(whole)
    assert records(folder) == records(whole)


def kill_after_checkpoint(words: list[str], outputs: Path) -> None:
    """Start a run and kill it (SIGKILL) once it has written a checkpoint."""
    process = subprocess.Popen(
        words, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + 300
    while not files_below(outputs, "[!.]*.ckpt"):
        assert process.poll() is None, "the run ended before its first checkpoint"
        assert time.monotonic() < end
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not list(outputs.rglob("result.json"))


def records(folder: Path) -> dict[str, Any]:
    """Losses and curves of every training, by folder."""
    paths = sorted((folder / "outputs" / "trainings").rglob("model.json"))
    read = {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}
    return {
        key: {k: v for k, v in record.items() if k not in ("seconds", "identity")}
        for key, record in read.items()
    }
