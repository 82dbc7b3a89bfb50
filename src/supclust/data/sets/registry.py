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
    rexa, np_coref            seed
    aminer                    names, seed
    gum_coref                 entity_types
    vectors                   label, block, id, features, ignore, labelled
    pairs                     labels, features, ignore, flag, labelled

``load_dataset(name, ...)`` calls ``SPECS[name](...)``. To add a set, write a `DatasetSpec`; another
package names its own by ``_target_``, and may put it into ``SPECS``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

from supclust.data.block import Dataset
from supclust.data.errors import DataError
from supclust.data.sets import loaders
from supclust.data.sets.spec import Choice, DatasetSpec


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
            real=(located := spec.locate(data_dir)) is not None,
            stand_in=spec.stand_in is not None,
            own=spec.folder is None,
            path=str(located) if located is not None else "",
            summary=spec.summary,
        )
        for spec in SPECS.values()
    ]


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
    {"names": 100},
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
    {"label": "label", "block": None, "id": None, "features": None, "ignore": None}
    | {"labelled": "all"},
)
pairs = DatasetSpec(
    "pairs",
    "pairs",
    "your own pair features: block folders, or a table and dataset.labels=FILE",
    None,
    loaders.own_pairs,
    {"labels": None, "features": None, "ignore": None, "flag": True, "labelled": "all"},
)

SPECS: dict[str, DatasetSpec] = {
    spec.name: spec for spec in (faces, rexa, aminer, np_coref, gum_coref, vectors, pairs)
}
