"""What happened to clusters and records between two versions, as events of the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supclust.store.changes import Event

Ints = NDArray[np.int64]


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
