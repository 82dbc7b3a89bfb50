"""Folders that an interrupted fetch has left: not to be taken for a data set."""

from __future__ import annotations

import shutil
from pathlib import Path

DOWNLOADS = "downloads"
"""Subfolder for files that are not yet in the layout of a reader."""

MARK = "FETCH-INCOMPLETE.txt"


def begin(folder: Path, name: str) -> None:
    """Mark a folder as incomplete unless it holds data already: more files do not harm those."""
    folder.mkdir(parents=True, exist_ok=True)
    if is_unfinished(folder) or not any(folder.iterdir()):
        text = f"This download is not complete. To resume it: supclust data fetch {name}\n"
        (folder / MARK).write_text(text, encoding="utf-8")


def give_up(folder: Path) -> None:
    """Leave an interrupted fetch as it is; one that got nothing at all leaves nothing."""
    mark = folder / MARK
    if mark.is_file() and not any(p.is_file() and p != mark for p in folder.rglob("*")):
        for entry in folder.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)
        mark.unlink()
        folder.rmdir()


def end(folder: Path) -> None:
    """Take the mark away: everything has arrived."""
    (folder / MARK).unlink(missing_ok=True)


def is_unfinished(folder: Path) -> bool:
    """Whether what a folder holds comes from a fetch that has not ended.

    >>> is_unfinished(Path("no such folder"))
    False
    """
    if (folder / MARK).is_file():
        return True
    return folder.is_dir() and [entry.name for entry in folder.iterdir()] == [DOWNLOADS]


def how_to_resume(folder: Path, name: str) -> str:
    """What to tell a person about an unfinished folder."""
    return (
        f"{folder} holds an interrupted download, which is not used; "
        f"`supclust data fetch {name} --data {folder.parent}` resumes it"
    )
