"""Drafts: hidden files and folders that become their target by one rename.

A draft of ``x`` is ``.x-<32 hexadecimal digits>`` in the same folder. The process that writes it
holds a lock on it, which the kernel releases when the process ends in any way. A draft without
a lock was left by a process that was killed, and is removed by the next one that writes the target.
Where a file system has no locks, leftovers stay.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import shutil
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

_SUFFIX = re.compile(r"-[0-9a-f]{32}")
_NAME_BYTES = 255 - 34  # of the target's name that the name of a draft repeats
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of linux/fcntl.h and linux/fs.h


def draft_of(path: Path) -> Path:
    """A new name for a draft of a file or folder, beside it."""
    return path.with_name(f"{_prefix(path.name)}-{uuid.uuid4().hex}")


@contextmanager
def new_draft(path: Path, *, folder: bool = False) -> Iterator[Path]:
    """An empty draft of a file or folder, locked; what is left of it at the end is removed."""
    while True:
        draft = draft_of(path)
        if folder:
            draft.mkdir()
        else:
            draft.touch(exist_ok=False)
        with held(draft) as is_ours:
            # Another process may have taken it for a leftover before the lock was there.
            if is_ours:
                try:
                    yield draft
                finally:
                    remove(draft)
                return


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold the lock of a file or folder; whether it is ours, which is so without locks, too."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    try:
        locked = _lock(descriptor)
        there = path.exists() and os.path.samestat(path.stat(), os.fstat(descriptor))
        yield locked is not False and there
    finally:
        os.close(descriptor)


def remove_leftovers(folder: Path, name: str | None = None) -> None:
    """Remove drafts that killed processes have left in a folder.

    Args:
        folder: to search.
        name: of the target. Default: drafts of all targets, for a folder that is ours alone.
    """
    with suppress(OSError):  # leftovers are no reason to fail
        for entry in list(os.scandir(folder)):
            suffix = _SUFFIX.fullmatch(entry.name[-33:])
            if suffix and entry.name.startswith("." if name is None else _prefix(name) + "-"):
                remove_if_free(Path(entry.path))


def remove_if_free(path: Path) -> None:
    """Remove a file or folder unless a process holds its lock, or there are no locks."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            if _lock(descriptor):
                remove(path)
        finally:
            os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file or folder that may be gone already."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Remove a folder by one rename: a process that is killed here leaves a leftover, no half."""
    draft = draft_of(folder)
    os.rename(folder, draft)
    shutil.rmtree(draft, ignore_errors=True)


def swap_folders(draft: Path, folder: Path) -> bool:
    """Exchange two folders in one step; ``False`` where the system or file system cannot."""
    exchange = _renameat2()
    if exchange is None:
        return False
    names = os.fsencode(draft), os.fsencode(folder)
    if exchange(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(folder))


@cache
def _renameat2() -> Any:
    """Linux's system call, which Python has no function for."""
    if sys.platform != "linux":
        return None
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is not None:
        function.argtypes = (ctypes.c_int, ctypes.c_char_p) * 2 + (ctypes.c_uint,)
    return function


def _lock(descriptor: int) -> bool | None:
    """Lock an open file; ``False`` if another process holds it, ``None`` if there are no locks."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    except OSError:  # NFS, for example, locks no folders
        return None


def _prefix(name: str) -> str:
    return "." + os.fsencode(name)[:_NAME_BYTES].decode("utf-8", "ignore")
