"""Engines: pickled work in another order gives the bytes of the local engine; errors in one line.

`tests/cluster` runs the same on a real Ray cluster (``make test-cluster``).
"""

from __future__ import annotations

import math
import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import pair_files
from pickled_engine import PickledBackwards
from supclust.cli import main as cli
from supclust.cluster import chunks, components
from supclust.cluster.edges import cluster_edges
from supclust.cluster.engine import LOCAL, in_order, opened_engine
from supclust.cluster.pairs import cluster_pairs
from supclust.cluster.table import Options, cluster_table
from supclust.data.layouts.edge_lists import Edges
from supclust.model.trained import TrainedModel


@pytest.fixture
def vectors(tmp_path: Path) -> tuple[Path, TrainedModel]:
    """300 points in 40 blocks, in any order, and a model of them."""
    rng = np.random.default_rng(5)
    table = tmp_path / "points.parquet"
    blocks = rng.integers(0, 40, 300)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=["x", "y", "z"])
    frame.assign(block=blocks.astype(str), id=np.arange(300)).to_parquet(table)
    weights = {"weight": np.eye(3, dtype=np.float32)}
    spec = {"name": "mahalanobis", "kind": "vectors", "d": 3}
    record = {"records": {"layout": "records", "block": "block", "id": "id"}}
    names = ("x", "y", "z")
    model = TrainedModel(spec, weights, "exp_alpha", names, "exp", -0.7, 1.0, record=record)
    return table, model


def test_tables_give_the_same_bytes(
    vectors: tuple[Path, TrainedModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "CHUNK_RECORDS", 30)
    engine, seen = PickledBackwards(), []
    local = cluster_table(*vectors, tmp_path / "a.parquet", Options())
    other = cluster_table(
        *vectors, tmp_path / "b.parquet", Options(), lambda *done: seen.append(done), engine
    )
    assert engine.computed > 5 and other == local
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert seen[0] == (0, 300) and seen[-1] == (300, 300)


def test_a_run_goes_on_with_another_engine(
    vectors: tuple[Path, TrainedModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "CHUNK_RECORDS", 30)
    cluster_table(*vectors, tmp_path / "a.parquet")
    with pytest.raises(KeyboardInterrupt):
        cluster_table(*vectors, tmp_path / "b.parquet", engine=PickledBackwards(stop_after=3))
    done = cluster_table(*vectors, tmp_path / "b.parquet")
    assert done.resumed == 3
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_pair_features_give_the_same_bytes(tmp_path: Path, rng: np.random.Generator) -> None:
    pair_files.write_pair_folders(tmp_path / "blocks", rng)
    weight = np.array([-0.3, -0.4], np.float32)
    weights = {"average_weight": weight, "average_bias": np.asarray(2.0, np.float32)}
    spec = {"name": "linear", "kind": "pairs", "d": 2}
    model = TrainedModel(spec, weights, "exp_alpha", ("f1", "f2"), "exp", 0.5, 1.0)
    local = cluster_pairs(tmp_path / "blocks", model, tmp_path / "a.csv")
    engine = PickledBackwards()
    assert cluster_pairs(tmp_path / "blocks", model, tmp_path / "b.csv", engine=engine) == local
    assert engine.computed == local.blocks == 6
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.parametrize("alpha", [-math.inf, -2.0, 0.0, 3.0, math.inf])
@pytest.mark.parametrize("missing", [1.0, math.inf, "ignored"])
@pytest.mark.parametrize("size", [1, 40, 10**6])
def test_components_give_the_same_merges(
    alpha: float, missing: Any, size: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(components, "CHUNK_EDGES", size)
    n = 120
    first, second = np.triu_indices(n, 1)
    kept = rng.random(len(first)) < 0.02
    value = np.round(rng.random(kept.sum()), 2)  # some are equal
    ends = (first[kept].astype(np.int32), second[kept].astype(np.int32))
    edges = Edges(pa.array(list(map(str, range(n)))), *ends, value, 0, 0)
    pairs = rng.choice(n, (6, 2), replace=False)
    for must, cannot in ((None, None), (pairs[:3], pairs[3:])):
        arguments = (edges, alpha, 0.7, missing, must, cannot)
        local = cluster_edges(*arguments)
        engine = PickledBackwards()
        other = cluster_edges(*arguments, engine)
        assert engine.computed == {1: local.n_components, 10**6: 1}.get(size, engine.computed)
        for name in ("components", "pairs", "heights", "offsets"):
            expected, received = getattr(local, name), getattr(other, name)
            assert expected.dtype == received.dtype
            np.testing.assert_array_equal(expected, received)


def test_a_graph_without_edges(rng: np.random.Generator) -> None:
    none = np.empty(0, np.int32)
    edges = Edges(pa.array(["a", "b", "c"]), none, none, np.empty(0), 0, 0)
    forest = cluster_edges(edges, 0.0, 0.5, 1.0, engine=PickledBackwards())
    assert forest.labels.tolist() == [0, 1, 2]


def test_results_are_sorted_by_number_alone() -> None:
    assert in_order([(2, np.zeros(2)), (0, np.ones(2))])[0].tolist() == [1, 1]


def test_names_of_engines() -> None:
    with opened_engine() as engine:
        assert engine is LOCAL
    with (
        pytest.raises(ValueError, match=r"one of local, ray; received 'spark'"),
        opened_engine("spark"),
    ):
        pass


def test_an_address_needs_ray(
    vectors: tuple[Path, TrainedModel], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, model = vectors
    words = ["cluster", str(table), "--model", str(model.save(tmp_path / "model"))]
    words += ["-o", str(tmp_path / "c.csv"), "--address", "127.0.0.1:6379"]
    assert cli.main(words) == 2
    assert "Add --engine ray" in capsys.readouterr().err


def test_ray_that_is_not_installed_is_one_line(
    vectors: tuple[Path, TrainedModel],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    table, model = vectors
    words = ["cluster", str(table), "--model", str(model.save(tmp_path / "model"))]
    assert cli.main([*words, "-o", str(tmp_path / "c.csv"), "--engine", "ray"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and 'pip install "supclust[ray]"' in error


def test_a_cluster_that_does_not_answer_is_one_line_at_once(
    vectors: tuple[Path, TrainedModel], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ray")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]  # free again at the end
    table, model = vectors
    words = ["cluster", str(table), "--model", str(model.save(tmp_path / "model"))]
    words += ["-o", str(tmp_path / "c.csv"), "--engine", "ray", "--address"]
    for address in (f"127.0.0.1:{port}", "nonsense"):
        assert cli.main([*words, address]) == 2
        error = capsys.readouterr().err
        assert f"no Ray cluster answers at {address}; received: " in error
        assert error.count("\n") == 1 and "Start one with: ray start --head" in error
