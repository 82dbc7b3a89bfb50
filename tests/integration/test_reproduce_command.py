"""`supclust reproduce`: sweeps by train.py, done once, compared with the paper and published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiment_runs import ROOT
from supclust.cli import main as cli
from supclust.experiment.reproduction import filled


def words(folder: Path, *more: str) -> list[str]:
    """One objective on stand-ins, with two epochs, in one process."""
    return [
        *("reproduce", "rexa", "--chunk", "1", "--conf", str(ROOT / "conf"), "--jobs", "1"),
        *("--outputs", str(folder / "outputs"), "--data", str(folder / "none")),
        *("--set", "dataset.source=stand-in", "--set", "trainer.max_epochs=2"),
        *("--set", "objective=exp_alpha", "--set", f"paths.cache={folder / 'cache'}"),
        *("--part", "grid", *more),
    ]


def test_it_computes_what_is_missing_and_publishes(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words(tmp_path, "--splits", "1", "--check")) == 0  # rexa has no bounds
    first = capfd.readouterr()
    assert "results: 1, of them trained now 1" in first.out
    assert "rexa [STAND-IN" in first.out and "rexa/grid: " in first.out
    docs = tmp_path / "docs"
    docs.mkdir()
    page = "By hand.\n<!-- begin paper -->\nOLD\n<!-- end paper -->\n<!-- begin runs -->\n"
    (docs / "results.md").write_text(page + "<!-- end runs -->\nThe end.\n")

    assert cli.main(words(tmp_path, "--splits", "2", "--publish", str(docs))) == 0
    second = capfd.readouterr()
    assert "results: 2, of them trained now 1, there already 1" in second.out
    record = json.loads((tmp_path / "outputs" / "reproduction.json").read_text())
    walls = [session["wall_seconds"]["rexa/grid"] for session in record["sessions"]]
    assert len(walls) == 2
    assert record["stages"]["rexa/grid"]["wall_seconds"] == pytest.approx(sum(walls), abs=0.2)
    assert not (tmp_path / "outputs" / ".sweeps").exists()

    text = (docs / "results.md").read_text()
    assert text.startswith("By hand.\n") and text.endswith("The end.\n") and "OLD" not in text
    assert "| Exp-alpha |" in text and "| rexa | 2 |" in text
    assert filled(text, docs / "results") == text
    published = json.loads((docs / "results" / "rexa.json").read_text())
    assert published["source"] == ["stand-in"] and published["splits"] == 2


def test_failed_jobs_are_listed_and_make_the_exit_code(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words(tmp_path, "--splits", "1", "--set", "recipe.lr=1e30")) == 1
    assert "rexa/exp_alpha/all/seed-0/split-0 (split 0): TrainingDiverged" in capfd.readouterr().out
