"""How long a reproduction took, on what and from which commit; it adds up over interruptions."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from supclust.data.files import read_json, write_json
from supclust.experiment.provenance import commit, machine, versions

RECORD_FILE = "reproduction.json"
SAVE_SECONDS = 5.0


class Record:
    """``reproduction.json`` of an outputs folder, and the session that is under way.

    A session is one call of the command. A stage is a part of the work on one data set, such as
    ``faces/grid``; its wall time is that of all sessions that had something to do in it. Work that
    an interruption threw away is in the wall time, and not in the seconds of pieces.

    Args:
        outputs: folder of the results.
        checkout: folder whose commit is written down.
        jobs: number of workers.
        overrides: settings that differ from the paper's.
    """

    def __init__(self, outputs: Path, checkout: Path, jobs: int, overrides: list[str]) -> None:
        self.path = outputs / RECORD_FILE
        known = read_json(self.path) or {}
        self.sessions: list[dict[str, Any]] = list(known.get("sessions", []))
        self.pieces: dict[str, float] = dict(known.get("piece_seconds", {}))
        self.session: dict[str, Any] = {
            "started": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%MZ"),
            "commit": commit(checkout),
            "workers": jobs,
            "overrides": overrides,
            "machine": machine(),
            "versions": versions(),
            "wall_seconds": {},
        }
        self._stage, self._began, self._saved, self._worked = "", 0.0, 0.0, False

    def begin(self, stage: str) -> None:
        """A stage starts now."""
        self._stage, self._began, self._worked = stage, time.monotonic(), False

    def finish_piece(self, name: str, seconds: float) -> None:
        """A piece of work was done, not found done."""
        self._worked = True
        self.pieces[name] = round(self.pieces.get(name, 0.0) + seconds, 2)
        self.tick(force=True)

    def tick(self, *, force: bool = False) -> None:
        """Note the wall time so far; on disk every few seconds, so that a kill loses little."""
        now = time.monotonic()
        if not self._worked and now - self._began < 2 * SAVE_SECONDS:
            return  # looking through what is there already is no work
        if force or now - self._saved >= SAVE_SECONDS:
            self._saved = now
            self.session["wall_seconds"][self._stage] = round(now - self._began, 1)
            write_json(self.path, self.content())

    def content(self) -> dict[str, Any]:
        """Everything, with the sums."""
        sessions = [*self.sessions, self.session]
        sessions = [session for session in sessions if session["wall_seconds"]]
        stages = dict.fromkeys(stage for s in sessions for stage in s["wall_seconds"])
        return {
            "stages": {stage: self._sums(stage, sessions) for stage in stages},
            "sessions": sessions,
            "piece_seconds": self.pieces,
        }

    def _sums(self, stage: str, sessions: list[dict[str, Any]]) -> dict[str, Any]:
        seconds = [value for name, value in self.pieces.items() if stage_of(name) == stage]
        return {
            "wall_seconds": round(sum(s["wall_seconds"].get(stage, 0.0) for s in sessions), 1),
            "worker_seconds": round(sum(seconds), 1),
            "pieces": len(seconds),
        }


def stage_of(piece: str) -> str:
    """The stage of a piece of work.

    >>> stage_of("faces/mst/all/0-24"), stage_of("faces/mst/rsc/0-24")
    ('faces/grid', 'faces/top_down')
    """
    dataset, _, linkage, _ = piece.split("/")
    return f"{dataset}/{'grid' if linkage == 'all' else 'top_down'}"
