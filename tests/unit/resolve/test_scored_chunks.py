"""Clustering of a bare table that was stopped goes on, and gives the same bytes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from pickled_engine import PickledBackwards
from store_tables import linear_model, persons, table_of
from supclust import EntityStore
from supclust.cli.main import main
from supclust.cluster import components
from supclust.cluster.engine import LOCAL
from supclust.cluster.resume import PartialOutput
from supclust.cluster.table import Options
from supclust.data.errors import DataError
from supclust.data.layouts.link_pairs import LinkPairs
from supclust.resolve.apply import Entities, resolve_table
from supclust.resolve.blocking import candidates
from supclust.resolve.scored_chunks import ScoredChunks

CHUNK = 40  # pairs

KILLED = """
import os, signal, sys
from supclust.cli.main import main
from supclust.resolve import apply
from supclust.resolve.blocking import candidates
from supclust.resolve.scored_chunks import ScoredChunks

point, words = sys.argv[1], sys.argv[2:]
candidates.CHUNK = int(words.pop())

def killed(function, before):
    def wrapper(*arguments):
        if before:
            os.kill(os.getpid(), signal.SIGKILL)
        function(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)
    return wrapper

if point.isdigit():
    store = ScoredChunks.store
    ScoredChunks.store = lambda self, chunk, edges: (
        killed(store, True) if chunk == int(point) else store
    )(self, chunk, edges)
else:
    apply.write_clusters = killed(apply.write_clusters, point == "before output")
main(words)
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Persons with some hundred candidate pairs, in chunks of 40."""
    monkeypatch.setattr(candidates, "CHUNK", CHUNK)
    pyarrow.parquet.write_table(table_of(persons(60, seed=3)), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def resolved(table: Path, name: str, **more: object) -> tuple[Entities, bytes]:
    output = table.with_name(name)
    done = resolve_table(table, linear_model(), output, **more)
    assert not output.with_name(name + ".partial").exists()
    return done, output.read_bytes()


@pytest.mark.parametrize("point", ["0", "1", "5", "before output", "after output"])
def test_a_killed_command_goes_on(table: Path, point: str, capsys) -> None:
    expected = resolved(table, "whole.csv")[1]
    model, output = linear_model().save(table.with_name("m")), table.with_name("c.csv")
    words = ["cluster", str(table), "--model", str(model), "-o", str(output)]
    child = subprocess.run([sys.executable, "-c", KILLED, point, *words, str(CHUNK)])
    assert child.returncode == -signal.SIGKILL
    assert output.exists() == (point == "after output")
    finished = len(list(table.with_name("c.csv.partial").glob("pairs-*.npy")))
    assert finished == int(point) if point.isdigit() else finished > 5
    capsys.readouterr()
    assert main(words) == 0
    assert ("finished already" in capsys.readouterr().err) == (finished > 0)
    assert output.read_bytes() == expected
    assert not table.with_name("c.csv.partial").exists()


class OneByOne:
    """An engine that asks for an item only when the result of the one before was taken."""

    def map(self, compute, items, prepare):
        for number, item in items:
            yield number, compute(prepare(item))


@pytest.mark.parametrize("engine", [LOCAL, OneByOne()])
@pytest.mark.parametrize("stop_after", [0, 1, 4])
def test_a_run_goes_on_with_another_engine(table: Path, stop_after: int, engine) -> None:
    whole = PickledBackwards()
    done, expected = resolved(table, "whole.parquet", engine=whole)
    with pytest.raises(KeyboardInterrupt):
        resolved(table, "c.parquet", engine=PickledBackwards(stop_after))
    assert table.with_name("c.parquet.partial").exists() == (stop_after > 0)
    seen: list[tuple[int, int]] = []
    more = {"engine": engine, "progress": lambda *pairs: seen.append(pairs)}
    again, received = resolved(table, "c.parquet", **more)
    assert received == expected and again == done._replace(resumed=stop_after)
    assert seen[-1] == (done.pairs, done.pairs)
    assert seen[0] == (0, done.pairs)
    # At the start, after every chunk and at the end; one chunk of `whole` is of components.
    assert len(seen) == whole.computed - 1 - stop_after + 2 > 3


@pytest.mark.parametrize("constrained", [False, True])
def test_components_are_merged_by_the_engine(table: Path, monkeypatch, constrained: bool) -> None:
    ids = pyarrow.parquet.read_table(table)["id"].to_pylist()
    links = LinkPairs(((ids[0], ids[50]), (ids[1], ids[51])), (True, False), table)
    options = Options(constraints=links if constrained else None)
    expected = resolved(table, "whole.csv", options=options)[1]
    computed = []
    for size in (10**6, 20):  # edges of a chunk of components
        monkeypatch.setattr(components, "CHUNK_EDGES", size)
        engine = PickledBackwards()
        assert resolved(table, "c.csv", engine=engine, options=options)[1] == expected
        computed.append(engine.computed)
    assert computed[1] > computed[0] + 5


def test_ctrl_c_says_how_to_go_on(table: Path, monkeypatch, capsys) -> None:
    store = ScoredChunks.store

    def stopped(self, chunk, edges) -> None:
        if chunk == 3:
            raise KeyboardInterrupt
        store(self, chunk, edges)

    monkeypatch.setattr(ScoredChunks, "store", stopped)
    model, output = linear_model().save(table.with_name("m")), table.with_name("c.csv")
    words = ["cluster", str(table), "--model", str(model), "-o", str(output)]
    assert main(words) == 130
    assert "run the same command again" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setattr(candidates, "CHUNK", CHUNK)
    assert main(words) == 0
    assert "3 chunks were finished already" in capsys.readouterr().err


def test_scored_pairs_serve_another_threshold_and_no_other_table(table: Path) -> None:
    options = Options(threshold=-1.0)
    expected = resolved(table, "whole.csv", options=options)[1]
    with pytest.raises(KeyboardInterrupt):
        resolved(table, "c.csv", engine=PickledBackwards(4))
    done, received = resolved(table, "c.csv", options=options)
    assert received == expected and done.resumed == 4 and not done.discarded
    with pytest.raises(KeyboardInterrupt):
        resolved(table, "c.csv", engine=PickledBackwards(4))
    pyarrow.parquet.write_table(table_of(persons(50, seed=4)), table)
    done, received = resolved(table, "c.csv")
    assert done.resumed == 0 and done.discarded
    assert received == resolved(table, "again.csv")[1]


def test_a_store_that_was_not_written_is_written_by_the_next_run(table: Path, monkeypatch) -> None:
    model, folder = linear_model().save(table.with_name("m")), table.with_name("store")
    words = ["cluster", str(table), "--model", str(model), "-o", str(table.with_name("c.csv"))]
    words += ["--store", str(folder)]

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("supclust.store.creation.write_manifest", full)
        assert main(words) == 1
    assert not folder.exists()
    assert main(words) == 0
    assert len(EntityStore.open(folder)) == len(table_of(persons(60, seed=3)))


@pytest.mark.parametrize(
    "damaged",
    [
        np.zeros(3, np.int32),
        np.zeros(2, [("left", "<i4"), ("right", "<i4"), ("dissimilarity", "<f4")]),
        np.array([(0, 9999, 1.0)], [("left", "<i4"), ("right", "<i4"), ("dissimilarity", "<f4")]),
        np.array([(0, 1, np.nan)], [("left", "<i4"), ("right", "<i4"), ("dissimilarity", "<f4")]),
    ],
)
def test_a_damaged_chunk_is_named(table: Path, damaged: np.ndarray) -> None:
    with pytest.raises(KeyboardInterrupt):
        resolved(table, "c.csv", engine=PickledBackwards(2))
    chunk = next(table.with_name("c.csv.partial").glob("pairs-*.npy"))
    np.save(chunk, damaged)
    with pytest.raises(DataError, match=f"{chunk.name}.*is damaged.*delete it and run the same"):
        resolved(table, "c.csv")
    chunk.unlink()
    assert resolved(table, "c.csv")[0].resumed == 1


def test_stored_pairs_are_those_that_were_scored(tmp_path: Path) -> None:
    from supclust.resolve.scoring import Edges

    with PartialOutput(tmp_path / "c.csv", "a fingerprint", "pairs").opened() as partial:
        kept = ScoredChunks(partial, 9)
        edges = Edges(
            np.array([0, 2], np.int32), np.array([1, 8], np.int32), np.array([-0.1, 3], np.float32)
        )
        for chunk, some in enumerate((edges, Edges.none())):
            kept.store(chunk, some)
            for column, same in zip(some, kept.load(chunk), strict=True):
                assert column.dtype == same.dtype and column.tolist() == same.tolist()
        assert kept.finished() == {0, 1}
