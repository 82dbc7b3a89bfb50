"""The one error a reader raises: what is wrong, in which file, on which line."""

from __future__ import annotations

from pathlib import Path


class DataError(ValueError):
    """A user's data that cannot be used as they are.

    The message starts with ``file:line:`` (as a compiler's does) where the place is known.
    """

    def __init__(self, problem: str, path: str | Path | None = None, line: int | None = None):
        """Compose the message and keep its parts."""
        self.problem = problem
        self.path = None if path is None else Path(path)
        self.line = line
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + problem)
