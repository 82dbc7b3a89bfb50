"""Finished trainings, found by what went into them: shared by jobs that differ in linkage only.

Splits that were trained together are stored together, as a folder ``trainings/<batch>/`` with one
folder ``<key>/`` per split that holds ``model.safetensors`` and ``model.json`` (with the checksum
of the former). A batch appears by one rename: it is there completely or not at all, so a run that
was killed repeats exactly the batch it would have trained. An entry that does not match its
checksum is trained again. Alphas fitted after training are stored likewise, a file per batch.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from supclust.data.files import atomic_folder, read_json, write_bytes, write_json
from supclust.experiment.config import fingerprint
from supclust.model.folder import RECORD_FILE, WEIGHTS_FILE, numerical_versions
from supclust.model.trained import Training

PATIENCE_SECONDS = 2.0

_logger = logging.getLogger(__name__)


class TrainingStore:
    """The trainings of an outputs folder.

    Args:
        outputs: the folder.
    """

    def __init__(self, outputs: Path) -> None:
        self.outputs = outputs
        self.root = outputs / "trainings"

    def key(self, identity: Mapping[str, Any]) -> str:
        """Name of a training: a hash of everything its numbers depend on."""
        return fingerprint({**identity, **numerical_versions()})[:20]

    @contextmanager
    def locked(self, keys: Sequence[str]) -> Iterator[None]:
        """Keep other processes from training the same; a killed process loses its locks."""
        from filelock import FileLock, Timeout

        folder = self.root / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as held:
            # Everybody takes locks in one order, so nobody waits in a circle.
            for key in sorted(keys):
                lock = FileLock(folder / f"{key}.lock")
                try:
                    held.enter_context(lock.acquire(timeout=PATIENCE_SECONDS))
                except Timeout:
                    _logger.warning("another run is working on the same training; waiting for it")
                    held.enter_context(lock.acquire())
            yield

    def load(self, key: str) -> Training | None:
        """A training; ``None`` if it is absent or damaged."""
        # Names that begin with a dot are drafts of runs that were killed.
        found = (_load(place) for place in sorted(self.root.glob(f"[!.]*/{key}")))
        return next((training for training in found if training is not None), None)

    def save(self, trainings: Mapping[str, Training]) -> None:
        """Add trainings done together, by key; call it with their locks held."""
        from safetensors.torch import save

        # A folder of these names exists only if one of its members is damaged.
        with atomic_folder(self.root / _batch_name(trainings)) as draft:
            for key, training in trainings.items():
                content = save({name: t.contiguous() for name, t in training.weights.items()})
                checksum = hashlib.sha256(content).hexdigest()
                write_bytes(draft / key / WEIGHTS_FILE, content)
                record = {**training.record, "weights_sha256": checksum}
                write_json(draft / key / RECORD_FILE, record)

    def load_alphas(self, keys: Sequence[str]) -> dict[str, float]:
        """Alphas fitted after training, of those trainings that have one."""
        found: dict[str, float] = {}
        for path in sorted((self.root / "alphas").glob("*.json")):
            known = (read_json(path) or {}).get("alphas", {})
            found |= {key: float(known[key]) for key in keys if key in known}
        return found

    def save_alphas(self, alphas: Mapping[str, float]) -> None:
        """Add alphas fitted together, by key; call it with their locks held."""
        write_json(self.root / "alphas" / f"{_batch_name(alphas)}.json", {"alphas": dict(alphas)})


def _batch_name(keys: Iterable[str]) -> str:
    return fingerprint({"keys": sorted(keys)})[:12]


def _load(place: Path) -> Training | None:
    from safetensors import SafetensorError
    from safetensors.torch import load

    record = read_json(place / RECORD_FILE)
    try:
        content = (place / WEIGHTS_FILE).read_bytes()
        if record is None or hashlib.sha256(content).hexdigest() != record["weights_sha256"]:
            raise ValueError("it does not match its checksum")
        return Training(load(content), {**record, "place": str(place)})
    except (OSError, ValueError, KeyError, SafetensorError) as problem:
        _logger.warning("%s is damaged (%s); training again", place, problem)
        return None
