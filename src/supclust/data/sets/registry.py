"""The data sets by name: where the real files are, how they are read, how to get them.

Each set is one `DatasetSpec`, and a spec is a callable that loads the set. Configurations name it:

    _target_: supclust.data.sets.registry.faces     # or rexa, aminer, np_coref, gum_coref,
    source: auto                                    # vectors, pairs
    path: null
    dimensions: 20
    seed: 0

The keywords are ``data_dir``, ``cache_dir``, ``source`` and ``path``, which all sets have, and the
options of the set, which are those of ``conf/dataset/<name>.yaml``:

    faces                     dimensions, seed
    rexa, aminer, np_coref    seed
    gum_coref                 entity_types
    vectors                   label, block, id, features, ignore
    pairs                     labels, features, ignore, flag

``load_dataset(name, ...)`` calls ``SPECS[name](...)``. To add a set, write a `DatasetSpec`; another
package names its own by ``_target_``, and may put it into ``SPECS``.
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
from supclust.data.sets import loaders
from supclust.data.sets.loaders import Loader

_logger = logging.getLogger(__name__)

Choice = Literal["auto", "real", "stand-in"]

DOWNLOADS = "downloads"
"""Subfolder of a set for downloaded files that are not yet in the layout of a reader."""
INCOMPLETE_FILE = "FETCH-INCOMPLETE.txt"
"""Marks the folder of a set as an interrupted download."""


@dataclass(frozen=True)
class DatasetSpec:
    """One data set; calling it loads the set.

    Attributes:
        name: The name in ``dataset=...``.
        kind: Kind of its blocks.
        summary: One line for ``supclust data list``.
        folder: Folder below the data folder; ``None`` for a user's own data, which need a path.
        prepare: ``(path, options)`` to a `Loader`; raises ``DataError`` when ``path`` holds no
            such set.
        options: Legal options with their defaults.
        stand_in: ``(options)`` to a `Loader` without files, where there is one. It adds the option
            ``seed``.
        how_to_get: What to do when the real data are absent.
    """

    name: str
    kind: Kind
    summary: str
    folder: str | None
    prepare: Callable[[Path, Mapping[str, Any]], Loader]
    options: Mapping[str, Any] = field(default_factory=dict)
    stand_in: Callable[[Mapping[str, Any]], Loader] | None = None
    how_to_get: str = ""

    def __call__(
        self,
        *,
        data_dir: str | Path | None = None,
        cache_dir: str | Path | None = None,
        source: Choice = "auto",
        path: str | Path | None = None,
        **options: Any,
    ) -> Dataset:
        """Load the set through the cache; the arguments are those of `load_dataset`."""
        if source not in ("auto", "real", "stand-in"):
            raise DataError(f"source must be auto, real or stand-in; received {source!r}")
        legal = {**self.options, **({"seed": 0} if self.stand_in else {})}
        for key in options:
            if key not in legal:
                raise DataError(
                    f"data set {self.name!r} has no option {key!r}; it has "
                    f"{', '.join(legal) or 'none'}"
                )
        chosen = {**legal, **options}
        found = None if source == "stand-in" else self.locate(data_dir, path)
        if found is not None:
            chosen.pop("seed", None)  # only a stand-in depends on it
            loader = self.prepare(found, chosen)
        else:
            loader = self._prepare_stand_in(source, data_dir, chosen)
        dataset = cached(
            loader.build,
            reader=loader.reader,
            version=loader.version,
            files=loader.files,
            options=chosen,
            cache_dir=cache_dir,
        )
        if dataset.source == "stand-in":
            dataset = dataset.with_notes(
                f"STAND-IN: generated data of the shape of {self.name}, not the real set; its "
                "numbers say nothing about the real one"
            )
            if source == "auto" and (advice := self._how_to_resume(data_dir)):
                dataset = dataset.with_notes(advice)
        for note in dataset.notes:
            _logger.warning("%s: %s", self.name, note)
        return dataset

    def locate(self, data_dir: str | Path | None, path: str | Path | None = None) -> Path | None:
        """Path of the real files, or ``None``; a given ``path`` has to exist."""
        if path is not None:
            if not Path(path).exists():
                raise missing(path)
            return Path(path)
        if data_dir is None or self.folder is None:
            return None
        folder = Path(data_dir) / self.folder
        present = folder.is_dir() and any(folder.iterdir()) and not is_incomplete(folder)
        return folder if present else None

    def _prepare_stand_in(
        self, source: Choice, data_dir: str | Path | None, options: Mapping[str, Any]
    ) -> Loader:
        if self.folder is None:
            raise DataError(f"data set {self.name!r} needs a path: dataset.path=FILE_OR_FOLDER")
        if source == "real":
            raise DataError(
                f"the real {self.name!r} data are not at {Path(data_dir or 'data') / self.folder}; "
                f"{self._how_to_resume(data_dir) or self.how_to_get}"
            )
        if self.stand_in is None:
            raise DataError(f"data set {self.name!r} has no stand-in; {self.how_to_get}")
        return self.stand_in(options)

    def _how_to_resume(self, data_dir: str | Path | None) -> str:
        """Advice where the folder of the set is an interrupted download, else nothing."""
        folder = None if data_dir is None or not self.folder else Path(data_dir) / self.folder
        if folder is None or not is_incomplete(folder):
            return ""
        return (
            f"{folder} holds an interrupted download, which is not used; "
            f"`supclust data fetch {self.name} --data {folder.parent}` resumes it"
        )


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
    if name not in SPECS:
        raise DataError(f"data set must be one of {', '.join(SPECS)}; received {name!r}")
    return SPECS[name](data_dir=data_dir, cache_dir=cache_dir, source=source, path=path, **options)


def list_datasets(data_dir: str | Path | None = None) -> list[DatasetRow]:
    """What can be loaded, and whether the real files are there."""
    return [
        DatasetRow(
            name=spec.name,
            kind=spec.kind,
            real=(found := spec.locate(data_dir)) is not None,
            stand_in=spec.stand_in is not None,
            own=spec.folder is None,
            path=str(found) if found is not None else "",
            summary=spec.summary,
        )
        for spec in SPECS.values()
    ]


def is_incomplete(folder: Path) -> bool:
    """Whether a folder holds a download that has not ended.

    >>> is_incomplete(Path("no such folder"))
    False
    """
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    return INCOMPLETE_FILE in names or names == [DOWNLOADS]


_BLOCK_FOLDERS = (
    "block folders: <block>/gtClusters.tsv (a line `id cluster` per record) with "
    "<block>/pairFeatures.csv or .tsv, also .gz (a line `id id feature... flag` per pair, the flag "
    "1 in one cluster, else 0)"
)
_ELSEWHERE = (
    ". If the data are in another folder, name it: paths.data=FOLDER, SUPCLUST_DATA or "
    "dataset.path=FOLDER"
)
_STAND_IN = f"{_ELSEWHERE}. To go on without them: dataset.source=stand-in"

faces = DatasetSpec(
    "faces",
    "vectors",
    "UMIST faces: 565 pictures of 20 people, profile to frontal; 20 principal components",
    "umist_faces",
    loaders.faces,
    {"dimensions": 20},
    loaders.faces_stand_in,
    "get them with `supclust data fetch faces`; or place there umist_cropped_112x92.npz, or one "
    f".tsv in the layout of the authors (a line `id person feature...` per picture){_STAND_IN}",
)
rexa = DatasetSpec(
    "rexa",
    "pairs",
    "Rexa author names: 8 blocks, 1459 records, 14 pair features (7 blocks are public)",
    "rexa",
    loaders.block_folders("rexa", {7: (3, 2, 2), 8: (3, 2, 3)}),
    {},
    loaders.pairs_stand_in("rexa"),
    f"get them with `supclust data fetch rexa`; or place there {_BLOCK_FOLDERS}, 14 features"
    f"{_STAND_IN}",
)
aminer = DatasetSpec(
    "aminer",
    "pairs",
    "AMINER author names: 100 blocks, 6730 records, 8 pair features",
    "aminer",
    loaders.aminer_blocks,
    {},
    loaders.pairs_stand_in("aminer"),
    "the public copy (github.com/zhizhen-kyle-luo/HGCN-name-disambiguation, experimental-results/) "
    f"has to be converted: place there {_BLOCK_FOLDERS}, 8 features; or place them in blocks/ "
    "there, with a table blocks.csv beside it (columns folder, records, in_100: 1 for the 100 "
    f"blocks of the paper){_STAND_IN}",
)
np_coref = DatasetSpec(
    "np_coref",
    "pairs",
    "Noun-phrase coreference: 104 documents, 102 pair features",
    "np_coref",
    loaders.block_folders("np_coref", {104: (62, 10, 32)}),
    {},
    loaders.pairs_stand_in("np_coref"),
    f"place there {_BLOCK_FOLDERS}, 102 features. They are not public: ask the authors of the "
    f"paper for NP_Coref, or take dataset=gum_coref{_STAND_IN}",
)
gum_coref = DatasetSpec(
    "gum_coref",
    "pairs",
    "GUM coreference: 108 English documents, 28465 mentions, 70 pair features",
    "gum_coref",
    loaders.gum_coref,
    {"entity_types": "annotated"},
    how_to_get="the public copy (github.com/amir-zeldes/gum, dep/) has to be converted: place "
    "there documents.csv, tokens.csv.gz and mentions.csv.gz; docs/gum_coref.md describes them"
    f"{_ELSEWHERE}",
)
vectors = DatasetSpec(
    "vectors",
    "vectors",
    "your own points: CSV, TSV, Parquet or npz with a label column (dataset.path=FILE)",
    None,
    loaders.own_vectors,
    {"label": "label", "block": None, "id": None, "features": None, "ignore": None},
)
pairs = DatasetSpec(
    "pairs",
    "pairs",
    "your own pair features: block folders, or a table and dataset.labels=FILE",
    None,
    loaders.own_pairs,
    {"labels": None, "features": None, "ignore": None, "flag": True},
)

SPECS: dict[str, DatasetSpec] = {
    spec.name: spec for spec in (faces, rexa, aminer, np_coref, gum_coref, vectors, pairs)
}
