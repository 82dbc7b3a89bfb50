"""Download the public data sets into the data folder, in the layouts of the readers."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from supclust.data.errors import DataError
from supclust.data.files import atomic_file
from supclust.data.sets.download import FetchError, Progress, RemoteFile, download
from supclust.data.sets.faces import UMIST_FILE
from supclust.data.sets.registry import SPECS
from supclust.data.sets.spec import DOWNLOADS, INCOMPLETE_FILE, is_incomplete

GITHUB = "https://raw.githubusercontent.com"
REXA_AT = "cthorrez/deepsetLinkage/01f61623041c3efaaadebeab9fbd4ae6cde6d58f/data/rexa"
SHAPES_AT = "gagolews/clustering-data-v1/27ac73a6fd331fb18181419838d2e753dd1b5f80/sipu"
UMIST_AT = "Tangjas20/Face_Image_Classification/f9ba3c31a2e7dde3e62c968eda5b4c7f05ff2111"

HEIGHT, WIDTH = 112, 92


@dataclass(frozen=True)
class Offer:
    """A data set that can be fetched.

    Attributes:
        folder: Below the data folder.
        files: What to download.
        finish: Turns the downloads (a folder) into the layout of the reader; ``None``: they are it.
        result: The file that ``finish`` makes, complete once it is there.
    """

    folder: str
    files: tuple[RemoteFile, ...]
    finish: Callable[[Path, Path], None] | None = None
    result: str | None = None


class FetchReport(NamedTuple):
    """What a fetch did."""

    folder: Path
    downloaded: int
    present: int
    problems: tuple[str, ...]  # optional files that could not be had


def fetch(
    name: str,
    data_dir: str | Path,
    *,
    progress: Progress | None = None,
    mirror: str | None = None,
) -> FetchReport:
    """Download a data set; files that are there and intact are not downloaded again.

    Until everything has arrived, the folder is marked as incomplete and is not read.

    Args:
        name: ``faces``, ``rexa`` or ``shapes2d``.
        data_dir: Folder of the real data sets.
        progress: Called with (file, bytes so far, bytes in all or ``None``).
        mirror: Address that takes the place of ``https://raw.githubusercontent.com``.

    Raises:
        DataError: A name that cannot be fetched.
        FetchError: Offline, interrupted (run again to resume), or content with another checksum.
    """
    if name not in OFFERS:
        if name in SPECS and SPECS[name].how_to_get:
            raise DataError(f"{name!r} cannot be fetched: {SPECS[name].how_to_get}")
        raise DataError(f"data set to fetch must be one of {', '.join(OFFERS)}; received {name!r}")
    offer, folder = OFFERS[name], Path(data_dir) / OFFERS[name].folder
    mark = folder / INCOMPLETE_FILE
    if offer.result is not None and (folder / offer.result).is_file():
        shutil.rmtree(folder / DOWNLOADS, ignore_errors=True)
        mark.unlink(missing_ok=True)  # the fetch may have been killed between its last two steps
        return FetchReport(folder, 0, len(offer.files), ())
    folder.mkdir(parents=True, exist_ok=True)
    if is_incomplete(folder) or not any(folder.iterdir()):
        text = f"This download is not complete. To resume it: supclust data fetch {name}\n"
        mark.write_text(text, encoding="utf-8")
    try:
        report = _fetch_files(offer, folder, progress, mirror)
    except BaseException:
        if mark.is_file() and not any(p.is_file() and p != mark for p in folder.rglob("*")):
            shutil.rmtree(folder)  # nothing has arrived
        raise
    mark.unlink(missing_ok=True)
    return report


def _fetch_files(
    offer: Offer, folder: Path, progress: Progress | None, mirror: str | None
) -> FetchReport:
    """Download the files of an offer and finish them."""
    landing = folder if offer.finish is None else folder / DOWNLOADS
    downloaded, present, problems = 0, 0, []
    for remote in offer.files:
        if mirror is not None:
            remote = replace(remote, url=remote.url.replace(GITHUB, mirror.rstrip("/"), 1))
        try:
            fresh = download(remote, landing, progress)
        except FetchError as problem:
            if not remote.optional:
                raise
            problems.append(str(problem))
            continue
        downloaded, present = downloaded + fresh, present + (not fresh)
    if offer.finish is not None:
        offer.finish(landing, folder)
        shutil.rmtree(landing)
    return FetchReport(folder, downloaded, present, tuple(problems))


def pack_umist(downloads: Path, folder: Path) -> None:
    """Write the downloaded pictures, whose checksums have been verified, as one ``.npz``."""
    targets = [Path(remote.target) for remote in OFFERS["faces"].files]  # person/face/name
    contents = [(downloads / target).read_bytes() for target in targets]
    hashes = [hashlib.sha256(content).hexdigest() for content in contents]
    people = [target.parts[0] for target in targets]
    # Binary PGM: the pixels follow the header.
    pixels = [np.frombuffer(content[-HEIGHT * WIDTH :], np.uint8) for content in contents]
    with atomic_file(folder / UMIST_FILE) as draft, draft.open("wb") as stream:
        np.savez_compressed(
            stream,
            images=np.stack(pixels).reshape(-1, HEIGHT, WIDTH),
            label=np.unique(people, return_inverse=True)[1].astype(np.int32),
            person=np.array(people),
            filename=np.array([target.name for target in targets]),
            duplicate_of=first_copies(hashes),
            pgm_sha256=np.array(hashes),
        )


def first_copies(hashes: list[str]) -> np.ndarray:
    """Position of an earlier identical file, or -1.

    >>> first_copies(["a", "b", "a"]).tolist()
    [-1, -1, 0]
    """
    seen: dict[str, int] = {}
    first = [seen.setdefault(value, i) for i, value in enumerate(hashes)]
    return np.array([-1 if f == i else f for i, f in enumerate(first)], dtype=np.int32)


def _checked_files(name: str, address: str) -> tuple[RemoteFile, ...]:
    """Files of a set with the checksums of ``checksums.sha256``."""
    text = files("supclust.data.sets").joinpath("checksums.sha256").read_text(encoding="ascii")
    rows = (line.split() for line in text.splitlines())
    return tuple(
        RemoteFile(f"{GITHUB}/{address}/{inside}", inside, f"sha256:{checksum}")
        for checksum, path in rows
        for folder, _, inside in [path.partition("/")]
        if folder == name
    )


_JONES = RemoteFile(
    f"{GITHUB}/{REXA_AT}/jones_s/pairFeatures.csv",
    "jones_s/pairFeatures.csv",
    "git-blob:26e1ee282dfb18a74da75ee3c1d54624587cea5c",
    optional=True,
)
_UMIST = _checked_files("faces", f"{UMIST_AT}/Classification_files")
OFFERS = {
    "faces": Offer("umist_faces", _UMIST, pack_umist, UMIST_FILE),
    "rexa": Offer("rexa", (*_checked_files("rexa", REXA_AT), _JONES)),
    "shapes2d": Offer("shapes2d", _checked_files("shapes2d", SHAPES_AT)),
}
