"""The folder of a store: which segments are its current version, and who may write.

``store.json`` names the segments. It is replaced by one rename, so a writer that is killed leaves
the old or the new version; what it wrote besides is removed by the next writer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from supclust.data.documents import Finite, Text, read_document
from supclust.data.drafts import held, remove, remove_leftovers
from supclust.data.errors import DataError, missing
from supclust.data.files import write_json
from supclust.data.tables.cast import Kind
from supclust.schema import Count, Natural, Rule
from supclust.store.folder.segments import sync_folder

FILE, SEGMENTS, MODEL, LOCK = "store.json", "segments", "model", ".lock"
FORMAT = 1
"""Raised when older versions would misread a store."""

_SEGMENT = re.compile(r"\d{6,}-[0-9a-f]{8}")
_Segment = Annotated[
    str, Rule("a name of a segment", lambda v: isinstance(v, str) and bool(_SEGMENT.fullmatch(v)))
]
_Flag = Annotated[bool, Rule("true or false", lambda v: isinstance(v, bool))]
_Kind = Annotated[str, Rule("text or number", lambda v: v in ("text", "number"))]
_DESCRIPTION = {
    "format": Count,
    "version": Count,
    "segments": [_Segment],
    "rows": Natural,
    "records": Natural,
    "next_cluster": Natural,
    "all_pairs": _Flag,
    "threshold": Finite,
    "id": Text,
    "columns": {"*": _Kind},
    "model": Text,
    "trained": Text,
}


@dataclass(frozen=True)
class Manifest:
    """What ``store.json`` says.

    Attributes:
        version: counts the changes, from 1.
        segments: folders, in order.
        rows: of all segments, with those that were removed.
        records: that there are.
        next_cluster: id of the next new cluster.
        all_pairs: whether all pairs are candidates, as in small tables; else those of rules.
        threshold: height to cut at.
        id: column of ids.
        columns: that the model reads, and how.
        model: digest of the model in the store.
        trained: digest of the model that the store was made with; frequencies of words may have
            been added to it.
    """

    version: int
    segments: tuple[str, ...]
    rows: int
    records: int
    next_cluster: int
    all_pairs: bool
    threshold: float
    id: str
    columns: Mapping[str, Kind]
    model: str
    trained: str

    def after(self, **changes: Any) -> Manifest:
        """The manifest of the next version."""
        return replace(self, version=self.version + 1, **changes)


def read_manifest(folder: Path) -> Manifest:
    """Read and check ``store.json``."""
    path = folder / FILE
    if not folder.is_dir():
        raise missing(folder) if not folder.exists() else _no_store(folder)
    if not path.is_file():
        raise _no_store(folder)
    described = read_document(path, {"format": Count})
    if described["format"] != FORMAT:
        raise DataError(
            f"a store of format {FORMAT} is needed; received format {described['format']}. Use the "
            "version of supclust that wrote it, or make the store again with supclust cluster "
            "--store",
            path,
        )
    described = read_document(path, _DESCRIPTION)
    del described["format"]
    known = {name.removesuffix("?") for name in _DESCRIPTION}
    described = {name: value for name, value in described.items() if name in known}
    return Manifest(**{**described, "segments": tuple(described["segments"])})


def _no_store(folder: Path) -> DataError:
    return DataError(
        f"is no entity store: it has no {FILE}. Make one with supclust cluster ... --store", folder
    )


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Make a version the current one."""
    write_json(folder / FILE, {"format": FORMAT, **asdict(manifest)})
    sync_folder(folder)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Be the only writer of a store; what a killed writer left is removed."""
    lock = folder / LOCK
    lock.touch()
    with held(lock) as ours:
        if not ours:
            raise DataError(
                "is being written by another process; run the command again when it is done", folder
            )
        current = read_manifest(folder).segments
        for path in (folder / SEGMENTS).iterdir():
            if path.name not in current:
                remove(path)
        remove_leftovers(folder)
        yield
