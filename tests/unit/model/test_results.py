"""Results on disk: atomic, distrustful, and conflicts that name the difference."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from supclust.data.files import write_json, write_text
from supclust.model.results import (
    OtherConfigError,
    differences,
    find_results,
    finished,
    read_result,
)


def example(**changes: Any) -> dict[str, Any]:
    result = {
        "status": "done",
        "dataset": "faces",
        "source": "real",
        "objective": "mst",
        "split": 0,
        "seed": 0,
        "linkages": {"single": {"alpha": 0.0, "threshold": 1.0, "dev": {}, "test": {}}},
        "config_hash": "h",
        "config": {"recipe": {"lr": 0.1}},
    }
    return {**result, **changes}


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", '{"status": "done"}', "\x00\x01", '{"a":' + "[" * 100_000]
)
def test_what_is_not_a_result_is_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(content)
    assert read_result(path) is None
    assert read_result(tmp_path / "absent.json") is None


def test_every_truncation_of_a_result_is_distrusted(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_json(path, example())
    content = path.read_bytes().rstrip()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        assert read_result(path) is None


def test_finished_only_if_done_and_of_the_same_settings(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    identity = {"recipe": {"lr": 0.1}}
    assert finished(path, "h", identity) is None
    write_json(path, example(status="failed"))
    assert finished(path, "h", identity) is None
    assert finished(path, "other", identity) is None
    write_json(path, example(linkages={}))
    assert finished(path, "h", identity) is None
    write_json(path, example())
    assert finished(path, "h", identity) == example()
    with pytest.raises(OtherConfigError, match=r"recipe\.lr: 0\.1 there, 0\.2 here"):
        finished(path, "other", {"recipe": {"lr": 0.2}})


def test_differences_name_what_is_new_and_what_is_gone() -> None:
    assert differences({"a": 1, "b": 2}, {"a": 1, "c": 3}) == [
        "c: nothing there, 3 here",
        "b: 2 there, nothing here",
    ]


def test_results_are_found_below_a_folder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_json(tmp_path / "b" / "result.json", example(split=1))
    write_json(tmp_path / "a" / "x" / "result.json", example(status="failed"))
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "result.json").write_text("{")
    assert [result["status"] for result in find_results(tmp_path)] == ["failed", "done"]
    assert "cannot be read" in caplog.text
    with pytest.raises(ValueError, match="is none"):
        list(find_results(tmp_path / "nowhere"))


def test_others_may_read_what_is_written(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_text(tmp_path / "a" / "result.json", "{}")
    finally:
        os.umask(before)
    assert (tmp_path / "a" / "result.json").stat().st_mode & 0o777 == 0o644


def test_a_conflict_recommends_an_axis_that_exists(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_json(path, example(config={"objective_options": {"temperature": 1.0}}))
    with pytest.raises(OtherConfigError, match=r"axes=\[objective\.temperature\]"):
        finished(path, "other", {"objective_options": {"temperature": 2.0}})
