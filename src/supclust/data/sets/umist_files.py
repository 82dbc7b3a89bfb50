"""The UMIST pictures as published (575 PGM files), packed into the file the reader takes."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from supclust.data.block import ByteArray
from supclust.data.files import atomic_file
from supclust.data.sets.download import FetchError, RemoteFile
from supclust.data.sets.faces import UMIST_FILE

UMIST_AT = "Tangjas20/Face_Image_Classification/f9ba3c31a2e7dde3e62c968eda5b4c7f05ff2111"
HEIGHT, WIDTH = 112, 92
HEADER = b"P5\n92 112\n255\n"
# Of the SHA-256 of every file, joined by line ends, in the order of ``umist_names``.
SHA256_OF_ALL = "ff1d1545484ae70318597be9e2d09f29402b11ac69bf519d7b41a95229c2b9a5"
NUMBERS = {
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


def umist_names() -> Iterator[tuple[str, str]]:
    """Person and file name of every picture, in order."""
    for person, ranges in NUMBERS.items():
        for entry in ranges.split():
            first, _, last = entry.partition("-")
            for number in range(int(first), int(last or first) + 1):
                yield person, f"{person}{number:03d}.pgm"
        if person == "1b":
            yield from ((person, f"final{number:02d}.pgm") for number in range(10))


def umist_remote_files(host: str) -> tuple[RemoteFile, ...]:
    """Where to download each picture; they are checked together, by ``pack``."""
    return tuple(
        RemoteFile(
            f"{host}/{UMIST_AT}/Classification_files/{person}/face/{name}",
            f"{person}/{name}",
            checksum=None,
        )
        for person, name in umist_names()
    )


def pack(downloads: Path, folder: Path) -> None:
    """Check the downloaded pictures and write them as one ``.npz``; a wrong set is deleted."""
    people, names = zip(*umist_names(), strict=True)
    contents = [(downloads / p / n).read_bytes() for p, n in zip(people, names, strict=True)]
    hashes = [hashlib.sha256(content).hexdigest() for content in contents]
    if hashlib.sha256("\n".join(hashes).encode()).hexdigest() != SHA256_OF_ALL:
        shutil.rmtree(downloads)
        raise FetchError(
            "the downloaded UMIST pictures do not have the expected checksum; nothing was kept. "
            "The source has changed, or something on the way altered them"
        )
    with atomic_file(folder / UMIST_FILE) as draft, draft.open("wb") as stream:
        np.savez_compressed(
            stream,
            images=np.stack([decode_pgm(content) for content in contents]),
            label=np.unique(people, return_inverse=True)[1].astype(np.int32),
            person=np.array(people),
            filename=np.array(names),
            duplicate_of=first_copies(hashes),
            pgm_sha256=np.array(hashes),
        )


def decode_pgm(content: bytes) -> ByteArray:
    """Pixels (112, 92) of a binary PGM file of the set."""
    if not content.startswith(HEADER) or len(content) != len(HEADER) + HEIGHT * WIDTH:
        raise FetchError(f"expected a PGM file of {WIDTH} x {HEIGHT} pixels")
    return np.frombuffer(content, np.uint8, offset=len(HEADER)).reshape(HEIGHT, WIDTH)


def first_copies(hashes: list[str]) -> np.ndarray:
    """Position of an earlier identical file, or -1.

    >>> first_copies(["a", "b", "a"]).tolist()
    [-1, -1, 0]
    """
    seen: dict[str, int] = {}
    first = [seen.setdefault(value, i) for i, value in enumerate(hashes)]
    return np.array([-1 if f == i else f for i, f in enumerate(first)], dtype=np.int32)
