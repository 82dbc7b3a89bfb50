"""Errors in words: of readers, with file and line, and of the system, with what to do next."""

from __future__ import annotations

import errno
import os
import sys
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


class UnfinishedError(RuntimeError):
    """Work that others did for this process, as on a cluster, was not finished."""


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def system_error(error: BaseException) -> tuple[str, int] | None:
    """Message and exit code of an error of files or memory; ``None`` for any other.

    The code is 2 for a path that cannot be used, and 1 for a fault in the middle of the work: a
    full disk, an error of a device, no memory.
    """
    if isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)  # torch
    ):
        received = (str(error).splitlines() or [""])[0]
        return (
            f"the system refused more memory{f' ({received})' if received else ''}. Use smaller "
            "blocks, or a machine or limit with more memory, and run the same command again."
        ), 1
    if isinstance(error, UnfinishedError):
        return str(error), 1
    if not isinstance(error, OSError):
        return None
    name = f"{error.filename}: " if error.filename is not None else ""
    reason = name + (error.strerror or str(error) or type(error).__name__)
    if error.errno in _FULL:
        return (
            f"{reason}. Free some space, or choose another output, and run the same command again."
        ), 1
    return f"{reason}. Choose another path.", 1 if error.errno == errno.EIO else 2


def flush_stdout() -> None:
    """Write what is printed; a closed pipe (``| head``) or a full disk is no further error."""
    try:
        sys.stdout.flush()
    except OSError:
        # Python flushes stdout once more when it exits; that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def require_file(path: str | Path) -> Path:
    """The path, refused where there is no such file."""
    path = Path(path)
    if path.is_dir():
        raise DataError("is a folder; name a file", path)
    if not path.exists():
        raise missing(path)
    if not path.is_file():
        raise DataError(
            "is a pipe or a device, which cannot be read twice; save its content as a file", path
        )
    return path


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
