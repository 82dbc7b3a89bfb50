"""Download the public data sets into the data folder, in the layouts of the readers."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from supclust.data.errors import DataError
from supclust.data.files import atomic_file
from supclust.data.sets.download import FetchError, Progress, RemoteFile, download
from supclust.data.sets.faces import UMIST_FILE
from supclust.data.sets.registry import DOWNLOADS, INCOMPLETE_FILE, is_incomplete

GITHUB = "https://raw.githubusercontent.com"
REXA_AT = "cthorrez/deepsetLinkage/01f61623041c3efaaadebeab9fbd4ae6cde6d58f/data/rexa"
SHAPES_AT = "gagolews/clustering-data-v1/27ac73a6fd331fb18181419838d2e753dd1b5f80/sipu"
UMIST_AT = "Tangjas20/Face_Image_Classification/f9ba3c31a2e7dde3e62c968eda5b4c7f05ff2111"

HEIGHT, WIDTH = 112, 92
# SHA-256 of the SHA-256 of every picture, joined by line ends, in the order of `umist_names`.
UMIST_SHA256 = "ff1d1545484ae70318597be9e2d09f29402b11ac69bf519d7b41a95229c2b9a5"
UMIST_NUMBERS = {
    "1a": "0-35 41 43",
    "1b": "0 3 8 11 14-16 18 24 28 32 35 38-40 44 48 51 54 56 60 64 68 72 76",
    "1c": "0 4 7 10 13 16 18 22 25 28 32 35 37 40 43 46 49 52 54 58 60 62-63 65-66 69",
    "1d": "0 4 8 10 12-20 22-24 27 29 31-33 35 37 39",
    "1e": "0-25",
    "1f": "0 5 9 12 15 18 21 24 27 30 33 37 40 44 49 51 54 56 59 62 65 68 73",
    "1g": "4 6 8-12 14 21-27 29 31 36 40",
    "1h": "2-10 12 14 16 18 20 22 24 26 28 30-32 35",
    "1i": "0 2-3 5-14 20-22 27-30",
    "1j": "0-1 5-7 10 18 21 24 28-30 34-35 38-42 44-45 47-56 61",
    "1k": "1-4 11 14 16 19-20 22 24-26 28 30 33 35 37 40-41 43-45 47-56 59",
    "1l": "0 2-4 6 8-9 11 18-21 26 28 30-31 33-34 37-40 42-47 49-51 53 57 61",
    "1m": "0 3 7 9-11 13 16-20 22 24 26 28 30 34 36 38 40 42 44 46 48 50",
    "1n": "0 2-16 22-35",
    "1o": "0-1 4-15 19-23",
    "1p": "0-25",
    "1q": "1 3 5-25 27 30-31",
    "1r": "6-38",
    "1s": "0-1 3-48",
    "1t": "0-23 34-36 44-49 100",
}
NOT_OFFERED = {
    "aminer": "its public copy has to be converted. Place aminer/blocks.csv and "
    "aminer/blocks/<name>/gtClusters.tsv "
    "with pairFeatures.csv (id,id,8 features,same-cluster flag) in the data folder; origin: "
    "github.com/zhizhen-kyle-luo/HGCN-name-disambiguation, experimental-results/",
    "gum_coref": "its public copy has to be converted. Place documents.csv, tokens.csv.gz and "
    "mentions.csv.gz in gum_coref/ of the data folder (docs/gum_coref.md); origin: "
    "github.com/amir-zeldes/gum, dep/",
    "np_coref": "it is not public. Place the authors' NP_Coref folder as np_coref/ in the data "
    "folder",
}


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
    if name in NOT_OFFERED:
        raise DataError(f"{name!r} cannot be fetched: {NOT_OFFERED[name]}")
    if name not in OFFERS:
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


def umist_names() -> Iterator[tuple[str, str]]:
    """Person and file name of every picture, in order."""
    for person, ranges in UMIST_NUMBERS.items():
        for entry in ranges.split():
            first, _, last = entry.partition("-")
            for number in range(int(first), int(last or first) + 1):
                yield person, f"{person}{number:03d}.pgm"
        if person == "1b":
            yield from ((person, f"final{number:02d}.pgm") for number in range(10))


def pack_umist(downloads: Path, folder: Path) -> None:
    """Check the downloaded pictures and write them as one ``.npz``; a wrong set is deleted."""
    people, names = zip(*umist_names(), strict=True)
    contents = [(downloads / p / n).read_bytes() for p, n in zip(people, names, strict=True)]
    hashes = [hashlib.sha256(content).hexdigest() for content in contents]
    if hashlib.sha256("\n".join(hashes).encode()).hexdigest() != UMIST_SHA256:
        shutil.rmtree(downloads)
        raise FetchError(
            "the downloaded UMIST pictures do not have the expected checksum; nothing was kept. "
            "The source has changed, or something on the way altered them"
        )
    # Binary PGM: the pixels follow the header, which the checksum has verified.
    pixels = [np.frombuffer(content[-HEIGHT * WIDTH :], np.uint8) for content in contents]
    with atomic_file(folder / UMIST_FILE) as draft, draft.open("wb") as stream:
        np.savez_compressed(
            stream,
            images=np.stack(pixels).reshape(-1, HEIGHT, WIDTH),
            label=np.unique(people, return_inverse=True)[1].astype(np.int32),
            person=np.array(people),
            filename=np.array(names),
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
_UMIST = tuple(
    # The pictures are checked together, by `pack_umist`.
    RemoteFile(f"{GITHUB}/{UMIST_AT}/Classification_files/{p}/face/{n}", f"{p}/{n}", None)
    for p, n in umist_names()
)
OFFERS = {
    "faces": Offer("umist_faces", _UMIST, pack_umist, UMIST_FILE),
    "rexa": Offer("rexa", (*_checked_files("rexa", REXA_AT), _JONES)),
    "shapes2d": Offer("shapes2d", _checked_files("shapes2d", SHAPES_AT)),
}
