"""Where ``train.py`` keeps the parts of a model: weights by training, linkages by result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from supclust.data.files import read_json
from supclust.model.folder import RECORD_FILE
from supclust.model.results import RESULT_FILE, find_results, read_result

TRAININGS = "trainings"
"""Folder of the trainings below the outputs."""


def find_training(folder: Path) -> Path:
    """The folder of the weights that a folder stands for: itself, or what its result names.

    Raises:
        ValueError: it is neither a model nor a finished result.
    """
    if not folder.is_dir():
        raise ValueError(
            f"the folder of a model is needed; {folder} "
            f"{'is a file' if folder.exists() else 'does not exist'}. "
            "Make one with SupervisedHAC.save or `supclust fit`."
        )
    if (folder / RECORD_FILE).is_file():
        return folder
    result = _result_of(folder)
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
    for outputs in folder.resolve().parents:
        place = outputs / str(result["model"])
        if (place / RECORD_FILE).is_file():
            return place
    raise ValueError(
        f"{folder / RESULT_FILE} names the training {result['model']}, which is in no folder above "
        "it. Keep outputs/trainings with the results, or run the job again after deleting them."
    )


def find_cut(
    folder: Path, place: Path, linkage: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Linkage, alpha and threshold of a training, and its scores, from a result.

    Args:
        folder: that was asked for: of a result, or of the training itself.
        place: of the training.
        linkage: which; ``None``: ``exp`` if it is there, else the first.
    """
    found: dict[str, Any] = {}
    for result in _results_with(folder, place):
        cuts = {name: cut for name, cut in result["linkages"].items() if cut["alpha"] is not None}
        about = {"dataset": result["dataset"], "source": result.get("source")}
        found = {name: {**cut, **about} for name, cut in cuts.items()} | found
    chosen = linkage or ("exp" if "exp" in found else next(iter(found), None))
    if chosen in found:
        found_cut = {"linkage": chosen} | {k: found[chosen][k] for k in ("alpha", "threshold")}
        return found_cut, {k: found[chosen][k] for k in ("dev", "test", "dataset", "source")}
    if not found:
        raise ValueError(
            f"{place} is a training that no finished result with a linkage uses, so there is no "
            "height to cut at. Evaluate it: run its job of train.py to the end, with linkage=all."
        )
    raise ValueError(
        f"linkage must be one that the result has, {', '.join(found)}; received {linkage!r}. "
        f"Choose one of these, or run train.py with linkage={linkage}."
    )


def _results_with(folder: Path, place: Path) -> Iterator[dict[str, Any]]:
    if folder.resolve() != place.resolve():
        result = _result_of(folder)
        if result is not None:
            yield result
        return
    trainings = place.resolve().parent.parent  # outputs/trainings/<batch>/<key>
    if trainings.name != TRAININGS:
        return  # copied elsewhere: there are no results to look through
    outputs = trainings.parent
    name = str(place.resolve().relative_to(outputs))
    for result in find_results(outputs):
        if result["status"] == "done" and result.get("model") == name:
            yield result


def _result_of(folder: Path) -> dict[str, Any] | None:
    return read_result(folder / RESULT_FILE)


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
