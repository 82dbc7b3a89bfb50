"""Model folders: ``model.json`` (spec, linkage, cut, record, checksum) and ``model.safetensors``.

Trainings of ``train.py``, ``outputs/trainings/<batch>/<key>``, are such folders without linkage and
cut.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.files import json_text, read_json, write_folder
from supclust.hac.family import METHODS
from supclust.model.trained import TrainedModel

WEIGHTS_FILE, RECORD_FILE = "model.safetensors", "model.json"
TRAININGS = "trainings"
"""Folder of the trainings below the outputs."""
FORMAT = 1
"""Of model.json; raised when older versions would misread it."""
_DRAFT = re.compile(r"\.model\.(json|safetensors)-[0-9a-f]{32}")
_REQUIRED = ("objective", "dissimilarity", "feature_names")
_KEYS = ("format", *_REQUIRED, "cut", "weights_sha256")  # all others are the record


def write_model(model: TrainedModel, folder: Path) -> Path:
    """Write a model into a folder, which is made.

    The folder is replaced as a whole, see `supclust.data.files.write_folder`. Where that is not
    possible, a save that is interrupted between the two files is detected by the checksum.
    """
    from safetensors.numpy import save

    taken = [key for key in _KEYS if key in model.record]
    if taken:
        raise ValueError(
            f"the record of a model must not use the keys {', '.join(_KEYS)}; "
            f"received {', '.join(taken)}. Choose other names."
        )
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"a model is saved in a folder; {folder} is a file. Choose another name.")
    cut = {"linkage": model.linkage, "alpha": model.alpha, "threshold": model.threshold}
    described = {
        "format": FORMAT,
        "objective": model.objective,
        "dissimilarity": dict(model.spec),
        "feature_names": list(model.feature_names),
        **({"cut": cut} if model.has_cut else {}),
        **model.record,
    }
    try:
        json.dumps(described)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"the record of a model must be made of JSON's types; received {error}. "
            "Use numbers, strings, lists and dictionaries."
        ) from None
    content = save({name: np.asarray(array, order="C") for name, array in model.weights.items()})
    checksum = hashlib.sha256(content).hexdigest()
    record = json_text({**described, "weights_sha256": checksum}).encode()
    write_folder(folder, {WEIGHTS_FILE: content, RECORD_FILE: record})
    return folder


def may_hold_model(folder: Path) -> bool:
    """Whether a model may be saved here: the folder is new or empty, or all of it is a model's.

    Files of a model without its ``model.json`` are of a save that was killed.
    """
    if not folder.is_dir():
        return not folder.exists()
    names = {path.name for path in folder.iterdir()}
    leftover = {name for name in names if _DRAFT.fullmatch(name)}
    return RECORD_FILE in names or names <= {WEIGHTS_FILE, *leftover}


def read_model(folder: Path) -> TrainedModel:
    """Read the two files of a model folder, every field checked; of a training, without a cut."""
    described = read_json(folder / RECORD_FILE)
    if described is None:
        raise ValueError(
            f"{folder / RECORD_FILE} cannot be read: it is missing or damaged. "
            "Save the model again, or copy the whole folder again."
        )
    if int(described.get("format", 1)) > FORMAT:
        raise ValueError(
            f"{folder} was written by a newer supclust (format {described['format']}); this one "
            f"reads up to format {FORMAT}. Upgrade supclust."
        )
    missing = [key for key in _REQUIRED if key not in described]
    if missing:
        raise ValueError(
            f"{folder / RECORD_FILE} has no {', '.join(missing)}: it is damaged, or from a version "
            "before models could be loaded. Delete the outputs and run train.py again."
        )
    weights = _read_weights(folder / WEIGHTS_FILE, described.get("weights_sha256"))
    problem = _problem(described, weights)
    if problem:
        raise ValueError(
            f"{folder / RECORD_FILE} is damaged: {problem}. "
            "Save the model again, or copy the whole folder again."
        )
    cut = described.get("cut") or {"linkage": "", "alpha": np.nan, "threshold": np.nan}
    return TrainedModel(
        spec=described["dissimilarity"],
        weights=weights,
        objective=described["objective"],
        feature_names=tuple(map(str, described["feature_names"])),
        linkage=cut["linkage"],
        alpha=float(cut["alpha"]),
        threshold=float(cut["threshold"]),
        record={key: value for key, value in described.items() if key not in _KEYS},
        folder=folder,
    )


def numerical_versions() -> dict[str, str]:
    """Versions that numbers depend on, read without importing the libraries."""
    from importlib.metadata import version

    import supclust

    return {"supclust": supclust.__version__, "torch": version("torch"), "numba": version("numba")}


def _read_weights(path: Path, checksum: Any) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load as parse

    try:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != checksum:
            raise ValueError("they do not match their checksum")
        return dict(parse(content))
    except (OSError, ValueError, SafetensorError) as problem:
        raise ValueError(
            f"the weights {path} are missing or damaged ({problem}). "
            "Train again, or copy the whole folder again."
        ) from None


def _problem(described: Mapping[str, Any], weights: Mapping[str, NDArray[Any]]) -> str | None:
    """What is wrong with the fields of a description or the weights."""
    spec, names, cut = described["dissimilarity"], described["feature_names"], described.get("cut")
    if not isinstance(described["objective"], str):
        return f"objective must be a name; received {described['objective']!r}"
    if not isinstance(names, list) or not all(
        isinstance(name, str | float)
        for name in names  # "inf" and "-inf" are read as numbers
    ):
        return f"feature_names must be a list of names; received {names!r}"
    if not isinstance(spec, dict) or not isinstance(spec.get("name"), str):
        return f"dissimilarity must be a module spec with a name; received {spec!r}"
    if spec.get("kind") not in ("vectors", "pairs") or spec.get("d") != len(names):
        return f"dissimilarity must be of vectors or pairs with d={len(names)}; received {spec!r}"
    if cut is not None:
        numbers = [cut.get(key) for key in ("alpha", "threshold")] if isinstance(cut, dict) else []
        real = all(isinstance(v, int | float) and v == v for v in numbers)  # infinities are legal
        if not numbers or not real or cut.get("linkage") not in METHODS:
            return f"cut must have a linkage, alpha and threshold; received {cut!r}"
    for name, shape in _expected_shapes(spec).items():
        array = weights.get(name)
        if array is None or array.shape != shape or not np.issubdtype(array.dtype, np.floating):
            received = "none" if array is None else f"{array.dtype} {array.shape}"
            return f"weights {name!r} must be floats of shape {shape}; received {received}"
    for name, array in weights.items():
        if np.issubdtype(array.dtype, np.floating) and not np.isfinite(array).all():
            return f"weights {name!r} must be finite; received NaN or infinity"
    return None


def _expected_shapes(spec: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Shapes of the weights that are read without building the module."""
    d = spec["d"]
    if spec["name"] == "mahalanobis":
        return {"weight": (d, d)}
    if spec["name"] == "linear":
        return {"average_weight": (d,), "average_bias": ()}
    return {}
