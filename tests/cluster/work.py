"""Commands that are run on a cluster and on this machine alone, and their inputs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
SMOKE = ("dataset=faces,rexa", "objective=all_pairs,exp_alpha", "split=[0,1]")
"""The sweep of the template ``smoke``, for other templates."""


class Failure(Exception):  # noqa: N818
    """What a check did not find as it should be."""


def start(words: Sequence[object], folder: Path, **environment: str) -> subprocess.Popen[str]:
    """A command in a folder; what it prints goes to a file there."""
    log = (folder / "log.txt").open("a")
    log.write(f"$ {' '.join(map(str, words))}\n")
    log.flush()
    return subprocess.Popen(
        list(map(str, words)), cwd=folder, stdout=log, stderr=log, text=True,
        env={**os.environ, **environment},
    )  # fmt: skip


def run(words: Sequence[object], folder: Path, seconds: float = 600, **environment: str) -> None:
    """Run a command to its end; fails with its last lines."""
    require_success(start(words, folder, **environment), folder, seconds)


def require_success(process: subprocess.Popen[str], folder: Path, seconds: float = 600) -> None:
    """Wait for a command; fails with its last lines."""
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failure(f"took more than {seconds:.0f} s: {_last_lines(folder)}") from None
    if code:
        raise Failure(f"exit code {code}: {_last_lines(folder)}")


def _last_lines(folder: Path) -> str:
    return " / ".join((folder / "log.txt").read_text().splitlines()[-6:])


def supclust(*words: object) -> list[object]:
    """The command ``supclust``."""
    return [sys.executable, "-m", "supclust", *words]


def cluster_command(output: str, *more: str) -> list[object]:
    """Cluster the table of `write_inputs`."""
    return supclust("cluster", "records.parquet", "--model", "model", "-o", output, *more)


def write_inputs(folder: Path, records: int) -> None:
    """Tables and models of the checks, and the clusters that this machine alone gives."""
    _write_records(folder, records)
    _write_edges(folder, records)
    run(cluster_command("local.parquet"), folder)


def sweep(folder: Path, template: str, name: str, *overrides: str) -> list[object]:
    """The smoke sweep by a template; results in the folder ``name``."""
    here = (f"paths.{what}={folder / name / what}" for what in ("outputs", "cache", "data"))
    words = () if template == "smoke" else (*SMOKE, "trainer.max_epochs=3", "logger=none")
    templates = ROOT / "multirun_templates"
    where = ("--config-dir", templates, "--config-name", template)
    return [sys.executable, ROOT / "train.py", *where, *words, *here, *overrides]


def same_bytes(expected: Path, received: Path) -> None:
    """Fails unless two files are equal."""
    if expected.read_bytes() != received.read_bytes():
        raise Failure(f"{received.name} differs from {expected.name}")


def same_summary(folder: Path, received: str, expected: str = "basic") -> None:
    """Fails unless two sweeps have the same summary and results of all jobs."""
    ours, theirs = (folder / name / "outputs" for name in (received, expected))
    same_bytes(theirs / "summary.csv", ours / "summary.csv")
    counts = [len(list(path.rglob("result.json"))) for path in (theirs, ours)]
    if counts[0] != counts[1] or not counts[0]:
        raise Failure(f"{counts[1]} results, not {counts[0]}")


def _write_records(folder: Path, n: int) -> None:
    """A table of names and years in blocks of 20 to 80, in any order, and a model that fits it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from supclust.data.records.comparisons import Comparison, RecordComparisons
    from supclust.model.trained import RECORDS, TrainedModel

    rng = np.random.default_rng(0)
    sizes = rng.integers(20, 81, n // 20 + 1)
    block = rng.permutation(np.repeat(np.arange(len(sizes)), sizes)[:n])
    person = 10 * block + rng.integers(0, 10, n)
    words = np.array([f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "lmnrst"])
    given = words[(person * 7919 + rng.integers(0, 2, n)) % len(words)]
    family = words[(person * 104_729) % len(words)]
    columns = {
        "id": np.arange(n),
        "block": np.char.add("b", block.astype(str)),
        "name": np.char.add(np.char.add(given, " "), family),
        "year": 1950.0 + person % 60 + rng.integers(0, 3, n),
    }
    pq.write_table(pa.table(columns), folder / "records.parquet")
    comparisons = RecordComparisons((Comparison("name", "text"), Comparison("year", "number")))
    names = comparisons.feature_names
    weight = np.linspace(-1.0, -0.2, len(names)).astype(np.float32)
    averages = {"average_weight": weight, "average_bias": np.float32(1.5)}
    weights = {**averages, "weight": weight, "bias": np.float32(1.5), "updates": np.int64(1)}
    TrainedModel(
        {"name": "linear", "kind": "pairs", "d": len(names)},
        {name: np.asarray(value) for name, value in weights.items()},
        "exp_alpha", names, "exp", -1.0, 1.0,
        record={RECORDS: {"comparisons": comparisons.to_json(), "block": "block", "id": "id"}},
    ).save(folder / "model")  # fmt: skip


def _write_edges(folder: Path, n: int) -> None:
    """A list of 2 n scored pairs of n records, in components of some ten."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    first = rng.integers(0, n, 2 * n)
    second = np.minimum(first - first % 12 + rng.integers(0, 12, 2 * n), n - 1)
    kept = first != second
    probability = np.round(rng.random(2 * n), 3)
    columns = {"id_a": first[kept], "id_b": second[kept], "probability": probability[kept]}
    pq.write_table(pa.table(columns), folder / "edges.parquet")


def write_bare_table(folder: Path) -> None:
    """Labelled persons without blocks, and a model of them, fitted here."""
    rng = np.random.default_rng(2)
    words = [f"{a}{b}{c}" for a in "bdfgkl" for b in "aeiou" for c in "mnrst"]
    lines = ["id,name,town,born,person"]
    for person in range(1_500):
        name, town = rng.choice(words, 2), rng.choice(words)
        for _ in range(3):
            shown = [word if rng.random() < 0.8 else word[:-1] for word in name]
            born = 1900 + person % 97 + int(rng.random() < 0.1)
            lines.append(f"r{len(lines)},{' '.join(shown)},{town},{born},{person}")
    (folder / "persons.csv").write_text("\n".join(lines) + "\n")
    run(supclust("fit", "persons.csv", "--label", "person", "-o", "persons_model"), folder)
