"""How far a job is: a number and words in a small file, for whoever watches from elsewhere."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

SUFFIX = ".progress"
WRITE_SECONDS = 1.0
# Where each stage begins and ends, as shares of a job's time; measured roughly, for a bar.
STAGES = {"training": (0.0, 0.7), "alpha": (0.7, 0.85), "evaluation": (0.85, 1.0)}


class Note(NamedTuple):
    """How far a job is.

    Attributes:
        share: of its work that is done, 0 to 1.
        words: the same for a person, as in ``epoch 120/5000, 12/50 splits done``.
    """

    share: float
    words: str


class JobProgress:
    """Writes how far a job is, at most once a second.

    Args:
        path: of the file; ``None``: nobody watches, nothing is written.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._written = 0.0

    def note(self, stage: str, share: float, words: str = "") -> None:
        """Say which share, 0 to 1, of a stage is done, and what a person is to read of it."""
        now = time.monotonic()
        if self.path is None or now - self._written < WRITE_SECONDS:
            return
        self._written = now
        begin, end = STAGES[stage]
        draft = self.path.with_name(f".{self.path.name}")
        try:
            done = begin + (end - begin) * min(max(share, 0.0), 1.0)
            draft.write_text(f"{done:.4f} {words}")
            draft.replace(self.path)
        except OSError:
            self.path = None  # a full disk or a removed folder must not end a training


def read_progress(folder: Path) -> dict[int, Note]:
    """Notes of the jobs that wrote any, by number; half-written files are left out."""
    found = {}
    for path in folder.glob(f"[0-9]*{SUFFIX}"):
        try:
            share, _, words = path.read_text().partition(" ")
            found[int(path.stem)] = Note(float(share), words)
        except (OSError, ValueError):
            continue
    return found
