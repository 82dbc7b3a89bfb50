"""The store of trainings: complete or absent, checked, and locked."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supclust.experiment.store import TrainingStore
from supclust.model.trained import TrainedModel


def training(value: float) -> TrainedModel:
    weights = {"average_weight": np.full(2, value), "average_bias": np.array(value)}
    weights |= {"weight": np.full(2, 0.0), "bias": np.array(0.0), "updates": np.array(3)}
    spec = {"name": "linear", "kind": "pairs", "d": 2}
    return TrainedModel(spec, weights, "mst", ("a", "b"), record={"alpha": value, "epochs": 4})


def test_a_training_comes_back_as_it_was(tmp_path: Path) -> None:
    store = TrainingStore(tmp_path)
    with store.locked(["a", "b"]):
        store.save({"a": training(0.1), "b": training(0.2)})
    found = store.load("b")
    assert found is not None
    expected = training(0.2).weights
    assert found.weights.keys() == expected.keys()
    assert all(np.array_equal(found.weights[name], expected[name]) for name in expected)
    assert found.record == {"alpha": 0.2, "epochs": 4} and not found.has_cut
    assert found.folder is not None and found.folder.name == "b"
    assert store.load("c") is None


@pytest.mark.parametrize("file", ["model.safetensors", "model.json"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_training_is_not_trusted_and_can_be_replaced(
    tmp_path: Path, file: str, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = TrainingStore(tmp_path)
    with store.locked(["a"]):
        store.save({"a": training(0.1)})
        (path,) = store.root.rglob(file)
        content = path.read_bytes()
        if damage == "gone":
            path.unlink()
        else:
            path.write_bytes(content[:-5] if damage == "cut" else content[:-2] + b"??")
        assert store.load("a") is None
        assert "is damaged" in caplog.text
        store.save({"a": training(0.3)})
    found = store.load("a")
    assert found is not None and found.record["alpha"] == 0.3


def test_a_save_that_is_cut_short_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = TrainingStore(tmp_path)

    def power_failure(*_: Any) -> None:
        raise KeyboardInterrupt

    with store.locked(["a", "b"]):
        with monkeypatch.context() as patch:
            patch.setattr("os.rename", power_failure)
            with pytest.raises(KeyboardInterrupt):
                store.save({"a": training(0.1), "b": training(0.2)})
        assert store.load("a") is None and store.load("b") is None
        store.save({"a": training(0.1), "b": training(0.2)})
    assert store.load("a") is not None


def test_alphas_come_back(tmp_path: Path) -> None:
    store = TrainingStore(tmp_path)
    assert store.load_alphas(["a"]) == {}
    store.save_alphas({"a": 0.5, "b": -1.5})
    store.save_alphas({"c": 2.0})
    assert store.load_alphas(["b", "c", "d"]) == {"b": -1.5, "c": 2.0}


def test_the_key_depends_on_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = TrainingStore(tmp_path)
    key = store.key({"split": 1, "seed": 0})
    assert key == store.key({"seed": 0, "split": 1})
    assert key != store.key({"seed": 1, "split": 1})
    monkeypatch.setattr("supclust.__version__", "999")
    assert key != store.key({"split": 1, "seed": 0})


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    store = TrainingStore(tmp_path)
    order: list[str] = []
    inside = threading.Event()

    def first() -> None:
        with store.locked(["b", "a"]):
            inside.set()
            time.sleep(0.3)
            order.append("first")

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait()
    with store.locked(["b"]):
        order.append("second")
    thread.join()
    assert order == ["first", "second"]


def _hold(outputs: Path, ready: Any) -> None:
    with TrainingStore(outputs).locked(["a"]):
        ready.set()
        time.sleep(60)


def test_a_killed_process_loses_its_locks(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    holder = context.Process(target=_hold, args=(tmp_path, ready))
    holder.start()
    assert ready.wait(30)
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    start = time.monotonic()
    with TrainingStore(tmp_path).locked(["a"]):
        assert time.monotonic() - start < 10
