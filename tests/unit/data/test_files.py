"""Atomic writes: complete or absent, with the permissions of the umask."""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from supclust.data.files import atomic_folder, files_below, read_json, write_json, write_text


def test_infinities_survive_and_the_file_is_standard_json(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x.json"
    write_json(path, {"alpha": -math.inf, "list": [math.inf, 1.5], "none": math.nan})

    def refuse(token: str) -> None:
        raise AssertionError(f"{token} is not JSON")

    json.loads(path.read_text(), parse_constant=refuse)
    assert read_json(path) == {"alpha": -math.inf, "list": [math.inf, 1.5], "none": None}


def test_a_write_that_fails_leaves_the_old_file_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"a": 1})

    def power_failure(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", power_failure)
    with pytest.raises(KeyboardInterrupt):
        write_json(path, {"a": 2})
    assert read_json(path) == {"a": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_permissions_are_those_that_open_gives(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "atomic", "text")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "atomic")]
    assert modes[0] == modes[1]


def fill(folder: Path, content: str, **options: bool) -> None:
    with atomic_folder(folder, **options) as draft:
        (draft / content).touch()


def test_a_folder_is_replaced_or_kept(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "folder"
    fill(target, "first")
    fill(target, "second")
    assert [path.name for path in target.iterdir()] == ["second"]
    fill(target, "third", replace=False)
    assert [path.name for path in target.iterdir()] == ["second"]
    assert [path.name for path in target.parent.iterdir()] == ["folder"]


def test_a_folder_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    fill(tmp_path / "folder", "first")
    with pytest.raises(FileNotFoundError), atomic_folder(tmp_path / "folder") as draft:
        (draft / "absent" / "half").touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["folder", "first"]


def test_a_folder_that_vanishes_during_the_walk_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("kept", "gone"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").touch()
    (tmp_path / "kept" / "other.json").touch()
    scandir = os.scandir

    def vanishing(path: str) -> object:
        if Path(path).name == "gone":
            (Path(path) / "result.json").unlink()
            Path(path).rmdir()
        return scandir(path)

    monkeypatch.setattr(os, "scandir", vanishing)
    assert files_below(tmp_path, "result.json") == [tmp_path / "kept" / "result.json"]
