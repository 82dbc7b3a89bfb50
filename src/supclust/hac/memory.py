"""Refuse a matrix that cannot fit in memory before anything is allocated."""

from __future__ import annotations

import os
from pathlib import Path

from supclust.hac.cpu.workspace import release

_ALWAYS_FITS = 2**24


def available_bytes() -> int | None:
    """Return the memory this process can still take, or None where the system does not say."""
    limits = [limit for limit in (_machine_limit(), _container_limit()) if limit is not None]
    return min(limits, default=None)


def _machine_limit() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:  # not Linux
        if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _container_limit() -> int | None:
    group = Path("/sys/fs/cgroup")
    try:
        most = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
    except OSError:  # no container, or one of another kind
        return None
    return None if most == "max" else int(most) - used


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
