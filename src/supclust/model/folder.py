"""Model folders: ``model.json`` (spec, linkage, cut, record, checksum) and ``model.safetensors``.

A learned cut has its trees in ``cut.txt``, in LightGBM's text form.

Trainings of ``train.py``, ``outputs/trainings/<batch>/<key>``, are such folders without linkage and
cut.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.documents import read_document
from supclust.data.errors import DataError
from supclust.data.files import json_text, write_folder
from supclust.model.checks import MODEL, RECORD, wrong_in_model
from supclust.model.trained import TrainedModel
from supclust.schema import Count

if TYPE_CHECKING:
    from supclust.cut import LearnedCut

WEIGHTS_FILE, RECORD_FILE, CUT_FILE = "model.safetensors", "model.json", "cut.txt"
BOOSTER, BOOSTER_FILE = "booster", "booster.txt"
"""Boosted trees of a stacked model: among the weights, and in the folder as LightGBM's text."""
TRAININGS = "trainings"
"""Folder of the trainings below the outputs."""
FORMAT, PLAIN_FORMAT = 2, 1
"""Of model.json; raised when older versions would misread it: a learned cut needs format 2."""
_DRAFT = re.compile(r"\.(model\.json|model\.safetensors|cut\.txt|booster\.txt)-[0-9a-f]{32}")
_KEYS = ("format", *(name.removesuffix("?") for name in MODEL))  # all others are the record


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
    cut: dict[str, Any] = {
        "linkage": model.linkage,
        "alpha": model.alpha,
        "threshold": model.threshold,
    }
    files = {}
    if model.learned is not None:
        cut["learned"], files[CUT_FILE] = describe_learned(model.learned)
    described = {
        "format": PLAIN_FORMAT if model.learned is None else FORMAT,
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
    arrays = {name: np.asarray(array, order="C") for name, array in model.weights.items()}
    text = arrays.pop(BOOSTER, None)
    content = save(arrays)
    sums = {"weights_sha256": hashlib.sha256(content).hexdigest()}
    if text is not None:
        files[BOOSTER_FILE] = text.tobytes()
        sums["booster_sha256"] = hashlib.sha256(files[BOOSTER_FILE]).hexdigest()
    record = json_text({**described, **sums}).encode()
    write_folder(folder, {WEIGHTS_FILE: content, **files, RECORD_FILE: record})
    return folder


def describe_learned(cut: LearnedCut) -> tuple[dict[str, Any], bytes]:
    """What JSON holds of a learned cut, and the content of the file with its trees."""
    content = cut.booster.to_text().encode()
    return {**cut.to_json(), "sha256": hashlib.sha256(content).hexdigest()}, content


def result_cut_file(linkage: str) -> str:
    """Name of the file with the trees of a learned cut, beside a ``result.json``."""
    return f"cut-{linkage}.txt"


def read_learned(described: Any, path: Path) -> LearnedCut | None:
    """The cut that `describe_learned` described, its trees read from a file; ``None`` of none."""
    if described is None:
        return None
    from supclust.cut import LearnedCut  # compiled code

    try:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != described["sha256"]:
            raise ValueError("it does not match its checksum")
        return LearnedCut.from_json(described, content.decode())
    except (OSError, ValueError) as problem:
        raise ValueError(
            f"the learned cut {path} is missing or damaged ({problem}). "
            "Save the model again, or copy the whole folder again."
        ) from None


def may_hold_model(folder: Path) -> bool:
    """Whether a model may be saved here: the folder is new or empty, or all of it is a model's.

    Files of a model without its ``model.json`` are of a save that was killed.
    """
    if not folder.is_dir():
        return not folder.exists()
    names = {path.name for path in folder.iterdir()}
    leftover = {name for name in names if _DRAFT.fullmatch(name)}
    return RECORD_FILE in names or names <= {WEIGHTS_FILE, CUT_FILE, BOOSTER_FILE, *leftover}


def read_model(folder: Path) -> TrainedModel:
    """Read the two files of a model folder, every field checked; of a training, without a cut."""
    try:
        described = read_document(folder / RECORD_FILE, {"format?": Count})
        if described.get("format", 1) > FORMAT:
            raise ValueError(
                f"{folder} was written by a newer supclust (format {described['format']}); this "
                f"one reads up to format {FORMAT}. Upgrade supclust."
            )
        described = read_document(folder / RECORD_FILE, {**MODEL, **RECORD})
        weights = _read_weights(folder / WEIGHTS_FILE, described.get("weights_sha256"))
        if described["dissimilarity"]["name"] in ("stacked", "boosted"):
            weights[BOOSTER] = _read_booster(folder / BOOSTER_FILE, described)
        problem = wrong_in_model(described, weights)
        if problem:
            raise DataError(problem, folder / RECORD_FILE)
    except DataError as error:
        raise ValueError(
            f"{error.path} is damaged: {error.problem}. "
            "Save the model again, or copy the whole folder again."
        ) from None
    cut = described.get("cut") or {"linkage": "", "alpha": np.nan, "threshold": np.nan}
    return TrainedModel(
        spec=described["dissimilarity"],
        weights=weights,
        objective=described["objective"],
        feature_names=tuple(map(str, described["feature_names"])),
        linkage=cut["linkage"],
        alpha=float(cut["alpha"]),
        threshold=float(cut["threshold"]),
        learned=read_learned(cut.get("learned"), folder / CUT_FILE),
        record={key: value for key, value in described.items() if key not in _KEYS},
        folder=folder,
    )


def numerical_versions() -> dict[str, str]:
    """Versions that numbers depend on, read without importing the libraries.

    Torch is left out where it is not installed: learning from a table without blocks needs none.
    """
    from importlib.metadata import PackageNotFoundError, version

    import supclust

    versions = {"supclust": supclust.__version__}
    for name in ("torch", "numba"):
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def _read_booster(path: Path, described: Mapping[str, Any]) -> NDArray[np.uint8]:
    """The boosted trees of a stacked or boosted model, LightGBM's text, checked."""
    from supclust.boosting import Booster

    try:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != described.get("booster_sha256"):
            raise ValueError("they do not match their checksum")
        if Booster.from_text(content.decode()).n_features != described["dissimilarity"]["d"]:
            raise ValueError("they have another number of features than the model")
    except (OSError, ValueError) as problem:
        raise ValueError(
            f"the boosted trees {path} are missing or damaged ({problem}). "
            "Train again, or copy the whole folder again."
        ) from None
    return np.frombuffer(content, np.uint8)


def _read_weights(path: Path, checksum: Any) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load as parse

    try:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != checksum:
            raise ValueError("they do not match their checksum")
        return dict(parse(content))
    except (OSError, ValueError, KeyError, SafetensorError) as problem:  # KeyError: unknown type
        raise ValueError(
            f"the weights {path} are missing or damaged ({problem}). "
            "Train again, or copy the whole folder again."
        ) from None
