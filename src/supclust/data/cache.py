"""Parsed data sets on disk: content-addressed, memory-mapped, checked, safe under concurrent use.

An entry is a folder ``data/<key>/`` of ``.npy`` arrays (all blocks end to end) and
``manifest.json`` with the SHA-256 of each. The key is a hash of the content of the input files,
the reader and its version and options: nothing is ever invalidated, other content simply has
another key. An entry appears by one rename, so it is there completely or not at all; one that does
not match its manifest is rebuilt. A cache that cannot be written costs a warning, not the run.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from supclust.data.block import Block, Dataset, n_pairs
from supclust.data.documents import Text, read_document
from supclust.data.drafts import remove_leftovers
from supclust.data.files import atomic_folder, write_json
from supclust.schema import Natural, Number

FORMAT = 1
MANIFEST = "manifest.json"
_BLOCK = {"name": Text, "ids": [Text], "cluster_names": [Text]}
_MANIFEST = {
    "kind": Literal["vectors", "pairs"],
    "blocks": [_BLOCK],
    "arrays": {"features": Text, "labels": Text, "images?": Text, "strangers?": Text},
    "name": Text,
    "source": Text,
    "feature_names": [Text],
    "notes": [Text],
    "unit": Literal["block", "cluster"],
    "sizes": (None, [Natural]),
    "balance": Number | None,
}

_logger = logging.getLogger(__name__)


def default_cache_dir() -> Path:
    """``SUPCLUST_CACHE``, or the user's cache folder of the platform."""
    configured = os.environ.get("SUPCLUST_CACHE")
    if configured:
        return Path(configured).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "supclust"
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    base = os.environ.get(variable)
    return (Path(base) if base else Path.home() / ".cache") / "supclust"


def cached(
    build: Callable[[], Dataset],
    *,
    reader: str,
    version: int,
    files: Sequence[Path] = (),
    options: Mapping[str, Any] | None = None,
    cache_dir: str | Path | None = None,
) -> Dataset:
    """The data set ``build`` makes, from the cache where it is there already.

    Args:
        build: Reads or generates the set.
        reader: Name of the reader; part of the key.
        version: Raised whenever the reader's result changes; part of the key.
        files: Everything ``build`` reads; their content and names are part of the key.
        options: JSON-able options of the reader; part of the key.
        cache_dir: Default: ``default_cache_dir()``.
    """
    root = Path(cache_dir) if cache_dir is not None else default_cache_dir()
    recipe = json.dumps([FORMAT, reader, version, options or {}], sort_keys=True)
    key = hashlib.sha256(f"{recipe}\n{_content_hash(files)}".encode()).hexdigest()
    entry = root / "data" / key
    stored = load_entry(entry)
    if stored is not None:
        return stored
    dataset = build()
    try:
        _store(dataset, entry)
    except OSError as problem:
        _logger.warning("data cache %s cannot be written (%s); going on without it", root, problem)
        return dataset
    stored = load_entry(entry)
    return dataset if stored is None else stored


def load_entry(entry: Path) -> Dataset | None:
    """The data set of an entry, its arrays memory-mapped; ``None`` if absent or damaged.

    Arrays are mapped copy-on-write: writing to them changes neither the file nor another process's
    view.
    """
    if not entry.exists():
        return None
    try:
        manifest = read_document(entry / MANIFEST, _MANIFEST)
        arrays = {}
        for name, digest in manifest["arrays"].items():
            path = entry / f"{name}.npy"
            if _file_hash(path) != digest:
                raise ValueError(f"{path.name} does not match its checksum")
            arrays[name] = np.load(path, mmap_mode="c", allow_pickle=False)
        return _from_arrays(manifest, arrays)
    except (OSError, ValueError, TypeError, EOFError) as problem:
        _logger.warning("data cache entry %s is damaged (%s); rebuilding it", entry, problem)
        shutil.rmtree(entry, ignore_errors=True)
        return None


def _store(dataset: Dataset, entry: Path) -> None:
    """Write an entry, unless another process made the same one in the meantime."""
    remove_leftovers(entry.parent)
    with atomic_folder(entry, replace=False) as draft:
        manifest, arrays = _to_arrays(dataset)
        manifest["arrays"] = {}
        for name, array in arrays.items():
            np.save(draft / f"{name}.npy", array, allow_pickle=False)
            manifest["arrays"][name] = _file_hash(draft / f"{name}.npy")
        write_json(draft / MANIFEST, manifest)


def _to_arrays(dataset: Dataset) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    blocks = dataset.blocks
    arrays = {
        "features": np.concatenate([block.features for block in blocks]),
        "labels": np.concatenate([block.labels for block in blocks]),
    }
    if all(block.images is not None for block in blocks):
        arrays["images"] = np.concatenate([block.images for block in blocks])
    if any(block.strangers is not None for block in blocks):
        arrays["strangers"] = np.concatenate([block.known_labels < 0 for block in blocks])
    manifest = {
        **{field.name: getattr(dataset, field.name) for field in fields(Dataset)},
        "blocks": [
            {"name": block.name, "ids": block.ids, "cluster_names": block.cluster_names}
            for block in blocks
        ],
    }
    return manifest, arrays


def _from_arrays(manifest: dict[str, Any], arrays: dict[str, Any]) -> Dataset:
    blocks = []
    point, row = 0, 0
    for entry in manifest["blocks"]:
        n = len(entry["ids"])
        rows = n if manifest["kind"] == "vectors" else n_pairs(n)
        images, strangers = arrays.get("images"), arrays.get("strangers")
        blocks.append(
            Block(
                name=entry["name"],
                ids=tuple(entry["ids"]),
                labels=arrays["labels"][point : point + n],
                kind=manifest["kind"],
                features=arrays["features"][row : row + rows],
                cluster_names=tuple(entry["cluster_names"]),
                images=None if images is None else images[point : point + n],
                strangers=None if strangers is None else strangers[point : point + n],
            )
        )
        point, row = point + n, row + rows
    if (point, row) != (len(arrays["labels"]), len(arrays["features"])):
        raise ValueError("the blocks of the manifest are not those of the arrays")
    values = {field.name: manifest[field.name] for field in fields(Dataset)}
    lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    return Dataset(**{**values, **lists, "blocks": tuple(blocks)})


def _file_hash(path: Path) -> str:
    sha = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            sha.update(chunk)
    return sha.hexdigest()


def _content_hash(files: Sequence[Path]) -> str:
    """Hash of the names (with their folder) and contents of files."""
    paths = sorted(path.absolute() for path in files)
    parts = [f"{path.parent.name}/{path.name} {_file_hash(path)}" for path in paths]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest() if parts else ""
