"""The data sets by name: where the real files are, how they are read, what stands in for them.

To add one, write a ``DatasetSpec`` and put it into ``SPECS``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict

from supclust.data.block import Dataset, Kind
from supclust.data.cache import cached
from supclust.data.errors import DataError, missing
from supclust.data.sets import loaders as readings
from supclust.data.sets.how_to_get import HOW_TO_GET
from supclust.data.sets.loaders import Reading
from supclust.data.sets.unfinished import how_to_resume, is_unfinished

_logger = logging.getLogger(__name__)

Choice = Literal["auto", "real", "stand-in"]


@dataclass(frozen=True)
class DatasetSpec:
    """One name of ``dataset=...``.

    Attributes:
        name: The name.
        kind: Kind of its blocks.
        summary: One line for ``supclust data list``.
        folder: Folder below the data folder; ``None`` for people's own data, which need a path.
        prepare: ``(path, options)`` to a ``Reading``; raises ``DataError`` when ``path`` holds no
            such set.
        options: Legal options with their defaults.
        stand_in: ``(options)`` to a ``Reading`` without files, where there is one.
        how_to_get: What to do when the real data are absent.
    """

    name: str
    kind: Kind
    summary: str
    folder: str | None
    prepare: Callable[[Path, Mapping[str, Any]], Reading]
    options: Mapping[str, Any] = field(default_factory=dict)
    stand_in: Callable[[Mapping[str, Any]], Reading] | None = None
    how_to_get: str = ""


class DatasetRow(TypedDict):
    """A row of ``supclust data list``."""

    name: str
    kind: str
    real: bool
    stand_in: bool
    own: bool
    path: str
    summary: str


def load_dataset(
    name: str,
    *,
    data_dir: str | Path | None = None,
    cache_dir: str | Path | None = None,
    source: Choice = "auto",
    path: str | Path | None = None,
    **options: Any,
) -> Dataset:
    """Load a data set by name, through the cache.

    Args:
        name: ``faces``, ``rexa``, ``aminer``, ``np_coref``, ``gum_coref``, or ``vectors`` and
            ``pairs`` for one's own data.
        data_dir: Folder of the real sets, one folder each; ``None``: there are none.
        cache_dir: Folder of the cache; default: that of the user.
        source: ``real`` refuses where the real set is absent, ``stand-in`` generates, ``auto``
            takes the real set where it is and generates otherwise.
        path: Read this file or folder in place of the one below ``data_dir``.
        options: Options of the set, see ``SPECS[name].options``; all have ``seed`` for their
            stand-in.

    Returns:
        The set; ``notes`` says what has been left out, and that it is a stand-in if it is.
    """
    spec = _spec(name)
    if source not in ("auto", "real", "stand-in"):
        raise DataError(f"source must be auto, real or stand-in, got {source!r}")
    chosen = _options(spec, options)
    place = None if source == "stand-in" else _locate(spec, data_dir, path)
    if place is not None:
        chosen.pop("seed", None)  # only a stand-in depends on it
        reading = spec.prepare(place, chosen)
    else:
        reading = _prepare_stand_in(spec, source, data_dir, chosen)
    dataset = cached(
        reading.build,
        reader=reading.reader,
        version=reading.version,
        files=reading.files,
        options=chosen,
        cache_dir=cache_dir,
    )
    if dataset.source == "stand-in":
        dataset = dataset.with_notes(
            f"STAND-IN: generated data of the shape of {name}, not the real set; its numbers say "
            f"nothing about the real one"
        )
        if source == "auto" and (left := _unfinished(spec, data_dir)) is not None:
            dataset = dataset.with_notes(how_to_resume(left, name))
    for note in dataset.notes:
        _logger.warning("%s: %s", name, note)
    return dataset


def list_datasets(data_dir: str | Path | None = None) -> list[DatasetRow]:
    """What can be loaded, and whether the real files are there."""
    return [
        DatasetRow(
            name=spec.name,
            kind=spec.kind,
            real=(place := _locate(spec, data_dir, None)) is not None,
            stand_in=spec.stand_in is not None,
            own=spec.folder is None,
            path=str(place) if place is not None else "",
            summary=spec.summary,
        )
        for spec in SPECS.values()
    ]


def _spec(name: str) -> DatasetSpec:
    if name not in SPECS:
        raise DataError(f"data set must be one of {', '.join(SPECS)}, got {name!r}")
    return SPECS[name]


def _options(spec: DatasetSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    legal = {**spec.options, **({"seed": 0} if spec.stand_in else {})}
    unknown = [key for key in given if key not in legal]
    if unknown:
        raise DataError(
            f"data set {spec.name!r} has no option {unknown[0]!r}; it has "
            f"{', '.join(legal) or 'none'}"
        )
    return {**legal, **given}


def _locate(spec: DatasetSpec, data_dir: str | Path | None, path: str | Path | None) -> Path | None:
    """Where the real files are, or ``None``; a path that was asked for has to be there."""
    if path is not None:
        if not Path(path).exists():
            raise missing(path)
        return Path(path)
    if data_dir is None or spec.folder is None:
        return None
    place = Path(data_dir) / spec.folder
    there = place.is_dir() and any(place.iterdir()) and not is_unfinished(place)
    return place if there else None


def _unfinished(spec: DatasetSpec, data_dir: str | Path | None) -> Path | None:
    """The folder of the real set, if an interrupted fetch has left it."""
    if data_dir is None or spec.folder is None:
        return None
    place = Path(data_dir) / spec.folder
    return place if is_unfinished(place) else None


def _prepare_stand_in(
    spec: DatasetSpec, source: Choice, data_dir: str | Path | None, options: Mapping[str, Any]
) -> Reading:
    if spec.folder is None:
        raise DataError(f"data set {spec.name!r} needs a path: dataset.path=FILE_OR_FOLDER")
    if source == "real":
        left = _unfinished(spec, data_dir)
        advice = spec.how_to_get if left is None else how_to_resume(left, spec.name)
        raise DataError(
            f"the real {spec.name!r} data are not at {Path(data_dir or 'data') / spec.folder}; "
            f"{advice}"
        )
    if spec.stand_in is None:
        raise DataError(f"data set {spec.name!r} has no stand-in; {spec.how_to_get}")
    return spec.stand_in(options)


SPECS: dict[str, DatasetSpec] = {
    spec.name: spec
    for spec in (
        DatasetSpec(
            "faces",
            "vectors",
            "UMIST faces: 565 pictures of 20 people, profile to frontal; 20 principal components",
            "umist_faces",
            readings.faces,
            {"dimensions": 20},
            readings.faces_stand_in,
            HOW_TO_GET["faces"],
        ),
        DatasetSpec(
            "rexa",
            "pairs",
            "Rexa author names: 8 blocks, 1459 records, 14 pair features (7 blocks are public)",
            "rexa",
            readings.block_folders("rexa", {7: (3, 2, 2), 8: (3, 2, 3)}),
            {},
            readings.pairs_stand_in("rexa"),
            HOW_TO_GET["rexa"],
        ),
        DatasetSpec(
            "aminer",
            "pairs",
            "AMINER author names: 100 blocks, 6730 records, 8 pair features",
            "aminer",
            readings.aminer_blocks,
            {},
            readings.pairs_stand_in("aminer"),
            HOW_TO_GET["aminer"],
        ),
        DatasetSpec(
            "np_coref",
            "pairs",
            "Noun-phrase coreference: 104 documents, 102 pair features",
            "np_coref",
            readings.block_folders("np_coref", {104: (62, 10, 32)}),
            {},
            readings.pairs_stand_in("np_coref"),
            HOW_TO_GET["np_coref"],
        ),
        DatasetSpec(
            "gum_coref",
            "pairs",
            "GUM coreference: 108 English documents, 28465 mentions, 70 pair features",
            "gum_coref",
            readings.gum_coref,
            {"entity_types": "annotated"},
            None,
            HOW_TO_GET["gum_coref"],
        ),
        DatasetSpec(
            "vectors",
            "vectors",
            "your own points: CSV, TSV, Parquet or npz with a label column (dataset.path=FILE)",
            None,
            readings.own_vectors,
            {"label": "label", "block": None, "id": None, "features": None, "ignore": None},
        ),
        DatasetSpec(
            "pairs",
            "pairs",
            "your own pair features: block folders, or a table and dataset.labels=FILE",
            None,
            readings.own_pairs,
            {"labels": None, "features": None, "ignore": None, "flag": True},
        ),
    )
}
