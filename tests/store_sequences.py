"""Random lives of a store: after every step it must equal the run from scratch."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pyarrow as pa

from store_tables import clusters_of, from_scratch, partition
from supclust import EntityStore
from supclust.store.changes import EVENTS


def all_links(pairs_together, pairs_apart, present):
    """All pairs of present records that constraints imply, by brute force."""
    groups: list[set[str]] = []
    for a, b in pairs_together:
        joined = {a, b}.union(*(group for group in groups if group & {a, b}))
        groups = [group for group in groups if not group & joined] + [joined]

    def group_of(id):
        return next((group for group in groups if id in group), {id})

    together = [p for group in groups for p in combinations(sorted(group & present), 2)]
    apart = [
        pair
        for a, b in pairs_apart
        for pair in product(group_of(a) & present, group_of(b) & present)
    ]
    return together, apart


class Life:
    """A store and what it should hold.

    Args:
        folder: for the store.
        model: of the records.
        records: pool to draw from; each has an ``id``.
        seed: of everything.
        first: share of the pool that the store begins with.
    """

    def __init__(self, folder: Path, model, records, seed: int, first: float | None = None):
        self.rng = np.random.default_rng(seed)
        self.pool = [dict(one) for one in records]
        self.rng.shuffle(self.pool)
        share = self.rng.uniform(0.05, 0.9) if first is None else first
        start = max(2, int(len(self.pool) * share))
        self.here = {one["id"]: one for one in self.pool[:start]}
        self.waiting = self.pool[start:]
        self.names = list(records[0])
        self.store = EntityStore.create(folder, self.table(self.here.values()), model, id="id")
        self.corrections: list[tuple[str, str, str] | None] = []
        self.used = set(clusters_of(self.store).values())

    def table(self, records) -> pa.Table:
        records = list(records)
        return pa.table({n: pa.array([r[n] for r in records], pa.string()) for n in self.names})

    def step(self) -> str:
        """One random change; returns what it was."""
        before, members = clusters_of(self.store), {}
        for id, cluster in before.items():
            members.setdefault(cluster, set()).add(id)
        kind = self.rng.choice(["update", "update", "correct", "undo"])
        self.events = ()
        done = getattr(self, f"_{kind}")()
        after = clusters_of(self.store)
        self._check_partition(after, done)
        self._check_ids(members, after)
        self._check_log(before, after)
        if self.rng.random() < 0.3:
            again = EntityStore.open(self.store.folder)
            assert clusters_of(again) == after
            self.store = again
        return done

    def _update(self) -> str:
        rng = self.rng
        size = int(rng.choice([1, 3, 20, 100]))
        new, self.waiting = self.waiting[:size], self.waiting[size:]
        ids = sorted(self.here)
        changed = []
        for id in rng.choice(ids, min(len(ids), int(rng.integers(0, 6))), replace=False).tolist():
            source = self.pool[rng.integers(len(self.pool))]
            column = self.names[rng.integers(1, len(self.names))]
            changed.append({**self.here[id], column: source[column]})
        rest = sorted(set(ids) - {one["id"] for one in changed})
        most = min(len(rest) - 1, int(rng.choice([0, 0, 1, 5, 30])))
        gone = rng.choice(rest, most, replace=False).tolist() if most > 0 else []
        batch = [*new, *changed]
        rng.shuffle(batch)
        self.events = self.store.update(self.table(batch) if batch else None, delete=gone).events
        for id in gone:
            self.waiting.append(self.here.pop(id))  # it may come back
        self.here |= {one["id"]: one for one in batch}
        return f"update +{len(new)} ~{len(changed)} -{len(gone)}"

    def _correct(self) -> str:
        rng, now = self.rng, clusters_of(self.store)
        ids = sorted(self.here)
        a = ids[rng.integers(len(ids))]
        mates = sorted(id for id in ids if now[id] == now[a] and id != a)
        if mates and rng.random() < 0.5:
            kind, b = "apart", mates[rng.integers(len(mates))]
        else:
            kind, b = "together", ids[rng.integers(len(ids))]
        if a == b:
            return "nothing"
        version = self.store.version
        try:
            self.events = self.store.correct(**{kind: [(a, b)]}).events
        except ValueError as problem:
            if "contradict" not in str(problem) or self.store.version != version:
                raise
            return "refused"
        self.corrections.append((kind, a, b))
        return f"{kind} {a} {b}"

    def _undo(self) -> str:
        active = [k for k, one in enumerate(self.corrections) if one is not None]
        if not active:
            return "nothing"
        k = active[-1] if self.rng.random() < 0.5 else int(self.rng.choice(active))
        self.events = self.store.correct(undo=k + 1 if k != active[-1] else True).events
        self.corrections[k] = None
        return "undo"

    def _check_partition(self, after, done) -> None:
        active = [one for one in self.corrections if one is not None]
        links = all_links(
            *([(a, b) for kind, a, b in active if kind == k] for k in ("together", "apart")),
            set(self.here),
        )
        shuffled = list(self.here.values())
        self.rng.shuffle(shuffled)
        wanted = from_scratch(self.table(shuffled), self.store.model, *links)
        assert partition(after) == partition(wanted), done

    def _check_ids(self, members, after) -> None:
        """Clusters of the same records keep their id; ids that were used are not used again."""
        now: dict[int, set[str]] = {}
        for id, cluster in after.items():
            now.setdefault(cluster, set()).add(id)
        same = {frozenset(group): cluster for cluster, group in members.items()}
        for cluster, group in now.items():
            assert same.get(frozenset(group), cluster) == cluster, (
                "an unchanged cluster lost its id"
            )
        assert not (set(now) - set(members)) & self.used, "an id was used again"
        self.used |= set(now)

    def _check_log(self, before, after) -> None:
        """The events lead from the clusters before to those after."""
        told = dict(before)
        for one in self.events:
            if one.event == "deleted":
                assert told.pop(one.record) == one.other
            elif one.event == "moved":
                assert told[one.record] == one.other
                told[one.record] = one.cluster
            elif one.event == "added":
                assert one.record not in told
                told[one.record] = one.cluster
        assert told == after
        found = {k: {e.cluster for e in self.events if e.event == k} for k in EVENTS}
        assert found["created"] | found["split"] == set(after.values()) - set(before.values())
        assert found["retired"] == set(before.values()) - set(after.values())
