"""Memory of a tree: what the system can still give, and workspaces kept from call to call.

A tree destroys one or two matrices. Fresh pages from the system take longer to touch for the first
time than the tree takes, so each thread keeps its workspaces. The pages of a large one are returned
lazily after the call (MADV_FREE): they stay in place until the system needs them. Nothing here is
public.
"""

from __future__ import annotations

import mmap
import os
import threading
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_ALWAYS_FITS = 2**24
_KEPT_BYTES = 2**26  # kept as they are: the two matrices of 2,000 points in float64
_LARGEST_SHARE = 0.25  # of the machine's memory; larger workspaces are allocated for one call


class _Kept(threading.local):
    """Workspaces of one thread by purpose, and which of them a large tree has filled."""

    def __init__(self) -> None:
        self.pages: dict[str, mmap.mmap] = {}
        self.filled: set[str] = set()


_kept = _Kept()


def workspace(purpose: str, numbers: int, dtype: np.dtype[np.generic]) -> NDArray[np.floating]:
    """Return an uninitialised array; this thread's next call may return the same memory.

    Args:
        purpose: Name of the workspace; those of different names do not overlap.
        numbers: Length of the array.
        dtype: Its float type.
    """
    needed = numbers * dtype.itemsize
    if needed == 0 or needed > _largest():
        return np.empty(numbers, dtype)
    pages = _kept.pages.get(purpose)
    if pages is None or len(pages) < needed:
        pages = None
        _kept.pages.pop(purpose, None)  # freed first: the old and the new need not coexist
        pages = mmap.mmap(-1, needed, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        with suppress(OSError):  # a system without large pages
            pages.madvise(mmap.MADV_HUGEPAGE)
        _kept.pages[purpose] = pages
    if needed > _KEPT_BYTES:
        _kept.filled.add(purpose)
    return np.frombuffer(pages, np.uint8)[:needed].view(dtype)


def return_large_workspaces() -> None:
    """Return the workspaces that large trees filled lazily to the system; contents are lost.

    Once: a small tree afterwards does not pay again for a mapping of gigabytes.
    """
    for purpose in _kept.filled & _kept.pages.keys():
        with suppress(OSError):  # locked pages stay in memory
            _kept.pages[purpose].madvise(mmap.MADV_FREE)
    _kept.filled.clear()


def release() -> None:
    """Free this thread's workspaces at once, except arrays that are in use."""
    _kept.pages.clear()
    _kept.filled.clear()


@lru_cache(maxsize=1)
def _largest() -> float:
    """Bytes that a kept workspace has at most; 0 where pages cannot be returned lazily."""
    if not hasattr(mmap, "MADV_FREE") or not hasattr(mmap, "MADV_HUGEPAGE"):
        return 0.0
    return _LARGEST_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def available_bytes() -> int | None:
    """Return the memory this process can still take, or None where the system does not say."""
    limits = [_machine_limit(), _address_space_limit(), *container_limits()]
    return min((limit for limit in limits if limit is not None), default=None)


def _machine_limit() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:  # not Linux
        if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _address_space_limit() -> int | None:
    """What ``ulimit -v`` leaves."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError):  # not Linux
        return None
    return None if most == resource.RLIM_INFINITY else max(0, most - used)


def container_limits(
    groups: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")
) -> list[int]:
    """Bytes that the control groups of this process leave, those around them included.

    Args:
        groups: lists the groups: ``0::/a/b`` in version 2, ``5:memory:/a/b`` in version 1.
        mount: where they are mounted. Inside a container its own group is often the root there.
    """
    try:
        lines = [line.split(":", 2) for line in groups.read_text().splitlines()]
    except OSError:  # not Linux
        lines = []
    limits = []
    for controllers, name in [("", "/"), *((one[1], one[2]) for one in lines if len(one) == 3)]:
        folder = Path(name.lstrip("/"))
        for level in (folder, *folder.parents):
            if controllers == "":
                limits.append(_left(mount / level, "memory.max", "memory.current"))
            if controllers in ("", "memory"):
                v1 = ("memory.limit_in_bytes", "memory.usage_in_bytes")
                limits.append(_left(mount / "memory" / level, *v1))
    return [limit for limit in limits if limit is not None]


def _left(group: Path, most: str, used: str) -> int | None:
    """Bytes that one control group leaves; files that it has read can make way."""
    try:
        limit = int((group / most).read_text())  # "max": ValueError
        taken = int((group / used).read_text())
        statistics = dict(map(str.split, (group / "memory.stat").read_text().splitlines()))
        reclaimable = statistics.get("total_inactive_file") or statistics.get("inactive_file", "0")
        return max(0, limit - taken + int(reclaimable))
    except (OSError, ValueError):
        return None


def require_memory(needed: int, purpose: str) -> None:
    """Raise ValueError if ``needed`` bytes are more than what is available."""
    if needed < _ALWAYS_FITS:  # asking the system takes longer than a small tree
        return
    available = available_bytes()
    if available is not None and needed > available:
        release()  # workspaces of earlier trees may be counted as used
        available = available_bytes()
    if available is not None and needed > available:
        raise ValueError(
            f"{purpose} needs {needed / 2**30:.1f} GiB of memory; {available / 2**30:.1f} GiB are "
            "available. Use float32, cluster smaller blocks, or take a machine with more memory."
        )
