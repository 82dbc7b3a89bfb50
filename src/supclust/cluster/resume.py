"""The folder beside an unfinished output: the clusters of finished chunks, to go on from.

``clusters.parquet.partial/`` holds ``job.json``, a fingerprint of input, model and options, and one
file per finished chunk. Files appear by rename, so each is complete. The folder is removed once
the output is there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supclust.data.errors import DataError
from supclust.data.files import atomic_file, read_json, write_json

_JOB = "job.json"


class Progress:
    """Finished chunks of one output.

    Args:
        output: the file that is being made.
        fingerprint: of everything it depends on.
    """

    def __init__(self, output: Path, fingerprint: str) -> None:
        self.folder = output.with_name(output.name + ".partial")
        self.fingerprint = fingerprint
        self.discarded = False

    @contextmanager
    def opened(self) -> Iterator[Progress]:
        """Hold the folder; it stays only if something is finished and the rest is not."""
        from filelock import FileLock, Timeout

        if self.folder.exists() and not self._is_ours():
            raise DataError(
                "is needed for unfinished work, but holds something else; move it away", self.folder
            )
        self.folder.mkdir(exist_ok=True)
        try:
            # Beside the job's files, so that a folder of ours is known by either of them.
            lock = FileLock(self.folder / "lock")
            with lock.acquire(timeout=0):
                self._begin()
                try:
                    yield self
                except BaseException:
                    if not self.finished():
                        shutil.rmtree(self.folder)
                    raise
                shutil.rmtree(self.folder)
        except Timeout:
            raise DataError(
                "another supclust is writing this output; wait for it, or choose another name",
                self.folder,
            ) from None

    def finished(self) -> dict[int, Path]:
        """Files of the finished chunks."""
        return {
            int(path.stem.partition("-")[2]): path for path in self.folder.glob("clusters-*.npy")
        }

    def store(self, chunk: int, labels: NDArray[np.int32]) -> None:
        """Keep the clusters of a chunk."""
        with (
            atomic_file(self.folder / f"clusters-{chunk:06d}.npy") as draft,
            draft.open("wb") as file,
        ):
            np.save(file, labels)

    def load(self, chunk: int) -> NDArray[np.int32]:
        """Clusters of a finished chunk."""
        labels: NDArray[np.int32] = np.load(
            self.folder / f"clusters-{chunk:06d}.npy", allow_pickle=False
        )
        return labels

    def _is_ours(self) -> bool:
        names = {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else {"?"}
        return not names or _JOB in names or names == {"lock"}

    def _begin(self) -> None:
        """Keep what fits, discard what belongs to another input, model or options."""
        job = read_json(self.folder / _JOB) or {}
        same = job.get("fingerprint") == self.fingerprint
        self.discarded = bool(job) and not same
        for path in self.folder.iterdir():
            stale = path.name.startswith((".", "draft-", "waiting-")) or not same
            if stale and path.name != "lock":
                path.unlink()
        if not same:
            write_json(self.folder / _JOB, {"fingerprint": self.fingerprint})
