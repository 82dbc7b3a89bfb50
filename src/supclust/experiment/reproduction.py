"""The paper's tables on real data: sweeps of the template ``reproduce``, and how long they took."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from supclust.data.files import read_json, write_json
from supclust.experiment.provenance import commit, machine, versions

DATASETS = ("faces", "aminer", "rexa", "gum_coref")
PARTS = ("grid", "top_down")
RECORD_FILE = "reproduction.json"
TEMPLATE = "reproduce"
INTERRUPTED = 130  # exit code after Ctrl-C


class Options(NamedTuple):
    """How to run the sweeps.

    Attributes:
        conf: folder of the configuration; ``train.py`` and the templates lie beside it.
        data: folder of the real data sets.
        outputs: folder of the results.
        jobs: number of worker processes.
        splits: how many, from 0.
        chunk: splits trained together.
        overrides: settings that differ from the paper's.
    """

    conf: Path
    data: Path
    outputs: Path
    jobs: int = 2
    splits: int = 50
    chunk: int = 25
    overrides: tuple[str, ...] = ()


def reproduce(datasets: Sequence[str], parts: Sequence[str], options: Options) -> int:
    """Run the sweeps one after the other; finished results are not computed again.

    Returns:
        Exit code: 0, 1 if jobs failed, 2 for wrong usage, 130 after Ctrl-C.
    """
    record = _Record(options)
    code = 0
    for part in parts:
        for dataset in datasets:
            with record.timed(dataset, part):
                for command in commands(dataset, part, options):
                    returned = subprocess.run(command, check=False).returncode
                    if returned in (2, INTERRUPTED):
                        return returned
                    code = max(code, int(returned != 0))
    return code


def commands(dataset: str, part: str, options: Options) -> Iterator[list[str]]:
    """Command lines of the sweeps of one part of the tables of a data set.

    Args:
        dataset: name.
        part: ``grid``: all objectives, four linkages. ``top_down``: recursive sparsest cut with the
            models of the grid, and random trees, which do not depend on the model.
        options: how to run them.
    """
    root = options.conf.resolve().parent
    numbers = range(options.splits)
    chunks = [numbers[i : i + options.chunk] for i in numbers[:: options.chunk]]
    splits = ",".join(f"[{','.join(map(str, chunk))}]" for chunk in chunks)
    every = f"[{','.join(map(str, numbers))}]"
    grid = [f"dataset={dataset}", f"split={splits}", "linkage=all"]
    top_down = [
        [f"dataset={dataset}", f"split={splits}", "linkage=rsc"],
        [f"dataset={dataset}", f"split={every}", "linkage=random", "objective=exp_alpha"],
    ]
    for sweep in [grid] if part == "grid" else top_down:
        yield [
            *(sys.executable, str(root / "train.py")),
            *("--config-dir", str(root / "multirun_templates"), "--config-name", TEMPLATE),
            f"paths.data='{options.data.resolve()}'",
            f"paths.outputs='{options.outputs.resolve()}'",
            f"hydra.launcher.n_jobs={options.jobs}",
            *sweep,
            *options.overrides,
        ]


class _Record:
    """``reproduction.json``: wall times per part and data set, summed over sessions.

    A session is one call of the command; its commit, machine and versions are kept.
    """

    def __init__(self, options: Options) -> None:
        self.path = options.outputs / RECORD_FILE
        content = read_json(self.path) or {}
        self.content: dict[str, Any] = {"stages": {}, "sessions": [], **content}
        self.session: dict[str, Any] = {
            "started": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%MZ"),
            "commit": commit(options.conf.resolve().parent),
            "workers": options.jobs,
            "overrides": list(options.overrides),
            "machine": machine(),
            "versions": versions(),
            "wall_seconds": {},
        }

    @contextmanager
    def timed(self, dataset: str, part: str) -> Iterator[None]:
        """Add the wall time of the block, unless it left all results as they were."""
        start, before = time.monotonic(), _finished(self.path.parent, dataset)
        try:
            yield
        finally:
            if _finished(self.path.parent, dataset) != before:
                self._add(f"{dataset}/{part}", time.monotonic() - start)

    def _add(self, stage: str, seconds: float) -> None:
        if not self.session["wall_seconds"]:
            self.content["sessions"].append(self.session)
        self.session["wall_seconds"][stage] = round(seconds, 1)
        sums = self.content["stages"].setdefault(stage, {"wall_seconds": 0.0})
        sums["wall_seconds"] = round(sums["wall_seconds"] + seconds, 1)
        write_json(self.path, self.content)


def _finished(outputs: Path, dataset: str) -> dict[Path, float]:
    """Results of a data set with the times they were written."""
    return {path: path.stat().st_mtime for path in (outputs / dataset).rglob("result.json")}
