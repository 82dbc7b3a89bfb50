"""Download of one file over HTTP: resumed after an interruption, checked against a checksum.

(pooch has checksums and retries, but no resuming.)
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

CHUNK = 1 << 16
TIMEOUT_SECONDS = 30.0

Progress = Callable[[str, int, "int | None"], None]
"""Called with (file name, bytes so far, bytes in all or ``None``)."""


class FetchError(OSError):
    """A download that did not succeed; the message says what to do."""


@dataclass(frozen=True)
class RemoteFile:
    """A file to download.

    Attributes:
        url: Its address, http or https.
        target: Its path below the folder of its data set.
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
    if kind not in ("sha256", "git-blob"):
        raise ValueError(f"checksum must start with sha256: or git-blob:; received {checksum!r}")
    content = path.read_bytes()
    if kind == "git-blob":
        blob = b"blob %d\0" % len(content) + content
        return hashlib.sha1(blob, usedforsecurity=False).hexdigest() == expected
    return hashlib.sha256(content).hexdigest() == expected


def download(remote: RemoteFile, folder: Path, progress: Progress | None = None) -> bool:
    """Download one file; ``False`` if it was there already.

    After an interruption, what has arrived is kept as ``<target>.part``, and the next call asks for
    the rest. A complete file with another checksum is deleted.

    Raises:
        FetchError: Offline, refused, interrupted, or not the expected content.
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
            f"cannot reach {remote.url} ({problem.reason}): is this machine offline? Download the "
            f"file elsewhere and place it at {target}, or use a stand-in (dataset.source=stand-in)"
        ) from None
    except (HTTPException, TimeoutError, ConnectionError) as problem:
        raise FetchError(
            f"{remote.url}: the connection broke ({problem}); run again to resume"
        ) from None
    if not matches(part, remote.checksum):
        part.unlink()
        raise FetchError(
            f"{remote.url}: the content does not have the expected checksum {remote.checksum}; "
            "nothing was kept. The source has changed, or something on the way altered it"
        )
    os.replace(part, target)
    return True


def _transfer(url: str, part: Path, progress: Progress | None, name: str) -> None:
    """Append to ``part`` the bytes that it lacks."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"only http and https addresses can be fetched; received {url!r}")
    have = part.stat().st_size if part.is_file() else 0
    headers = {"User-Agent": "supclust", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        response = urlopen(Request(url, headers=headers), timeout=TIMEOUT_SECONDS)
    except HTTPError as problem:
        if have and problem.code == 416:
            return  # nothing is left; the checksum decides whether the part is the whole file
        raise
    with response:
        resumed = response.status == 206
        have = have if resumed else 0
        length = response.headers.get("Content-Length")
        total = None if length is None else have + int(length)
        with part.open("ab" if resumed else "wb") as stream:
            while chunk := response.read(CHUNK):
                stream.write(chunk)
                have += len(chunk)
                if progress is not None:
                    progress(name, have, total)
    if total is not None and have < total:
        raise ConnectionError(f"{have} of {total} bytes arrived")
