"""The folder beside an unfinished output: the results of its finished chunks.

``clusters.parquet.partial/`` holds ``job.json``, a fingerprint of input, model and options, and one
file per finished chunk: the clusters of a chunk of blocks, or a chunk of scored pairs. Files are
written atomically. The folder is removed, by one rename, once the output is complete.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from supclust.cluster.chunks import BlockPlan, Ints
from supclust.data.drafts import remove_folder, remove_leftovers
from supclust.data.errors import DataError
from supclust.data.files import atomic_file, read_json, write_json

_JOB, _LOCK = "job.json", "lock"
_OURS = re.compile(
    r"lock|\.?(job\.json|(clusters|pairs)-\d+\.npy)(-[0-9a-f]{32})?|spilled-\d+\.arrow", re.ASCII
)
"""Names of files that this module and `supclust.cluster.chunks.gather` make."""


def fingerprint(path: Path, *parts: str | float | None) -> str:
    """SHA-256 of the content of a file and of further values."""
    content = hashlib.sha256()
    with path.open("rb") as stream:
        while part := stream.read(1 << 20):
            content.update(part)
    return hashlib.sha256(json.dumps([content.hexdigest(), *parts]).encode()).hexdigest()


class PartialOutput:
    """Finished chunks of one output.

    Args:
        output: the file that is being made.
        fingerprint: of everything the chunks depend on.
        what: a chunk holds; begins the names of files.
    """

    def __init__(
        self, output: Path, fingerprint: str, what: Literal["clusters", "pairs"] = "clusters"
    ) -> None:
        self.folder = output.with_name(output.name + ".partial")
        self.fingerprint = fingerprint
        self.what = what
        self.discarded = False

    @contextmanager
    def opened(self) -> Iterator[PartialOutput]:
        """Lock the folder. It is kept after an error if a chunk is finished, else removed."""
        remove_leftovers(self.folder.parent, self.folder.name)
        if self.folder.exists() and not self._is_ours():
            raise DataError(
                "is needed for unfinished work, but holds something else; move it away", self.folder
            )
        with self._locked():
            self._keep_or_discard()
            try:
                yield self
            except BaseException:
                if not self.finished():
                    remove_folder(self.folder)
                raise
            remove_folder(self.folder)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the folder's lock."""
        from filelock import FileLock, Timeout

        try:
            while True:
                self.folder.mkdir(exist_ok=True)
                with FileLock(self.folder / _LOCK).acquire(timeout=0):
                    # The process that held it before may have removed the folder.
                    if (self.folder / _LOCK).exists():
                        yield
                        return
        except Timeout:
            raise DataError(
                "another supclust is writing this output; wait for it, or choose another name",
                self.folder,
            ) from None

    def finished(self) -> set[int]:
        """Numbers of the finished chunks."""
        return {int(path.stem.partition("-")[2]) for path in self.folder.glob(f"{self.what}-*.npy")}

    def store(self, chunk: int, result: NDArray[Any]) -> None:
        """Keep the result of a chunk."""
        with atomic_file(self._file(chunk)) as draft, draft.open("wb") as stream:
            np.save(stream, result)

    def load(self, chunk: int) -> NDArray[Any]:
        """Result of a finished chunk."""
        try:
            result: NDArray[Any] = np.load(self._file(chunk), allow_pickle=False)
        except (OSError, ValueError, EOFError) as problem:
            raise self.damaged(chunk, str(problem)) from None
        return result

    def clusters(self, plan: BlockPlan) -> tuple[Ints, int]:
        """(n,) cluster of every record, numbered over all blocks; and the number of clusters."""
        clusters = np.empty(plan.n, np.int64)
        count = 0
        for chunk in range(plan.n_chunks):
            labels, starts = self.load(chunk), plan.block_starts(chunk)
            if labels.shape != (starts[-1],) or labels.dtype != np.int32:
                raise self.damaged(chunk, f"it holds {labels.dtype} {labels.shape}")
            per_block = np.maximum.reduceat(labels, starts[:-1]).astype(np.int64) + 1
            first = count + np.concatenate([[0], np.cumsum(per_block)])
            clusters[plan.rows(chunk)] = labels + np.repeat(first[:-1], np.diff(starts))
            count = int(first[-1])
        return clusters, count

    def damaged(self, chunk: int, problem: str) -> DataError:
        """The error for a chunk that cannot be used."""
        return DataError(
            f"is damaged ({problem}); delete it and run the same command again", self._file(chunk)
        )

    def _file(self, chunk: int) -> Path:
        return self.folder / f"{self.what}-{chunk:06d}.npy"

    def _is_ours(self) -> bool:
        """Whether the folder holds nothing that this command does not make."""
        return self.folder.is_dir() and all(
            _OURS.fullmatch(path.name) and path.is_file() for path in self.folder.iterdir()
        )

    def _keep_or_discard(self) -> None:
        """Keep the finished chunks of this fingerprint, remove everything else."""
        job = read_json(self.folder / _JOB) or {}
        same = job.get("fingerprint") == self.fingerprint
        self.discarded = bool(job) and not same
        for path in self.folder.iterdir():
            kept = same and (path.name == _JOB or path.name.startswith(f"{self.what}-"))
            if not kept and path.name != _LOCK:
                path.unlink()
        if not same:
            write_json(self.folder / _JOB, {"fingerprint": self.fingerprint})
