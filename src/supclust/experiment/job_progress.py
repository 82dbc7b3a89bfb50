"""How far a job is: a number in a small file, for whoever watches from another process."""

from __future__ import annotations

import time
from pathlib import Path

SUFFIX = ".progress"
WRITE_SECONDS = 1.0
# Where each stage begins and ends, as shares of a job's time; measured roughly, for a bar.
STAGES = {"training": (0.0, 0.7), "alpha": (0.7, 0.85), "evaluation": (0.85, 1.0)}


class JobProgress:
    """Writes how far a job is, at most once a second.

    Args:
        path: of the file; ``None``: nobody watches, nothing is written.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._written = 0.0

    def note(self, stage: str, share: float) -> None:
        """Say which share, 0 to 1, of a stage is done."""
        now = time.monotonic()
        if self.path is None or now - self._written < WRITE_SECONDS:
            return
        self._written = now
        begin, end = STAGES[stage]
        draft = self.path.with_name(f".{self.path.name}")
        try:
            draft.write_text(f"{begin + (end - begin) * min(max(share, 0.0), 1.0):.4f}")
            draft.replace(self.path)
        except OSError:
            self.path = None  # a full disk or a removed folder must not end a training


def read_progress(folder: Path) -> dict[int, float]:
    """Shares of the jobs that wrote any, by number; half-written files are left out."""
    found = {}
    for path in folder.glob(f"[0-9]*{SUFFIX}"):
        try:
            found[int(path.stem)] = float(path.read_text())
        except (OSError, ValueError):
            continue
    return found
