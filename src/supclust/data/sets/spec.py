"""A data set by name: where its real files are, how they are read, what stands in for them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from supclust.data.block import Dataset, Kind
from supclust.data.cache import cached
from supclust.data.errors import DataError, missing

_logger = logging.getLogger(__name__)

Choice = Literal["auto", "real", "stand-in"]

DOWNLOADS = "downloads"
"""Subfolder of a set for downloaded files that are not yet in the layout of a reader."""
INCOMPLETE_FILE = "FETCH-INCOMPLETE.txt"
"""Marks the folder of a set as an interrupted download."""


@dataclass(frozen=True)
class Loader:
    """A call that makes a data set, and what its result depends on (the key of the cache).

    Attributes:
        reader: Name of the reader.
        version: Raised whenever the result of the reader changes.
        files: Everything it reads.
        build: The call.
    """

    reader: str
    version: int
    files: list[Path]
    build: Callable[[], Dataset]


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
        located = None if source == "stand-in" else self.locate(data_dir, path)
        if located is not None:
            chosen.pop("seed", None)  # only a stand-in depends on it
            loader = self.prepare(located, chosen)
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


def is_incomplete(folder: Path) -> bool:
    """Whether a folder holds a download that has not ended.

    >>> is_incomplete(Path("no such folder"))
    False
    """
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    return INCOMPLETE_FILE in names or names == [DOWNLOADS]
