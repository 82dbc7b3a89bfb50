"""Model folders: ``model.json`` (spec, linkage, cut, record, checksum) and ``model.safetensors``.

Three kinds of folders hold a model: one written by `write_model`; a training of ``train.py``,
``outputs/trainings/<batch>/<key>``, without linkage and cut; and one split of a job of
``train.py``, whose ``result.json`` names the training and has linkages and cuts. `load` reads all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supclust.data.files import read_json, write_bytes, write_json
from supclust.hac.family import METHODS
from supclust.model.results import RESULT_FILE, find_results, read_result
from supclust.model.spec import set_weights
from supclust.model.trained import TrainedModel

if TYPE_CHECKING:
    from supclust.dissimilarity import Dissimilarity

WEIGHTS_FILE, RECORD_FILE = "model.safetensors", "model.json"
TRAININGS = "trainings"
"""Folder of the trainings below the outputs."""
FORMAT = 1
"""Of model.json; raised when older versions would misread it."""
_REQUIRED = ("objective", "dissimilarity", "feature_names")
_KEYS = ("format", *_REQUIRED, "cut", "weights_sha256")  # all others are the record


def write_model(model: TrainedModel, folder: Path) -> Path:
    """Write a model into a folder, which is made.

    Each file is written completely or not at all, the weights first. A save that is interrupted
    between the two over an older model is detected by the checksum.
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
    write_bytes(folder / WEIGHTS_FILE, content)
    checksum = hashlib.sha256(content).hexdigest()
    write_json(folder / RECORD_FILE, {**described, "weights_sha256": checksum})
    return folder


def load(
    folder: str | Path,
    *,
    linkage: str | None = None,
    dissimilarity: Dissimilarity | None = None,
) -> TrainedModel:
    """Read a model from where it was saved, or from what ``train.py`` wrote.

    Args:
        folder: of a saved model; or of one split of a job of ``train.py``, with its
            ``result.json``; or of a training, ``outputs/trainings/<batch>/<key>``, whose linkage
            and cut are taken from a result that used it.
        linkage: which of the linkages of a result. Default: ``exp`` if it is there, else the
            first. A saved model has one.
        dissimilarity: for a model whose dissimilarity was the user's own: one made as for training;
            the weights are put into it.

    Raises:
        ValueError: there is no model, it is damaged, or of a newer version of supclust.
    """
    folder = Path(folder)
    model = read_model(_model_folder(folder))
    if not model.has_cut:
        model = _with_cut(model, folder, linkage)
    elif linkage not in (None, model.linkage):
        raise ValueError(
            f"linkage must be that of the saved model, {model.linkage}; received {linkage!r}. "
            "Leave it out, or train with the other linkage."
        )
    if dissimilarity is not None:
        set_weights(dissimilarity, [model.weights])
        model = replace(model, module=dissimilarity.eval().requires_grad_(False))
    elif "class" in model.spec:
        _ = model.dissimilarity  # raises: it cannot be built
    return model


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


def outputs_of(result: Mapping[str, Any]) -> Path | None:
    """The outputs folder of a result: the one that holds its training; ``None`` if it is gone."""
    model = result.get("model")
    if not model:
        return None
    parents = Path(result["path"]).resolve().parents
    return next((folder for folder in parents if (folder / model).is_dir()), None)


def training_record(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """The record of the training of a result; ``None`` if it is gone or damaged."""
    outputs = outputs_of(result)
    return None if outputs is None else read_json(outputs / result["model"] / RECORD_FILE)


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


def _model_folder(folder: Path) -> Path:
    """The folder of the weights: the given one, or the training that its result names."""
    if not folder.is_dir():
        raise ValueError(
            f"the folder of a model is needed; {folder} "
            f"{'is a file' if folder.exists() else 'does not exist'}. "
            "Make one with SupervisedHAC.save or `supclust fit`."
        )
    if (folder / RECORD_FILE).is_file():
        return folder
    result = read_result(folder / RESULT_FILE)
    if result is None:
        raise ValueError(
            f"{folder} holds neither {RECORD_FILE} nor a readable {RESULT_FILE}. Name a folder "
            "that SupervisedHAC.save or `supclust fit` wrote, or one split of a job of train.py."
        )
    if result["status"] != "done":
        raise ValueError(
            f"{folder / RESULT_FILE} says that the run failed: {result.get('error', '')}. "
            "Run its job again."
        )
    outputs = outputs_of({**result, "path": str(folder / RESULT_FILE)})
    if outputs is not None:
        return outputs / str(result["model"])
    raise ValueError(
        f"{folder / RESULT_FILE} names the training {result['model']}, which is in no folder above "
        "it. Keep outputs/trainings with the results, or run the job again after deleting them."
    )


def _with_cut(model: TrainedModel, folder: Path, linkage: str | None) -> TrainedModel:
    """A training with linkage, alpha, threshold and scores of a result that used it.

    Args:
        model: of a training.
        folder: that was asked for: of a result, or of the training itself.
        linkage: which; ``None``: ``exp`` if it is there, else the first.
    """
    cuts: dict[str, dict[str, Any]] = {}
    for result in _results_of(model, folder):
        about = {"dataset": result["dataset"], "source": result.get("source")}
        for name, cut in result["linkages"].items():
            if cut["alpha"] is not None and name not in cuts:
                cuts[name] = {**cut, **about}
    chosen = linkage or ("exp" if "exp" in cuts else next(iter(cuts), ""))
    if not cuts:
        raise ValueError(
            f"{model.folder} is a training that no finished result with a linkage uses, so there "
            "is no height to cut at. Evaluate it: run its job of train.py to the end, with "
            "linkage=all."
        )
    if chosen not in cuts:
        raise ValueError(
            f"linkage must be one that the result has, {', '.join(cuts)}; received {linkage!r}. "
            f"Choose one of these, or run train.py with linkage={linkage}."
        )
    cut = cuts[chosen]
    scores = {key: cut[key] for key in ("dev", "test", "dataset", "source")}
    height, alpha = float(cut["threshold"]), float(cut["alpha"])
    record = {**model.record, **scores}
    return replace(model, linkage=chosen, alpha=alpha, threshold=height, record=record)


def _results_of(model: TrainedModel, folder: Path) -> Iterator[dict[str, Any]]:
    assert model.folder is not None
    training = model.folder.resolve()
    if folder.resolve() != training:
        result = read_result(folder / RESULT_FILE)
        if result is not None:
            yield result
        return
    trainings = training.parent.parent  # outputs/trainings/<batch>/<key>
    if trainings.name != TRAININGS:
        return  # copied elsewhere: there are no results to search
    name = str(training.relative_to(trainings.parent))
    for result in find_results(trainings.parent):
        if result["status"] == "done" and result.get("model") == name:
            yield result
