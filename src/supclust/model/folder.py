"""The two files of a model folder: written one after the other, read with distrust."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from supclust.data.files import read_json, write_bytes, write_json

WEIGHTS_FILE, RECORD_FILE = "model.safetensors", "model.json"
FORMAT = 1
"""Of model.json; to be raised when older versions would misread it."""


def write_folder(place: Path, weights: Mapping[str, Tensor], described: Mapping[str, Any]) -> Path:
    """Write weights and description, and the checksum that ties them together.

    Each file is written completely or not at all, the weights first; a save that is cut short
    between the two over an older model is noticed by the checksum.

    Args:
        place: the folder, which is made.
        weights: tensors by name.
        described: JSON-able.
    """
    from safetensors.torch import save

    content = save({name: tensor.contiguous() for name, tensor in weights.items()})
    checksum = hashlib.sha256(content).hexdigest()
    if place.exists() and not place.is_dir():
        raise ValueError(f"a model is saved in a folder; {place} is a file. Choose another name.")
    place.mkdir(parents=True, exist_ok=True)
    try:
        json.dumps(described)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"the record of a model must be made of JSON's types; received {error}. "
            "Use numbers, strings, lists and dictionaries."
        ) from None
    write_bytes(place / WEIGHTS_FILE, content)
    write_json(place / RECORD_FILE, {**described, "weights_sha256": checksum})
    return place


def read_folder(place: Path) -> tuple[dict[str, Tensor], Mapping[str, Any]]:
    """Weights and description of a model folder, checked against each other."""
    from safetensors import SafetensorError
    from safetensors.torch import load as parse

    described = read_json(place / RECORD_FILE)
    if described is None:
        raise ValueError(
            f"{place / RECORD_FILE} cannot be read: it is missing or damaged. "
            "Save the model again, or copy the whole folder again."
        )
    if int(described.get("format", 1)) > FORMAT:
        raise ValueError(
            f"{place} was written by a newer supclust (format {described['format']}); this one "
            f"reads up to format {FORMAT}. Upgrade supclust."
        )
    try:
        content = (place / WEIGHTS_FILE).read_bytes()
        if hashlib.sha256(content).hexdigest() != described.get("weights_sha256"):
            raise ValueError("they do not match their checksum")
        weights = parse(content)
    except (OSError, ValueError, SafetensorError) as problem:
        raise ValueError(
            f"the weights {place / WEIGHTS_FILE} are missing or damaged ({problem}). "
            "Train again, or copy the whole folder again."
        ) from None
    missing = [key for key in ("objective", "dissimilarity", "feature_names")
               if key not in described]  # fmt: skip
    if missing:
        raise ValueError(
            f"{place / RECORD_FILE} does not say its {', '.join(missing)}: it is damaged, or from "
            "a version before models could be loaded. Delete the outputs and run train.py again."
        )
    return weights, described


def numerical_versions() -> dict[str, str]:
    """Versions that numbers depend on, read without importing the libraries."""
    from importlib.metadata import version

    import supclust

    return {"supclust": supclust.__version__, "torch": version("torch"), "numba": version("numba")}
