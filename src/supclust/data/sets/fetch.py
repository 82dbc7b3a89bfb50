"""Download the public data sets into the data folder, in the layouts the readers take."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from supclust.data.errors import DataError
from supclust.data.sets.download import FetchError, Progress, RemoteFile, download
from supclust.data.sets.faces import UMIST_FILE
from supclust.data.sets.umist_files import pack, umist_remote_files
from supclust.data.sets.unfinished import DOWNLOADS, begin, end, give_up

GITHUB = "https://raw.githubusercontent.com"
REXA_AT = "cthorrez/deepsetLinkage/01f61623041c3efaaadebeab9fbd4ae6cde6d58f/data/rexa"
SHAPES_AT = "gagolews/clustering-data-v1/27ac73a6fd331fb18181419838d2e753dd1b5f80/sipu"

# SHA-256 of gtClusters.tsv and pairFeatures.csv of each block.
REXA_BLOCKS = {
    "allen_d": (
        "fc6b40c4876b93e176011dfeaa7d26cc1eb948951997a01bb74d8e3346b152e3",
        "c2c93692dfee93320a13c659021ea114c8f6b3537b0e6581970eaead598c5b40",
    ),
    "blum_a": (
        "641354fc68fa6b05a8e29783b07714d09afac6228e98c3717a5e2920a1716e28",
        "fc69b5bac5edca260c51197db785fc09ba7ac8639132e24561becf0d73fd8d63",
    ),
    "lee_l": (
        "1d027f15e240184b742d84a36034c97bade64a8d7f5a62d0dab57622e7b09f1e",
        "0fd415d0f5e5bdd3e9e59382395c30338ee91a73f06bcae9e8bccddb0da14983",
    ),
    "mcguire_j": (
        "a77ac9581c5ea04af223d2874490f0e5521db818779245deb1afebbde24f1ecf",
        "094cc789b37a1ffcc9148cc08fdbf07fd4932ad18d0ff6a78b8d2ecc2cd1c470",
    ),
    "moore_a": (
        "4528bc0702a0d889ad7a1be928ba3ec55e9f95e4ec7c0e2f5b93b634ccec9ff0",
        "70027ccf78fb4e0d25af58c1caf9286c7b3ff4490a1230307444ee6cd768fcc6",
    ),
    "robinson_h": (
        "0aca9729ff90b5124613fc4dc0c1dd42d67da437467b2a4c893554efa8208be6",
        "fd3df3dcbd1a4d12919989023ec89bf5410ad65f095c2c583e380bd42efe4152",
    ),
    "young_s": (
        "ab328abd7019ac32c828349b3e1ddf81cc16400c806badb36cdd97ef40bbb832",
        "f53d2d972c23d62ce05bf4841aa4b7c63195503006e20318b0c348007e4ad0fc",
    ),
}
SHAPE_FILES = {
    "pathbased.data.gz": "21d604a7c11d258deb82d12db370a731bd0747ce093c1e1e7157f4d2fdd1942c",
    "pathbased.labels0.gz": "1768488828e6d72490f934a9e0a5f103c34f00044e95e57f519992f2277a0845",
    "spiral.data.gz": "ad55d304b08979778e27cf3f5d8a9bf82ec5d0c8b658ea53f8a63990a2a9bfc1",
    "spiral.labels0.gz": "6a47fdca489242cf14b31d8de50b49b2e4e8b8c56f92eeee94456b685bdc19e4",
    "aggregation.data.gz": "59ddd9d8f2c66541074aa3dc3469a00c0465245c201ddb73e324353ba4e918e2",
    "aggregation.labels0.gz": "f12a35f339e700b7b8ea6c78277649dad2fd08c5c35843f518c9f3422873a57e",
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


def _rexa_files() -> tuple[RemoteFile, ...]:
    at = f"{GITHUB}/{REXA_AT}"
    files = []
    for block, (clusters, pairs) in REXA_BLOCKS.items():
        for name, sha in (("gtClusters.tsv", clusters), ("pairFeatures.csv", pairs)):
            files.append(RemoteFile(f"{at}/{block}/{name}", f"{block}/{name}", f"sha256:{sha}"))
    jones = "4efd69698dc5c031acf118b8fbebd23094976c8353d28939400db39e9c699248"
    blob = "26e1ee282dfb18a74da75ee3c1d54624587cea5c"
    files.append(
        RemoteFile(f"{at}/jones_s/gtClusters.tsv", "jones_s/gtClusters.tsv", f"sha256:{jones}")
    )
    files.append(
        RemoteFile(
            f"{at}/jones_s/pairFeatures.csv",
            "jones_s/pairFeatures.csv",
            f"git-blob:{blob}",
            optional=True,
        )
    )
    return tuple(files)


OFFERS = {
    "faces": Offer("umist_faces", umist_remote_files(GITHUB), pack, UMIST_FILE),
    "rexa": Offer("rexa", _rexa_files()),
    "shapes2d": Offer(
        "shapes2d",
        tuple(
            RemoteFile(f"{GITHUB}/{SHAPES_AT}/{name}", name, f"sha256:{sha}")
            for name, sha in SHAPE_FILES.items()
        ),
    ),
}


def fetch(
    name: str,
    data_dir: str | Path,
    *,
    progress: Progress | None = None,
    mirror: str | None = None,
) -> FetchReport:
    """Download a data set; what is there and intact is not downloaded again.

    Until everything has arrived, the folder is marked as incomplete and no reader takes it.

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
        raise DataError(f"data set to fetch must be one of {', '.join(OFFERS)}, got {name!r}")
    offer, folder = OFFERS[name], Path(data_dir) / OFFERS[name].folder
    if offer.result is not None and (folder / offer.result).is_file():
        shutil.rmtree(folder / DOWNLOADS, ignore_errors=True)
        end(folder)  # the fetch may have been killed between its last two steps
        return FetchReport(folder, 0, len(offer.files), ())
    begin(folder, name)
    try:
        report = _fetch_files(offer, folder, progress, mirror)
    except BaseException:
        give_up(folder)
        raise
    end(folder)
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
