"""Fuzz of model folders, result folders and cache entries: refused in one line, or read."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from torture.commands import run
from torture.inputs import Inputs
from torture.tampering import damaged_bytes, damaged_json

Case = tuple[str, str | None]


def fuzz_models(inputs: Inputs, cases: int, rng: random.Random) -> Iterator[Case]:
    """Tamper with a model, and let a command read it."""
    records, vectors = inputs.tables["records"], inputs.tables["vectors"]
    models = {kind: (folder, inputs.tables[kind]) for kind, folder in inputs.models.items()}
    models |= {"bare": (inputs.bare, records), "learned": (inputs.learned, vectors)}
    for _ in range(cases):
        kind = rng.choice(list(models))
        model, table = models[kind]
        folder = _copy(model, inputs.scratch / "model")
        name = rng.choice(["model.json", *sorted(path.name for path in folder.iterdir())])
        if name == "model.safetensors" and rng.random() < 0.5:
            _other_weights(folder, rng)
        else:
            damage = damaged_json if name == "model.json" else damaged_bytes
            _damage(folder / name, damage, rng)
        action = rng.random()
        if action < 0.4:
            ended = run("explain", folder, *rng.choice(([], ["--json"])))
        elif action < 0.6:
            data = rng.choice(([], ["--data", table]))
            ended = run("report", folder, *data, "-o", inputs.scratch / "report.html")
        else:
            output = inputs.scratch / f"clusters{rng.choice(('.csv', '.parquet'))}"
            ended = run("cluster", table, "--model", folder, "-o", output)
        yield f"model {kind} {name}", ended.fault


def fuzz_results(inputs: Inputs, cases: int, rng: random.Random) -> Iterator[Case]:
    """Tamper with one of two results; the table must show the other one."""
    for _ in range(cases):
        folder = _copy(inputs.results, inputs.scratch / "results")
        paths = sorted(folder.rglob("result.json"))
        path = rng.choice(paths)
        if rng.random() < 0.25:
            path = rng.choice(sorted(folder.rglob("model.json")))
        _damage(path, damaged_json, rng)
        if rng.random() < 0.7:
            layout = rng.choice(("results", "intervals", "paper"))
            style = rng.choice(("text", "csv", "latex", "markdown"))
            ended = run("table", folder, "--layout", layout, "--format", style)
        else:
            output = inputs.scratch / "report.html"
            ended = run("report", folder, "--no-trees", "-o", output)
        fault = ended.fault
        if fault is None and ended.code != 0:
            fault = f"one bad file takes down the folder: {ended.err.strip()[-200:]}"
        yield f"result {path.name}", fault


def fuzz_cache(inputs: Inputs, cases: int, rng: random.Random) -> Iterator[Case]:
    """Tamper with an entry of the data cache; it is rebuilt or has the same content."""
    from supclust.data.cache import cached

    for _ in range(cases):
        shutil.rmtree(inputs.scratch / "cache", ignore_errors=True)
        options = {"reader": "torture", "version": 1, "cache_dir": inputs.scratch / "cache"}
        cached(lambda: inputs.dataset, **options)
        (entry,) = (inputs.scratch / "cache" / "data").iterdir()
        path = rng.choice(sorted(entry.iterdir()))
        _damage(path, damaged_json if path.suffix == ".json" else damaged_bytes, rng)
        fault = None
        try:
            again = cached(lambda: inputs.dataset, **options)
            if again.n != inputs.dataset.n:
                fault = f"{again.n} points in place of {inputs.dataset.n}"
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        yield f"cache {path.name}", fault


def _copy(folder: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)
    return target


def _damage(
    path: Path, damage: Callable[[bytes, random.Random], bytes], rng: random.Random
) -> None:
    path.write_bytes(damage(path.read_bytes(), rng))


def _other_weights(folder: Path, rng: random.Random) -> None:
    """Weights of another shape, type or value, with the right checksum."""
    from safetensors.numpy import load, save

    weights = load((folder / "model.safetensors").read_bytes())
    name = rng.choice(sorted(weights))
    array = weights[name]
    changes: tuple[Callable[[], np.ndarray | None], ...] = (
        lambda: array.astype(rng.choice((np.float64, np.float16, np.int8, np.bool_))),
        lambda: (
            np.full_like(array, rng.choice((np.nan, np.inf, 0)))
            if array.dtype.kind == "f"
            else array
        ),
        lambda: np.zeros(rng.choice(((), (0,), (1,), (3, 2), (5,), (1, 1, 1))), np.float32),
        lambda: np.array(array * np.float32(1e30), np.float32),
        lambda: None,
    )
    changed = rng.choice(changes)()
    weights = {key: value for key, value in weights.items() if key != name}
    if changed is not None:
        weights[rng.choice((name, name, name, "other"))] = changed
    content = save(weights)
    (folder / "model.safetensors").write_bytes(content)
    described = json.loads((folder / "model.json").read_text())
    described["weights_sha256"] = hashlib.sha256(content).hexdigest()
    (folder / "model.json").write_text(json.dumps(described))
