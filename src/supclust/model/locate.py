"""Find the model that a folder stands for, in what ``train.py`` or `write_model` wrote.

One split of a job of ``train.py`` has a ``result.json`` with linkages, cuts and scores, which names
the training: the model folder with the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supclust.data.documents import read_document
from supclust.data.errors import DataError
from supclust.model.checks import RECORD
from supclust.model.folder import (
    RECORD_FILE,
    TRAININGS,
    read_learned,
    read_model,
    result_cut_file,
)
from supclust.model.trained import TrainedModel

if TYPE_CHECKING:
    from supclust.dissimilarity import Dissimilarity


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
        model = model.with_module(dissimilarity)
    elif "class" in model.spec:
        _ = model.dissimilarity  # raises: it cannot be built
    return model


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
    if outputs is None:
        return None
    try:
        return read_document(outputs / result["model"] / RECORD_FILE, RECORD)
    except DataError:
        return None


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
    from supclust.model.results import RESULT_FILE, read_result

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
        folder: that the caller named: of a result, or of the training itself.
        linkage: which; ``None``: ``exp`` if it is there, else the first.
    """
    cuts: dict[str, dict[str, Any]] = {}
    for result in _results_of(model, folder):
        about = {"dataset": result["dataset"], "source": result.get("source")}
        for name, cut in result["linkages"].items():
            if cut["alpha"] is not None and name not in cuts:
                cuts[name] = {**cut, **about, "folder": Path(result["path"]).parent}
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
    learned = read_learned(cut.get("learned"), cut["folder"] / result_cut_file(chosen))
    return replace(
        model, linkage=chosen, alpha=alpha, threshold=height, learned=learned, record=record
    )


def _results_of(model: TrainedModel, folder: Path) -> Iterator[dict[str, Any]]:
    from supclust.model.results import RESULT_FILE, find_results, read_result

    assert model.folder is not None
    training = model.folder.resolve()
    if folder.resolve() != training:
        result = read_result(folder / RESULT_FILE)
        if result is not None:
            yield {**result, "path": str(folder / RESULT_FILE)}
        return
    trainings = training.parent.parent  # outputs/trainings/<batch>/<key>
    if trainings.name != TRAININGS:
        return  # copied elsewhere: there are no results to search
    name = str(training.relative_to(trainings.parent))
    for result in find_results(trainings.parent):
        if result["status"] == "done" and result.get("model") == name:
            yield result
