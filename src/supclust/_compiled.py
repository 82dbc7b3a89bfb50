"""Forget compiled code that a change of the sources has outdated.

Numba notices a change of the file a kernel stands in, but not of the files that kernel calls: after
an update of a checkout the old code would go on working inside the new one.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def forget_outdated(package: Path) -> list[Path]:
    """Delete Numba's indices beside the sources that are older than a source with kernels.

    Args:
        package: Folder of the package, whose folders hold the sources.

    Returns:
        What was deleted; Numba compiles it again when it is needed.
    """
    folders = []
    for folder, names, _ in os.walk(package):
        names[:] = [name for name in names if name != "__pycache__"]
        folders.append(Path(folder))
    indices = [index for folder in folders for index in _dated(folder / "__pycache__", ".nbi")]
    if not indices:
        return []
    oldest = min(time for time, _ in indices)
    sources = [source for folder in folders for source in _dated(folder, ".py")]
    # Most sources have no kernels, but only those that changed need to be looked into.
    changed = max(
        (time for time, path in sources if time > oldest and b"numba" in path.read_bytes()),
        default=oldest,
    )
    outdated = [path for time, path in indices if time < changed]
    for path in outdated:
        path.unlink(missing_ok=True)  # another process may have come first
    return outdated


def _dated(folder: Path, ending: str) -> list[tuple[float, Path]]:
    """Files with their times; none of a folder that Numba could not have written to for us."""
    if not os.access(folder, os.W_OK):
        return []
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(ending):
                with suppress(FileNotFoundError):  # as above
                    found.append((entry.stat().st_mtime, Path(entry.path)))
    return found
