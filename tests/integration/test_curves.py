"""What a run keeps of every epoch: loss parts, alpha and purity, in its log and in its record."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from experiment_runs import run_here
from training_blocks import PAPER

EPOCHS = 4
RUN = ("logger=csv", "linkage=average", f"trainer.max_epochs={EPOCHS}", "recipe.tolerance=0")
HINGE = ("recipe.threshold=2.0", "recipe.margin=0.5")


def run_of(folder: Path, objective: str, *more: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows of the log with losses, and the record of the training."""
    run_here(folder, *RUN, f"objective={objective}", *more)
    (log,) = (folder / "outputs").rglob("metrics.csv")
    with log.open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["train/loss"]]
    (record,) = (folder / "outputs/trainings").rglob("model.json")
    return rows, json.loads(record.read_text(encoding="utf-8"))


STEPS = [
    (name, unit)
    for name in PAPER  # whose losses have two parts
    for unit in (["block"] if name.startswith("exp") else ["block", "cluster"])
]


@pytest.mark.parametrize(("objective", "unit"), STEPS)
def test_parts_add_up_in_log_and_record(tmp_path: Path, objective: str, unit: str) -> None:
    rows, record = run_of(tmp_path, objective, *HINGE, f"recipe.step_unit={unit}")
    assert len(rows) == EPOCHS == record["epochs"]
    for kind in ("train", "dev"):
        for epoch, row in enumerate(rows):
            logged = [float(row[f"{kind}/loss{part}"]) for part in ("", "_within", "_across")]
            kept = [record[f"{kind}_{part}"][epoch] for part in ("loss", "within", "across")]
            assert logged == pytest.approx(kept, rel=1e-6)
            assert kept[1] + kept[2] == pytest.approx(kept[0], rel=1e-6)
            assert kept[1] >= 0 and kept[2] >= 0
        assert any(record[f"{kind}_within"]) and any(record[f"{kind}_across"])


@pytest.mark.parametrize(
    ("objective", "options"),
    [
        ("triplet", ("recipe.threshold=null", "recipe.margin=null", "recipe.variant=ranking")),
        ("exp_zero", ("recipe.variant=ranking",)),
    ],
)
def test_losses_of_differences_have_a_total_alone(
    tmp_path: Path, objective: str, options: tuple[str, ...]
) -> None:
    rows, record = run_of(tmp_path, objective, *options)
    assert not any("within" in column or "across" in column for column in rows[0])
    assert record["train_within"] is None and record["dev_across"] is None
    assert len(record["train_loss"]) == EPOCHS


def test_the_path_of_alpha_and_the_purities_are_kept(tmp_path: Path) -> None:
    rows, record = run_of(tmp_path, "exp_alpha", "trainer.purity_every=2")
    assert record["alpha_path"] == pytest.approx([float(row["alpha/split-0"]) for row in rows])
    assert record["alpha_path"][-1] == pytest.approx(record["alpha"], rel=1e-6)
    assert len(set(record["alpha_path"])) == EPOCHS
    assert [value is None for value in record["dev_purity"]] == [True, False, True, False]
    assert all(0 < value <= 1 for value in record["dev_purity"] if value is not None)


def test_what_was_not_computed_is_none(tmp_path: Path) -> None:
    _, record = run_of(tmp_path, "mst")
    assert record["alpha_path"] is None and record["dev_purity"] is None
