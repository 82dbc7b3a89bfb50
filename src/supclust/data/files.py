"""Text files to read, and files and folders that are written completely or not at all.

Content is written to a draft beside the target, flushed to disk and renamed; see
`supclust.data.drafts`. Drafts are not made by `tempfile`, so that files get the permissions of the
process's umask.
"""

from __future__ import annotations

import errno
import fnmatch
import gzip
import io
import json
import math
import os
import re
import shutil
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from zipfile import BadZipFile

from supclust.data.drafts import new_draft, remove_folder, remove_leftovers, swap_folders
from supclust.data.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INFINITIES = {"inf": math.inf, "-inf": -math.inf}
_LONGEST_SUFFIX = ".partial"  # that is added to the name of an output
_INFINITY_TEXT = re.compile(r"\\*-?inf")
_SWAP_ATTEMPTS = 5
_CANNOT_RENAME = (errno.EBUSY, errno.EXDEV, errno.EINVAL, errno.EACCES, errno.EPERM)


def require_output(path: Path) -> None:
    """Refuse, before any work is done, a file or folder that cannot be written."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise DataError("is a pipe or a device; choose a file or folder", path)
        if path.is_dir():
            with new_draft(path / "output"):
                return
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_draft(path):
            path.with_name(path.name + _LONGEST_SUFFIX).exists()
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise DataError(f"cannot be written ({reason}); choose another output", path) from None


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Path of a draft to write; it is renamed to ``path`` at the end, or deleted after an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent, path.name)
    with new_draft(path) as draft:
        yield draft
        with draft.open("rb") as stream:
            os.fsync(stream.fileno())
        os.replace(draft, path)


@contextmanager
def atomic_folder(folder: Path, *, replace: bool = True) -> Iterator[Path]:
    """Path of a draft folder to fill; it is renamed to ``folder`` at the end.

    Args:
        folder: the target. Where several processes write it at once, one of the drafts remains.
        replace: whether a folder that is there already is replaced, or the draft is discarded.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with new_draft(folder, folder=True) as draft:
        yield draft
        for attempt in range(_SWAP_ATTEMPTS):
            try:
                os.rename(draft, folder)
                break
            except OSError:
                if not folder.is_dir() or attempt == _SWAP_ATTEMPTS - 1:
                    raise
            # Where folders cannot be exchanged, the old one has another name for a moment.
            try:
                if not replace or swap_folders(draft, folder):
                    break
                remove_folder(folder)
            except FileNotFoundError:
                continue  # another process moved it away in the meantime
        # Only now: among the leftovers may be the one complete folder.
        remove_leftovers(folder.parent, folder.name)


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files of a folder, all of them or none; further files in it are kept.

    The folder is replaced as a whole. One that cannot be renamed, such as a mount point, is written
    file by file, in the order of ``files``.
    """
    folder = folder.resolve()
    try:
        with atomic_folder(folder) as draft:
            for name, content in files.items():
                write_bytes(draft / name, content)
            _keep_others(folder, draft, files)
    except OSError as problem:
        if problem.errno not in _CANNOT_RENAME or not folder.is_dir():
            raise
        for name, content in files.items():
            write_bytes(folder / name, content)


def _keep_others(folder: Path, draft: Path, names: Collection[str]) -> None:
    """Link everything of a folder into its draft but these files and leftovers of theirs."""

    def link(source: str, target: str) -> None:
        try:
            os.link(source, target, follow_symlinks=False)
        except OSError:
            shutil.copy2(source, target, follow_symlinks=False)

    for name in names:
        remove_leftovers(folder, name)
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, draft / path.name, symlinks=True, copy_function=link)
        elif path.name not in names:
            link(str(path), str(draft / path.name))


def files_below(folder: Path, pattern: str) -> list[Path]:
    """Files of such names below a folder, in order; folders that vanish on the way are no error.

    Another run may be swapping drafts in and out at the same time, on which ``Path.rglob`` raises.
    """
    files = (
        Path(root, name)
        for root, _, names in os.walk(folder)
        for name in fnmatch.filter(names, pattern)
    )
    return sorted(files)


def open_text(path: Path) -> IO[str]:
    """Open a text file to read, plain or gzip."""
    if path.suffix == ".gz":
        return io.TextIOWrapper(_GzipFile(path), encoding="utf-8", newline=None)
    return path.open(encoding="utf-8")


class _GzipFile(gzip.GzipFile):
    """Raises `DataError` for damaged content, and not errors of zlib."""

    def read1(self, size: int = -1) -> bytes:
        try:
            return super().read1(size)
        except (zlib.error, EOFError, gzip.BadGzipFile) as problem:
            raise DataError(f"is damaged ({problem}); compress it again", self.name) from None


def load_npz(path: Path, names: Collection[str]) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Those arrays of an ``.npz`` file that have these names, and the names of all its arrays."""
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in names if name in archive}
            for name, array in arrays.items():
                if not isinstance(array, np.ndarray):
                    raise ValueError(f"its member {name!r} is not an array")
            return arrays, list(archive)
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
    write_text(path, json_text(value))


def json_text(value: Mapping[str, Any]) -> str:
    r"""A JSON object; infinities become "inf" and "-inf", NaN null, the text inf "\\\\inf"."""
    return json.dumps(_encoded(value), indent=1, allow_nan=False) + "\n"


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object; ``None`` where the file is absent, cut off or something else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    content: dict[str, Any] = decoded(value)
    return content


def _encoded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _encoded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encoded(item) for item in value]
    if isinstance(value, str) and _INFINITY_TEXT.fullmatch(value):
        return "\\" + value  # a column may be called inf
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def decoded(value: Any) -> Any:
    """A value of a JSON file that `write_json` wrote: with infinities."""
    if isinstance(value, dict):
        return {key: decoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, str) or not _INFINITY_TEXT.fullmatch(value):
        return value
    return value[1:] if value.startswith("\\") else _INFINITIES[value]
