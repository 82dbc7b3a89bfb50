"""Entity stores: random lives against runs from scratch, and writers that are killed."""

from __future__ import annotations

import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torture.inputs import Inputs
from torture.processes import Child

STEPS = 8


def lives(part: int) -> Callable[..., Iterator[tuple[str, str | None]]]:
    """Updates, deletions and corrections in random orders and sizes; update = batch every time."""

    def run(inputs: Inputs, cases: int, rng: random.Random) -> Iterator[tuple[str, str | None]]:
        from store_sequences import Life
        from store_tables import linear_model, persons

        _lower_limits(60, 6, 3)
        models = [linear_model(rules=None), *(linear_model(alpha=a) for a in (-0.2, 0.0, -0.5))]
        for case, seed in _seeds(part, cases, rng):
            model, records = models[case % len(models)], persons(20 + seed % 61, seed)
            yield from _lived(Life(inputs.folder / "life", model, records, seed), seed)

    return run


def historical_lives(part: int) -> Callable[..., Iterator[tuple[str, str | None]]]:
    """The same with samples of the historical records, and a model trained on some of them."""

    def run(inputs: Inputs, cases: int, rng: random.Random) -> Iterator[tuple[str, str | None]]:
        from store_historical import sample, trained
        from store_sequences import Life

        _lower_limits(100, 15, 5)
        model = trained(inputs.folder)
        if model is None:
            return
        for _, seed in _seeds(part, cases, rng):
            records = sample(100 + seed % 201, seed)
            yield from _lived(Life(inputs.folder / "life", model, records, seed), seed)

    return run


def _seeds(part: int, cases: int, rng: random.Random) -> list[tuple[int, int]]:
    """Numbers and seeds of the cases of a part, which is one of several of as many cases."""
    seeds = list(enumerate(rng.randrange(10**9) for _ in range(part * cases)))
    return seeds[(part - 1) * cases :]


def _lower_limits(pairs: int, group: int, segments: int) -> None:
    """Limits that small tables cross, in this process."""
    from supclust.resolve import table_model
    from supclust.resolve.blocking import candidates
    from supclust.store import entity_store

    table_model.ALL_PAIRS, candidates.LARGEST_GROUP = pairs, group
    entity_store.MOST_SEGMENTS = segments


def _lived(life: Any, seed: int) -> Iterator[tuple[str, str | None]]:
    done: list[str] = []
    fault = None
    try:
        while len(done) < STEPS:
            what = life.step()
            done += [] if what == "nothing" else [what]
    except Exception as error:
        fault = f"{type(error).__name__} after {done}: {str(error)[:200]}"
    shutil.rmtree(life.store.folder)
    yield f"sequence with seed {seed}", fault


def killed(action: str) -> Callable[..., Iterator[tuple[str, str | None]]]:
    """Kill a writer at a random time: the store opens, and is the old or the new version."""

    def run(inputs: Inputs, cases: int, rng: random.Random) -> Iterator[tuple[str, str | None]]:
        folder = inputs.folder / f"killed-{action}"
        folder.mkdir(parents=True)
        _must(lambda: create_store(folder / "old"))
        shutil.copytree(folder / "old", folder / "new")
        _must(lambda: change_store(folder / "new", action))
        shutil.copytree(folder / "old", folder / "again")
        seconds = _must(
            lambda: change_store(folder / "again", action)
        )  # compiled code is cached now
        for case in range(cases):
            shutil.copytree(folder / "old", folder / "store")
            child = Child(lambda: change_store(folder / "store", action))
            time.sleep(rng.uniform(0, 1.2 * seconds))
            child.send(signal.SIGKILL)
            child.wait()
            check = Child(lambda: _check(folder, action))
            fault = None if check.wait() == 0 else f"case {case}: {check.shown[-300:]}"
            yield f"kill -9 in {action} ({'ended' if child.code == 0 else 'killed'})", fault
            shutil.rmtree(folder / "store")

    return run


def _must(action: Callable[[], int]) -> float:
    """Seconds of an action in a child, which must succeed."""
    began = time.monotonic()
    child = Child(action)
    if child.wait() != 0:
        raise RuntimeError(child.shown[-300:])
    return time.monotonic() - began


def create_store(folder: Path) -> int:
    """Make a store of persons."""
    from store_tables import linear_model, persons, table_of
    from supclust import EntityStore

    EntityStore.create(folder, table_of(persons(300, 1)[:-100]), linear_model())
    return 0


def change_store(folder: Path, action: str) -> int:
    """Make the second version of the store, unless it is there."""
    from store_tables import persons, table_of
    from supclust import EntityStore

    store, records = EntityStore.open(folder), persons(300, 1)
    if store.version > 1:
        return 0
    if action == "update":
        store.update(table_of(records[-100:]), delete=[one["id"] for one in records[:20]])
    else:
        pairs = [(a["id"], b["id"]) for a, b in zip(records[:9], records[9:18], strict=True)]
        store.correct(together=pairs)
    return 0


def check_store(folder: Path, complete: bool = False) -> int:
    """The store is one of the two versions, the new one if the change is complete."""
    from store_tables import clusters_of
    from supclust import EntityStore

    store = EntityStore.open(folder / "store")
    same = EntityStore.open(folder / ("old" if store.version == 1 else "new"))
    if clusters_of(store) != clusters_of(same) or (complete and store.version != 2):
        raise AssertionError(f"version {store.version} is neither the old nor the new store")
    return 0


def _check(folder: Path, action: str) -> int:
    """The store is one of the two versions; what was not done can be done; nothing is left."""
    from store_tables import clusters_of
    from supclust import EntityStore

    check_store(folder)
    new = clusters_of(EntityStore.open(folder / "new"))
    if EntityStore.open(folder / "store").version == 1:
        change_store(folder / "store", action)
    store = EntityStore.open(folder / "store")
    if store.version != 2 or clusters_of(store) != new:
        raise AssertionError("the change, made again, gives another store")
    store.update(delete=[next(iter(new))])
    found = {path.name for path in folder.joinpath("store").iterdir()}
    if found != {".lock", "model", "segments", "store.json"}:
        raise AssertionError(f"left behind: {found}")
    if len(list((folder / "store" / "segments").iterdir())) != 3:
        raise AssertionError("segments are left behind")
    return 0
