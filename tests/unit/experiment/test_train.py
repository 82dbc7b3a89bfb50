"""`supclust train`: train.py from any folder, with the configuration that is shipped."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from supclust.experiment import train

ROOT = Path(__file__).parents[3]


def test_a_checkout_uses_its_own_configuration_and_a_wheel_the_copy_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert train.configuration("conf") == ROOT / "conf"
    monkeypatch.setattr(train, "_PACKAGE", tmp_path)
    (tmp_path / "conf").mkdir()
    assert train.configuration("conf") == tmp_path / "conf"


@pytest.mark.parametrize(
    ("given", "templates"),
    [
        (["--config-dir", "multirun_templates"], False),
        (["--config-dir=multirun_templates/"], False),
        (["-m", "objective=best", "dataset.path=multirun_templates.csv"], False),
        (["--config-dir", "multirun_templates"], True),
    ],
)
def test_the_templates_are_those_of_the_folder_or_the_shipped_ones(
    given: list[str], templates: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["supclust"])
    monkeypatch.setattr(train, "launch", lambda main: None)
    if templates:
        (tmp_path / "multirun_templates").mkdir()
    train.train(given)
    shipped = str(ROOT / "multirun_templates")
    expected = [
        word if templates else word.replace("multirun_templates/", shipped) for word in given
    ]
    if not templates and given[-1] == "multirun_templates":
        expected[-1] = shipped
    assert sys.argv[1:] == expected


def test_a_job_outside_of_a_checkout(tmp_path: Path) -> None:
    words = ["objective=best", "dataset=faces", "dataset.source=stand-in", "trainer.max_epochs=1"]
    done = subprocess.run(
        [sys.executable, "-m", "supclust", "train", *words, "logger=none", "linkage=single"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    [result] = tmp_path.glob("outputs/**/result.json")
    assert json.loads(result.read_text(encoding="utf-8"))["status"] == "done"


def test_the_wheel_contains_every_file_that_is_not_python() -> None:
    tomllib = pytest.importorskip("tomllib", reason="is in Python since 3.11")
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    package = ROOT / "src" / "supclust"
    patterns = tool["setuptools"]["package-data"]["supclust"]
    packed = {path for pattern in patterns for path in package.glob(pattern)}
    files = {path for path in package.rglob("*.*") if path.is_file()}
    left_out = [
        path for path in files - packed if path.suffix not in (".py", ".pyc", ".nbi", ".nbc")
    ]
    assert left_out == []
