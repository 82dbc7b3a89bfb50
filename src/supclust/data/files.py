"""Text files to read, and files and folders that are written completely or not at all.

Content is written to a draft beside the target, flushed to disk and renamed. Drafts are made by
`open`, not by `tempfile`, so that files get the permissions of the process's umask.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import shutil
import uuid
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from zipfile import BadZipFile

from supclust.data.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INFINITIES = {"inf": math.inf, "-inf": -math.inf}
_SWAP_ATTEMPTS = 5


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Path of a draft to write; it is renamed to ``path`` at the end, or deleted after an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = _draft_of(path)
    try:
        yield draft
        with draft.open("rb") as stream:
            os.fsync(stream.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def atomic_folder(folder: Path, *, replace: bool = True) -> Iterator[Path]:
    """Path of a draft folder to fill; it is renamed to ``folder`` at the end.

    Args:
        folder: the target. Where several processes write it at once, one of the drafts remains.
        replace: whether a folder that is there already is replaced, or the draft is discarded.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft, replaced = _draft_of(folder), _draft_of(folder)
    draft.mkdir()
    try:
        yield draft
        for attempt in range(_SWAP_ATTEMPTS):
            try:
                os.rename(draft, folder)
                return
            except OSError:
                if not folder.is_dir() or attempt == _SWAP_ATTEMPTS - 1:
                    raise
            if not replace:
                return
            try:
                os.rename(folder, replaced)
            except FileNotFoundError:
                continue  # another process moved it away in the meantime
            shutil.rmtree(replaced)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def open_text(path: Path) -> IO[str]:
    """Open a text file to read, plain or gzip."""
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline=None)
    return path.open(encoding="utf-8")


def load_npz(path: Path, names: Collection[str]) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Those arrays of an ``.npz`` file that have these names, and the names of all its arrays."""
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in names if name in archive}, list(archive)
    except (OSError, BadZipFile, ValueError, EOFError) as problem:
        raise DataError(f"cannot be read as a NumPy .npz file ({problem})", path) from problem


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically; its folder is made if needed."""
    with atomic_file(path) as draft:
        draft.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, as UTF-8 with the line ends of ``text``."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file atomically; infinities become "inf" and "-inf", NaN becomes null."""
    write_text(path, json.dumps(_encoded(value), indent=1, allow_nan=False) + "\n")


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object; ``None`` where the file is absent, cut off or something else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return _decoded(value) if isinstance(value, dict) else None


def _draft_of(path: Path) -> Path:
    return path.with_name(f".{path.name}-{uuid.uuid4().hex}")


def _encoded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _encoded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encoded(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _decoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    return _INFINITIES.get(value, value) if isinstance(value, str) else value
