"""The loader of each data set: which files it reads, and the call that reads them.

Readers are imported when a set is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from supclust.data.block import Dataset
from supclust.data.errors import DataError, require_file
from supclust.data.sets.spec import Loader

Reading = Loader  # the name in version 0.1


def faces(path: Path, options: Mapping[str, Any]) -> Loader:
    """The UMIST file, or the authors' text, in a folder or given itself."""
    from supclust.data.sets import faces as face_files

    if path.is_dir() and not (path / face_files.UMIST_FILE).is_file():
        texts = sorted(path.glob("*.tsv"))
        if len(texts) != 1:
            raise DataError(
                f"expected {face_files.UMIST_FILE}, or one .tsv of the authors' layout", path
            )
        path = texts[0]
    elif path.is_dir():
        path = path / face_files.UMIST_FILE
    if path.suffix == ".npz":
        dimensions = options["dimensions"]
        return Loader(
            "umist", face_files.VERSION, [path], lambda: face_files.read_umist(path, dimensions)
        )

    from supclust.data.layouts import vectors as vector_files

    def build() -> Dataset:
        read = vector_files.read_vectors(path, name="faces", source="real")
        sizes = face_files.SIZES if read.n_clusters == sum(face_files.SIZES) else None
        return replace(read, sizes=sizes, balance=face_files.BALANCE)

    return Loader("faces-text", vector_files.VERSION, [path], build)


def faces_stand_in(options: Mapping[str, Any]) -> Loader:
    """The rendered faces."""
    from supclust.data.sets import faces as face_files
    from supclust.data.sets import synthetic_faces

    version = 1000 * face_files.VERSION + synthetic_faces.VERSION
    return Loader(
        "synthetic-faces",
        version,
        [],
        lambda: face_files.synthetic_faces(options["seed"], options["dimensions"]),
    )


def block_folders(
    name: str, sizes: dict[int, tuple[int, int, int]]
) -> Callable[[Path, Mapping[str, Any]], Loader]:
    """The block folders of a named set; ``sizes`` are its split sizes by number of blocks."""

    def prepare(path: Path, options: Mapping[str, Any]) -> Loader:
        return _folders(path, f"pair-folders/{name}", name=name, source="real", sizes=sizes)

    return prepare


def _folders(path: Path, reader: str, **options: Any) -> Loader:
    from supclust.data.layouts import pair_folders

    folders = pair_folders.block_folders(path)
    return Loader(
        reader,
        pair_folders.VERSION,
        pair_folders.input_files(folders),
        lambda: pair_folders.read_pair_folders(path, folders=folders, **options),
    )


def aminer_blocks(path: Path, options: Mapping[str, Any]) -> Loader:
    """The blocks ``blocks.csv`` chooses, or all block folders where there is no such file."""
    from supclust.data.layouts import pair_folders
    from supclust.data.sets import aminer

    if not (path / aminer.INDEX_FILE).is_file():
        return block_folders("aminer", aminer.SIZES)(path, options)
    folders = aminer.chosen_folders(path, options["names"])
    return Loader(
        "aminer",
        aminer.VERSION + 1000 * pair_folders.VERSION,
        [path / aminer.INDEX_FILE, *pair_folders.input_files(folders)],
        lambda: aminer.read_aminer(path, options["names"]),
    )


def pairs_stand_in(name: str) -> Callable[[Mapping[str, Any]], Loader]:
    """The generated pairs of a named set."""

    def prepare(options: Mapping[str, Any]) -> Loader:
        from supclust.data.sets import synthetic_pairs

        return Loader(
            f"synthetic-pairs/{name}",
            synthetic_pairs.VERSION,
            [],
            lambda: synthetic_pairs.synthetic_pairs(name, options["seed"]),
        )

    return prepare


def gum_coref(path: Path, options: Mapping[str, Any]) -> Loader:
    """The GUM tables, made into pair features."""
    from supclust.data.sets.gum import dataset as gum
    from supclust.data.sets.gum import mentions as gum_mentions

    return Loader(
        "gum-coref",
        gum.VERSION,
        gum_mentions.table_files(path),
        lambda: gum.read_gum_coref(path, options["entity_types"]),
    )


def own_vectors(path: Path, options: Mapping[str, Any]) -> Loader:
    """A user's own points."""
    from supclust.data.layouts import vectors as vector_files

    return Loader(
        "vectors",
        vector_files.VERSION,
        [path],
        lambda: vector_files.read_vectors(path, **options),
    )


def own_pairs(path: Path, options: Mapping[str, Any]) -> Loader:
    """A user's own pairs: a folder of block folders, or a table with its labels."""
    from supclust.data.layouts import pair_tables

    if path.is_dir():
        named = [key for key in ("labels", "features", "ignore") if options[key]]
        named += ["labelled"] if options["labelled"] == "complete" else []
        if named:
            raise DataError(
                f"dataset.{named[0]} belongs to a table of pairs; block folders have no column "
                "names and bring their labels",
                path,
            )
        return _folders(path, "pair-folders", flag=options["flag"])
    if not options["labels"]:
        raise DataError(
            "a table of pairs needs the table of labels too: dataset.labels=FILE (columns id, "
            "label)",
            path,
        )
    labels = require_file(options["labels"])
    return Loader(
        "pair-table",
        pair_tables.VERSION,
        [path, labels],
        lambda: pair_tables.read_pair_table(
            path, labels, **{key: options[key] for key in ("features", "ignore", "labelled")}
        ),
    )
