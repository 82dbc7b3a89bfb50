"""One file over HTTP: resumed where it was cut, checked before it counts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

CHUNK = 1 << 16
TIMEOUT_SECONDS = 30.0

Progress = Callable[[str, int, "int | None"], None]
"""Called with (file name, bytes so far, bytes in all or ``None``)."""


class FetchError(OSError):
    """A download that did not succeed; the message says what to do."""


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


@dataclass(frozen=True)
class RemoteFile:
    """A file to download.

    Attributes:
        url: Its address, http or https.
        target: Where it belongs, relative to the folder of its data set.
        checksum: ``sha256:<hex>``, ``git-blob:<hex>`` (Git's SHA-1 of a file), or ``None`` where
            only the set as a whole can be checked.
        optional: A failure is reported but does not stop the others.
    """

    url: str
    target: str
    checksum: str | None
    optional: bool = False


def matches(path: Path, checksum: str | None) -> bool:
    """Whether a file has the checksum; ``None`` is matched by any file."""
    if checksum is None:
        return True
    kind, _, expected = checksum.partition(":")
    sha: _Hash
    if kind == "sha256":
        sha = hashlib.sha256()
    elif kind == "git-blob":
        sha = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    else:
        raise ValueError(f"checksum must start with sha256: or git-blob:, got {checksum!r}")
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            sha.update(chunk)
    return sha.hexdigest() == expected


def download(remote: RemoteFile, folder: Path, progress: Progress | None = None) -> bool:
    """Download one file; ``False`` if it was there already.

    What has arrived is kept as ``<target>.part`` when the connection breaks, and the next call
    asks for the rest. A complete file with another checksum is deleted.

    Raises:
        FetchError: Offline, refused, cut off, or not the expected content.
    """
    target = folder / remote.target
    if target.is_file() and matches(target, remote.checksum):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    try:
        _transfer(remote.url, part, progress, remote.target)
    except HTTPError as problem:
        raise FetchError(
            f"{remote.url}: the server answered {problem.code} {problem.reason}"
        ) from None
    except URLError as problem:
        raise FetchError(
            f"cannot reach {remote.url} ({problem.reason}): is this machine offline? Download "
            f"the file "
            f"elsewhere and place it at {target}, or use a stand-in (dataset.source=stand-in)"
        ) from None
    except (HTTPException, TimeoutError, ConnectionError) as problem:
        raise FetchError(
            f"{remote.url}: the connection broke ({problem}); run again to resume"
        ) from None
    if not matches(part, remote.checksum):
        part.unlink()
        raise FetchError(
            f"{remote.url}: the content does not have the expected checksum {remote.checksum}; "
            f"nothing was "
            "kept. The source has changed, or something on the way altered it"
        )
    os.replace(part, target)
    return True


def _transfer(url: str, part: Path, progress: Progress | None, name: str) -> None:
    """Append to ``part`` what the server still has."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"only http and https addresses can be fetched, got {url!r}")
    have = part.stat().st_size if part.is_file() else 0
    headers = {"User-Agent": "supclust", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        response = urlopen(Request(url, headers=headers), timeout=TIMEOUT_SECONDS)
    except HTTPError as problem:
        # 416: nothing is left after what we have. The checksum tells whether that is the whole
        # file.
        if have and problem.code == 416:
            return
        raise
    with response:
        resumed = response.status == 206
        have = have if resumed else 0
        total = _total(response, have)
        with part.open("ab" if resumed else "wb") as stream:
            while chunk := response.read(CHUNK):
                stream.write(chunk)
                have += len(chunk)
                if progress is not None:
                    progress(name, have, total)
    if total is not None and have < total:
        raise ConnectionError(f"{have} of {total} bytes arrived")


def _total(response: Any, have: int) -> int | None:
    length = response.headers.get("Content-Length")
    return have + int(length) if length is not None else None
