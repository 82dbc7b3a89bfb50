"""What a version of a store changed, and how it is reported."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from supclust.store.folder.segments import SCHEMAS

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
