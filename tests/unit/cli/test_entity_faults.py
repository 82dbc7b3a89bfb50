"""Faults in the commands of bare tables and entity stores: one line, no traceback, nothing lost."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from store_tables import linear_model, persons, table_of
from supclust import EntityStore
from torture.commands import run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, records, new records and a store."""
    folder = tmp_path_factory.mktemp("entities")
    records = persons(40, seed=5)
    linear_model().save(folder / "model")
    pq.write_table(table_of(records[:80]), folder / "records.parquet")
    pq.write_table(table_of(records[80:]), folder / "new.parquet")
    words = ("cluster", folder / "records.parquet", "--model", folder / "model")
    assert run(*words, "-o", folder / "c.csv", "--store", folder / "store").code == 0
    ids = [one["id"] for one in records[:2]]
    assert run("correct", folder / "store", "--together", *ids).code == 0
    return folder


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "store", tmp_path / "store"))


def writers(made: Path, store: Path) -> dict[str, tuple[object, ...]]:
    """Commands with an option, the last word, that names a table to write."""
    records, model = made / "records.parquet", made / "model"
    return {
        "cluster": ("cluster", records, "--model", model, "-o"),
        "candidates": ("candidates", records, "--model", model, "-o"),
        "candidates --keys": ("candidates", records, "--model", model, "--keys"),
        "update": ("update", store, made / "new.parquet", "-o"),
        "correct": ("correct", store, "--undo", "-o"),
        "history": ("history", store, "-o"),
        "export": ("export", store, "-o"),
    }


def test_outputs_that_cannot_be_written_are_refused_before_the_work(
    made: Path, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe.csv")
    outputs = [Path("/proc/out.csv"), Path("/dev/null"), tmp_path / f"{'n' * 252}.csv"]
    outputs += [tmp_path / name for name in ("loop/out.csv", "file/out.csv", "pipe.csv", "x.txt")]
    for words in writers(made, store).values():
        for output in outputs:
            ended = run(*words, output)
            assert (ended.code, ended.fault, ended.out) == (2, None, ""), (words, ended)
    for output in (*outputs[:4], tmp_path / "file" / "model", tmp_path / "pipe.csv"):
        stored = ("cluster", made / "records.parquet", "--model", made / "model")
        ended = run(*stored, "-o", tmp_path / "c.csv", "--store", output)
        assert (ended.code, ended.fault, ended.out) == (2, None, ""), ended
        ended = run("refit", store, "-o", output)
        assert (ended.code, ended.fault, ended.out) == (2, None, ""), ended
    assert EntityStore.open(store).version == 2
    assert not (tmp_path / "c.csv").exists()


def test_inputs_that_are_no_files(made: Path, store: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    model = made / "model"
    for path in (tmp_path / "pipe.csv", Path("/dev/null"), tmp_path / ("n" * 300), tmp_path / "no"):
        for words in (
            ("update", store, path),
            ("update", store, made / "new.parquet", "--model", path),
            ("update", store, "--delete", path),
            ("update", path, made / "new.parquet"),
            ("correct", store, "--pairs", path),
            ("correct", path, "--undo"),
            ("history", path),
            ("export", path, "-o", tmp_path / "e.csv"),
            ("review", path, "--no-browser"),
            ("refit", path, "-o", tmp_path / "model"),
            ("explain", path, "--cluster", 0),
            ("candidates", path, "--model", model),
            ("candidates", made / "records.parquet", "--model", path),
            ("cluster", path, "--model", model, "-o", tmp_path / "c.csv"),
            ("fit", path, "--label", "who", "-o", tmp_path / "model"),
            ("fit", made / "records.parquet", "--pairs", path, "-o", tmp_path / "model"),
        ):
            ended = run(*words)
            assert (ended.code, ended.fault) == (2, None), (words, ended)


def test_numbers_that_are_too_large_or_too_small(made: Path, store: Path, tmp_path: Path) -> None:
    for words in (
        ("correct", store, "--undo", -1),
        ("correct", store, "--undo", "9" * 30),
        ("history", store, "--cluster", -1),
        ("history", store, "--cluster", "9" * 30),
        ("explain", store, "--cluster", "9" * 30),
        ("review", store, "--port", "9" * 30),
        ("refit", store, "--seed", -1, "-o", tmp_path / "model"),
        ("fit", made / "records.parquet", "--label", "town", "--seed", -1, "-o", tmp_path / "m"),
    ):
        ended = run(*words)
        assert (ended.code, ended.fault) == (2, None), (words, ended)
    words = (
        "cluster",
        made / "records.parquet",
        "--model",
        made / "model",
        "-o",
        tmp_path / "c.csv",
    )
    assert run(*words, "--memory", "9" * 30).fault is None


def test_a_list_of_columns_may_be_longer_than_the_name_of_a_file(
    made: Path, tmp_path: Path
) -> None:
    names = ",".join(f"column{i}" for i in range(60))
    words = ("cluster", made / "records.parquet", "--model", made / "model", "--keep", names)
    ended = run(*words, "-o", tmp_path / "c.csv")
    assert ended.code == 2 and "column0" in ended.err and "too long" not in ended.err


def test_a_port_that_is_used_is_one_line(store: Path) -> None:
    with socket.socket() as used:
        used.bind(("127.0.0.1", 0))
        used.listen()
        port = used.getsockname()[1]
        ended = run("review", store, "--no-browser", "--port", port)
    assert (ended.code, ended.fault) == (2, None)
    assert f"--port {port} cannot be used (Address already in use)" in ended.err


def test_a_change_whose_table_cannot_be_written_is_in_the_log(
    made: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("supclust.data.tables.writer.write_table", full)
        ended = run("update", store, made / "new.parquet", "-o", tmp_path / "changes.csv")
    assert (ended.code, ended.fault) == (1, None)
    assert "changes.csv: No space left on device. The store is changed (version 3)" in ended.err
    assert EntityStore.open(store).version == 3
    assert run("history", store, "-o", tmp_path / "log.csv").code == 0
    assert ",update," in (tmp_path / "log.csv").read_text().replace('"', "")


@pytest.mark.parametrize("command", ["cluster --store", "update", "correct", "candidates"])
def test_a_full_disk_leaves_the_old_store(
    command: str, made: Path, store: Path, tmp_path: Path
) -> None:
    before = EntityStore.open(store).clusters()
    words = {
        **writers(made, store),
        "update": ("update", store, made / "new.parquet"),
        "correct": ("correct", store, "--undo"),
    }.get(command.split()[0], ())
    if command == "cluster --store":
        words = (*words, tmp_path / "c.csv", "--store", tmp_path / "new")
    elif command == "candidates":
        words = (*words, tmp_path / "pairs.csv")
    done = subprocess.run(
        [sys.executable, "-m", "supclust", *map(str, words)],
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (100, -1)),
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.splitlines()) == 1 and "File too large" in done.stderr
    assert EntityStore.open(store).clusters() == before
    assert not (tmp_path / "new").exists() and not (tmp_path / "pairs.csv").exists()
    assert run(*words).fault is None


def test_closed_streams(made: Path, store: Path) -> None:
    for words, version in (
        (f"update {store} {made / 'new.parquet'}", 3),
        (f"correct {store} --undo", 4),
        (f"history {store}", 4),
        (f"candidates {made / 'records.parquet'} --model {made / 'model'}", 4),
    ):
        for end in (">&-", "| true; exit ${PIPESTATUS[0]}"):
            command = f"'{sys.executable}' -m supclust {words} {end}"
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
            assert done.stderr == "" or "correction" in done.stderr  # undone by the first run
            assert done.returncode in (0, 1, 2)
        assert EntityStore.open(store).version == version
