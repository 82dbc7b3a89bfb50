"""What a version of a store changed: the events of its log, and a summary of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.store.folder.segments import SCHEMAS

Ints = NDArray[np.int64]

EVENTS = {
    "added": "a record is new",
    "changed": "a record has other values",
    "deleted": "a record is gone",
    "created": "a cluster has records that were in none",
    "joined": "a new record is in a cluster that was there",
    "merged": "all of another cluster is in this one, and its id is retired",
    "split": "a cluster has records of another, which goes on",
    "moved": "a record is in another cluster than before",
    "retired": "the id of a cluster is used no more",
    "together": "two records must be in one cluster",
    "apart": "two records must not be in one cluster",
    "undone": "a correction is taken back",
}
"""Events of the log."""


class Event(NamedTuple):
    """A line of the log; what does not apply is ``None``.

    Attributes:
        event: of `EVENTS`.
        cluster: that it is about, after the change.
        other: another cluster: merged into it, split from, or the former one of a record.
        record: id.
        other_record: id, of a constraint.
    """

    event: str
    cluster: int | None = None
    other: int | None = None
    record: str | None = None
    other_record: str | None = None


@dataclass(frozen=True)
class Changes:
    """The changes of one version.

    Attributes:
        version: of the store after them.
        time: when, ISO 8601, UTC.
        command: which made them.
        events: in order.
        scored: pairs that were compared.
        touched: records that were clustered again.
    """

    version: int
    time: str
    command: str
    events: tuple[Event, ...]
    scored: int = 0
    touched: int = 0

    @property
    def table(self) -> Any:
        """The rows of the log, as a table of pyarrow."""
        import pyarrow as pa

        n = len(self.events)
        columns = list(zip(*self.events, strict=True)) or [()] * len(Event._fields)
        return pa.table(
            [[self.version] * n, [self.time] * n, [self.command] * n, *map(list, columns)],
            schema=SCHEMAS["log"],
        )

    def count(self, event: str) -> int:
        """Number of events of a kind."""
        return Counter(one.event for one in self.events)[event]

    def __str__(self) -> str:
        """As in ``version 2: 3 records added; clusters: 1 created, 2 merged``."""
        counts = Counter(one.event for one in self.events)
        records = [f"{counts[k]:,} {k}" for k in ("added", "changed", "deleted") if counts[k]]
        links = [f"{counts[k]:,} {k}" for k in ("together", "apart", "undone") if counts[k]]
        clusters = [f"{counts[k]:,} {k}" for k in ("created", "merged", "split") if counts[k]]
        several = "record" if counts["moved"] == 1 else "records"
        moved = [f"{counts['moved']:,} {several} moved"] if counts["moved"] else []
        parts = [
            *(["records: " + ", ".join(records)] if records else []),
            *(["corrections: " + ", ".join(links)] if links else []),
            *(["clusters: " + ", ".join(clusters)] if clusters else []),
            *moved,
        ]
        return f"version {self.version}: " + ("; ".join(parts) or "nothing changed")


class Moves(NamedTuple):
    """Records that were clustered again.

    Attributes:
        ids: of the records.
        before: former cluster of each; -1: it was in none.
        after: cluster of each.
        deleted: records that are gone -> their former cluster.
        new: ids of records that were not there.
        changed: ids of records that have other values.
    """

    ids: list[str]
    before: Ints
    after: Ints
    deleted: Mapping[str, int]
    new: frozenset[str]
    changed: frozenset[str]


def events_of(moves: Moves) -> list[Event]:
    """The events: those of records, then those of clusters."""
    before, after = moves.before.tolist(), moves.after.tolist()
    events = [Event("deleted", None, cluster, id) for id, cluster in moves.deleted.items()]
    former = {*before, *moves.deleted.values()} - {-1}
    for id, old, now in zip(moves.ids, before, after, strict=True):
        if id in moves.new:
            events.append(Event("added", now, None, id))
            if now in former:
                events.append(Event("joined", now, None, id))
        elif id in moves.changed:
            events.append(Event("changed", now, old, id))
        if old not in (now, -1):
            events.append(Event("moved", now, old, id))
    present = set(after)
    sources: dict[int, set[int]] = {}
    heirs: dict[int, set[int]] = {}
    for old, now in zip(before, after, strict=True):
        if old != -1:
            sources.setdefault(now, set()).add(old)
            heirs.setdefault(old, set()).add(now)
    for cluster in sorted(present - former):
        if cluster not in sources:
            events.append(Event("created", cluster))
        events += [Event("split", cluster, old) for old in sorted(sources.get(cluster, ()))]
    for old in sorted(former - present):
        into = sorted(heirs.get(old, ()))
        events += [Event("merged", cluster, old) for cluster in into if len(into) == 1]
        events.append(Event("retired", old))
    return events
