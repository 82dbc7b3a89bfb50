"""Trainings of an outputs folder, shared by jobs that differ in linkage only.

Splits that were trained together are stored together: ``trainings/<batch>/<key>/`` is the model
folder of one split, ``key`` a hash of everything its numbers depend on. A batch appears by one
rename, completely or not at all, so a run that was killed repeats exactly the batch it would have
trained. A damaged entry is trained again. Alphas fitted after training are stored likewise, a file
per batch.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from supclust.data.documents import read_document
from supclust.data.drafts import remove_leftovers
from supclust.data.errors import DataError
from supclust.data.files import atomic_folder, write_json
from supclust.model.folder import TRAININGS, numerical_versions, read_model, write_model
from supclust.model.trained import TrainedModel
from supclust.schema import Number

LOCK_SECONDS = 2.0  # to wait for another run before saying so

_logger = logging.getLogger(__name__)


class TrainingStore:
    """The trainings of an outputs folder.

    Args:
        outputs: the folder.
    """

    def __init__(self, outputs: Path) -> None:
        self.outputs = outputs
        self.root = outputs / TRAININGS

    def key(self, identity: Mapping[str, Any]) -> str:
        """Name of a training: a hash of everything its numbers depend on."""
        return fingerprint({**identity, **numerical_versions()})[:20]

    @contextmanager
    def locked(self, keys: Sequence[str]) -> Iterator[None]:
        """Hold the locks of some trainings; those of a killed process are free again."""
        from filelock import FileLock, Timeout

        folder = self.root / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as held:
            # Locks are taken in sorted order, which prevents deadlock.
            for key in sorted(keys):
                lock = FileLock(folder / f"{key}.lock")
                try:
                    held.enter_context(lock.acquire(timeout=LOCK_SECONDS))
                except Timeout:
                    _logger.warning("another run is working on the same training; waiting for it")
                    held.enter_context(lock.acquire())
            yield

    def load(self, key: str) -> TrainedModel | None:
        """The model of a training, without linkage and cut; ``None`` if absent or damaged."""
        # Names that begin with a dot are drafts of runs that were killed.
        for folder in sorted(self.root.glob(f"[!.]*/{key}")):
            try:
                return read_model(folder)
            except ValueError as problem:
                _logger.warning("%s is damaged (%s); training again", folder, problem)
        return None

    def save(self, models: Mapping[str, TrainedModel]) -> None:
        """Add models trained together, by key; call it with their locks held."""
        remove_leftovers(self.root)
        # A folder of these names exists only if one of its members is damaged.
        with atomic_folder(self.root / _batch_name(models)) as draft:
            for key, model in models.items():
                write_model(model, draft / key)

    def load_alphas(self, keys: Sequence[str]) -> dict[str, float]:
        """Alphas fitted after training, of those trainings that have one."""
        alphas: dict[str, float] = {}
        for path in sorted((self.root / "alphas").glob("*.json")):
            try:
                stored = read_document(path, {"alphas": {"*": Number}})["alphas"]
            except DataError as problem:
                _logger.warning("left out: %s; fitting again", problem)
                continue
            alphas |= {key: float(stored[key]) for key in keys if key in stored}
        return alphas

    def save_alphas(self, alphas: Mapping[str, float]) -> None:
        """Add alphas fitted together, by key; call it with their locks held."""
        write_json(self.root / "alphas" / f"{_batch_name(alphas)}.json", {"alphas": dict(alphas)})


def fingerprint(identity: Mapping[str, Any]) -> str:
    """SHA-256 of a JSON-able identity, independent of the order of its keys.

    >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    True
    """
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _batch_name(keys: Iterable[str]) -> str:
    return fingerprint({"keys": sorted(keys)})[:12]
