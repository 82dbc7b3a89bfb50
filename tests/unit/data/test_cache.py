from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from supclust.data import Block, Dataset
from supclust.data.cache import cached, default_cache_dir


def make_dataset(value: float = 1.0) -> Dataset:
    images = np.arange(3 * 4, dtype=np.uint8).reshape(3, 2, 2)
    features = np.full((3, 2), value, dtype=np.float32)
    labels = np.array([0, 1, 0])
    blocks = tuple(
        Block(name, ("a", "ä", "c"), labels, "vectors", features, ("k", "l"), images)
        for name in ("one", "two")
    )
    return Dataset(
        "s", "vectors", "file", blocks, ("x", "y"), ("note",), sizes=(1, 1, 1), balance=0.05
    )


class Builder:
    """Counts how often the set is built."""

    def __init__(self, value: float = 1.0):
        self.value, self.calls = value, 0

    def __call__(self) -> Dataset:
        self.calls += 1
        return make_dataset(self.value)


def entries(root: Path) -> list[Path]:
    return sorted((root / "data").iterdir())


def load(root: Path, build: Builder, files=(), **key) -> Dataset:
    key = {"reader": "r", "version": 1, **key}
    return cached(build, files=files, cache_dir=root, **key)


def test_a_second_load_builds_nothing_and_is_the_same(tmp_path):
    build = Builder()
    first, second = load(tmp_path, build), load(tmp_path, build)
    assert build.calls == 1 and len(entries(tmp_path)) == 1
    for data in (first, second):
        assert data.digest() == make_dataset().digest()
        assert (data.name, data.source, data.unit) == ("s", "file", "block")
        assert (data.notes, data.sizes, data.balance) == (("note",), (1, 1, 1), 0.05)
        assert data.feature_names == ("x", "y") and data.blocks[1].ids == ("a", "ä", "c")
        assert np.array_equal(data.blocks[1].images, make_dataset().blocks[1].images)


def test_arrays_are_mapped_and_writing_to_them_changes_no_file(tmp_path):
    build = Builder()
    load(tmp_path, build)
    data = load(tmp_path, build)
    features = data.blocks[0].features
    assert isinstance(features.base, np.memmap) or isinstance(features, np.memmap)
    features[0, 0] = 99.0
    assert load(tmp_path, build).blocks[0].features[0, 0] == 1.0 and build.calls == 1


def test_the_key_is_made_of_content_reader_version_and_options(tmp_path):
    source = tmp_path / "input.csv"
    source.write_text("one")
    build = Builder()
    root = tmp_path / "cache"
    load(root, build, [source])
    load(root, build, [source], version=2)
    load(root, build, [source], reader="q")
    load(root, build, [source], options={"a": 1})
    assert build.calls == 4
    source.write_text("two")  # same size, perhaps within the same tick of the clock
    load(root, build, [source])
    assert build.calls == 5
    copy = tmp_path / "copy" / tmp_path.name / "input.csv"
    copy.parent.mkdir(parents=True)
    copy.write_text("two")
    load(root, build, [copy])
    assert build.calls == 5  # the same content elsewhere


def test_the_content_counts_not_the_time_stamp(tmp_path):
    source, root, build = tmp_path / "input.csv", tmp_path / "cache", Builder()
    now = time.time_ns()
    for text in ("one", "two"):  # same size, same time: only the content differs
        source.write_text(text)
        os.utime(source, ns=(now, now))
        load(root, build, [source])
    assert build.calls == 2


@pytest.mark.parametrize("name", ["features.npy", "labels.npy", "images.npy", "manifest.json"])
@pytest.mark.parametrize("damage", ["flip", "truncate", "delete", "empty"])
def test_damaged_entries_are_rebuilt(tmp_path, name, damage):
    build = Builder()
    load(tmp_path, build)
    path = entries(tmp_path)[0] / name
    content = bytearray(path.read_bytes())
    if damage == "delete":
        path.unlink()
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "truncate":
        path.write_bytes(content[:-3])
    else:
        middle = 2 if name == "manifest.json" else -2
        content[middle] ^= 0xFF
        path.write_bytes(content)
    assert load(tmp_path, build).digest() == make_dataset().digest()
    assert build.calls == 2
    load(tmp_path, build)
    assert build.calls == 2 and len(entries(tmp_path)) == 1


def test_a_draft_left_by_a_killed_process_is_not_taken_for_an_entry(tmp_path):
    build = Builder()
    load(tmp_path, build)
    entry = entries(tmp_path)[0]
    entry.rename(entry.with_name("draft-1-abc"))
    load(tmp_path, build)
    assert build.calls == 2


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_costs_a_warning(tmp_path, caplog):
    tmp_path.chmod(0o500)
    with caplog.at_level(logging.WARNING):
        assert load(tmp_path / "cache", Builder()).n == 6
    tmp_path.chmod(0o700)
    assert "cannot be written" in caplog.text


def test_a_cache_path_that_is_a_file_costs_a_warning(tmp_path, caplog):
    blocker = tmp_path / "cache"
    blocker.write_text("")
    with caplog.at_level(logging.WARNING):
        assert load(blocker, Builder()).n == 6
    assert "cannot be written" in caplog.text


RACER = """
import sys, time
from pathlib import Path
import numpy as np
from supclust.data import Block, Dataset
from supclust.data.cache import cached

root, me = Path(sys.argv[1]), sys.argv[2]

def build():
    (root / f"ready-{me}").touch()
    deadline = time.monotonic() + 30
    while len(list(root.glob("ready-*"))) < 2:  # both have found nothing, now both build
        assert time.monotonic() < deadline
        time.sleep(0.005)
    block = Block("b", ("a", "b"), np.array([0, 1]), "vectors", np.eye(2))
    return Dataset("s", "vectors", "file", (block,), ("x", "y"), unit="cluster")

print(cached(build, reader="r", version=1, cache_dir=root).digest())
"""


def test_two_processes_at_once(tmp_path):
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), str(me)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for me in range(2)
    ]
    outputs = [worker.communicate(timeout=60) for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], outputs
    assert len({out for out, _ in outputs}) == 1 and all(err == "" for _, err in outputs)
    assert len(entries(tmp_path)) == 1


def test_default_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SUPCLUST_CACHE", str(tmp_path))
    assert default_cache_dir() == tmp_path
    monkeypatch.delenv("SUPCLUST_CACHE")
    assert default_cache_dir().name == "supclust"
