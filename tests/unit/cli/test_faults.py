"""Faults of users, files and the system: one line, exit code 2 or 1, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from torture.commands import run
from torture.inputs import Inputs


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    return Inputs(tmp_path_factory.mktemp("inputs") / "campaign")


def refused(*arguments: object, code: int = 2) -> str:
    ended = run(*arguments)
    assert (ended.code, ended.fault) == (code, None), ended
    return ended.err


@pytest.mark.parametrize("command", ["cluster", "fit", "report"])
def test_outputs_that_cannot_be_written_are_refused_before_the_work(
    command: str, inputs: Inputs, tmp_path: Path
) -> None:
    records, model = inputs.tables["records"], inputs.models["records"]
    suffix = {"cluster": ".csv", "fit": "", "report": ".html"}[command]
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / f"pipe{suffix}")
    for output in (
        Path(f"/proc/out{suffix}"),
        tmp_path / f"{'n' * 252}{suffix}",
        tmp_path / "loop" / f"out{suffix}",
        tmp_path / "file" / f"out{suffix}",
        tmp_path / f"pipe{suffix}",
    ):
        words = {
            "cluster": ("cluster", records, "--model", model),
            "fit": ("fit", records, "--label", "who"),
            "report": ("report", model, "--data", records),
        }[command]
        ended = run(*words, "-o", output)
        assert (ended.code, ended.fault, ended.out) == (2, None, ""), ended  # no word of reading
        assert "choose " in ended.err.lower()
    assert (tmp_path / f"pipe{suffix}").is_fifo()


def test_inputs_that_are_no_files(inputs: Inputs, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    model = inputs.models["records"]
    for path in (tmp_path / "pipe.csv", "/dev/null", "/proc/self/mem", tmp_path / ("n" * 300)):
        refused("cluster", path, "--model", model, "-o", tmp_path / "c.csv")
        refused("data", "check", path, "--label", "who")
        refused("cluster", inputs.tables["records"], "--model", path, "-o", tmp_path / "c.csv")


def test_a_full_disk_is_one_line_and_keeps_finished_chunks(
    inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "clusters.csv")

    words = ("cluster", inputs.tables["records"], "--model", inputs.models["records"])
    with monkeypatch.context() as patched:
        patched.setattr("supclust.cluster.output.write_table", full)
        shown = refused(*words, "-o", tmp_path / "clusters.csv", code=1)
    assert "No space left on device. Free some space" in shown
    ended = run(*words, "-o", tmp_path / "clusters.csv")
    assert ended.code == 0 and "1 chunk was finished already" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["clusters.csv"]


def test_refused_memory_is_one_line(
    inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*_: object) -> None:
        np.empty(1 << 62, np.int8)

    monkeypatch.setattr("supclust.cluster.table.plan_blocks", none_left)
    words = ("cluster", inputs.tables["records"], "--model", inputs.models["records"])
    shown = refused(*words, "-o", tmp_path / "clusters.csv", code=1)
    assert "the system refused more memory (Unable to allocate 4.00 EiB" in shown


def test_a_column_may_have_the_name_of_an_argument(inputs: Inputs, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(inputs.tables["vectors"].read_text().replace("id,", "file,", 1))
    output = tmp_path / "c.npz"
    model = inputs.models["vectors"]
    assert run("cluster", path, "--model", model, "--id", "file", "-o", output).fault is None
    with np.load(output) as written:
        assert set(written) == {"file", "cluster"} and len(written["file"]) == 60


def test_numbers_that_are_too_large_or_too_small(inputs: Inputs, tmp_path: Path) -> None:
    words = ("cluster", inputs.tables["records"], "--model", inputs.models["records"])
    ended = run(*words, "--n-clusters", "9" * 20, "-o", tmp_path / "c.csv")
    assert ended.fault is None and "60 clusters" in ended.out
    shown = refused("fit", inputs.tables["records"], "--label", "who", "--seed", -1, "-o", tmp_path)
    assert "--seed must be an integer >= 0; received -1" in shown


def test_infinite_numbers_are_refused(inputs: Inputs, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(inputs.tables["records"].read_text().replace(",1993,", ",inf,"))
    model = inputs.models["records"]
    shown = refused("cluster", path, "--model", model, "-o", tmp_path / "c.csv")
    assert "column 'year' must hold finite numbers" in shown
    shown = refused("fit", path, "--label", "who", "-o", tmp_path / "model")
    assert "received inf in row 10" in shown


def test_odd_members_and_types(inputs: Inputs, tmp_path: Path) -> None:
    import zipfile

    import pyarrow as pa
    import pyarrow.parquet as pq

    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("x.npy", "no array")
    shown = refused("data", "check", tmp_path / "t.npz", "--label", "who")
    assert "member 'x' is not an array" in shown
    nested = {"who": ["a", "a", "b"], "x": [1.0, 2.0, 3.0], "s": [{"k": 1}] * 3, "l": [[1]] * 3}
    pq.write_table(pa.table(nested), tmp_path / "t.parquet")
    assert run("data", "check", tmp_path / "t.parquet", "--label", "who").fault is None


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("data list >&-", 0, ""),
        ("data list 2>&-", 0, ""),
        ("data list >/dev/full", 1, "No space left on device"),
        ("--help | true; exit ${PIPESTATUS[0]}", 0, ""),
        ("data list | true; exit ${PIPESTATUS[0]}", 1, ""),
        ("train --help | true; exit ${PIPESTATUS[0]}", 1, ""),
        ("train --info | true; exit ${PIPESTATUS[0]}", 1, ""),
    ],
)
def test_closed_and_full_streams(words: str, code: int, message: str) -> None:
    command = f"'{sys.executable}' -m supclust {words}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert message in done.stderr and len(done.stderr.splitlines()) <= 1, done.stderr
    assert done.returncode in (code, 0)  # a fast reader may leave the pipe open long enough
