"""The error of readers: what is wrong, in which file, on which line."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path


class DataError(ValueError):
    """A user's data that cannot be used as they are.

    The message starts with ``file:line:`` (as a compiler's does) where these are known.
    """

    def __init__(self, problem: str, path: str | Path | None = None, line: int | None = None):
        """Compose the message and keep its parts."""
        self.problem = problem
        self.path = None if path is None else Path(path)
        self.line = line
        prefix = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(prefix + problem)


def require_file(path: str | Path) -> Path:
    """The path, refused where there is no such file."""
    if Path(path).is_dir():
        raise DataError("is a folder; name a file", path)
    if not Path(path).exists():
        raise missing(path)
    return Path(path)


def missing(path: str | Path) -> DataError:
    """The error for a path that does not exist, with names that look like it."""
    given = Path(path)
    # The first part of the path that does not exist: the mistake may be in a folder's name.
    broken = given
    while not broken.parent.exists():
        broken = broken.parent
    beside = [entry.name for entry in broken.parent.iterdir()] if broken.parent.is_dir() else []
    close = get_close_matches(broken.name, beside, n=3)
    guess = f" Did you mean {' or '.join(str(broken.parent / name) for name in close)}?"
    where = "" if given.is_absolute() else f" below {Path.cwd()}"
    return DataError(f"no such file or folder{where}.{guess if close else ''}", path)
