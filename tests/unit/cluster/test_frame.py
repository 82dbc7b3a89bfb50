"""Clusters of data frames equal those of the same table in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from supclust import SupervisedHAC
from supclust.cluster import label_blocks
from supclust.cluster.table import cluster_table
from supclust.data.errors import DataError
from supclust.data.records.comparisons import Comparison, RecordComparisons
from supclust.data.records.ids import RepeatedIds
from supclust.model.trained import RECORDS, TrainedModel

CUT = {"linkage": "exp", "alpha": -1.0, "threshold": 1.0}


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    """Compares a name and a year; blocks are in column ``block``."""
    comparisons = RecordComparisons((Comparison("name", "text"), Comparison("year", "number")))
    names = comparisons.feature_names
    weight = np.linspace(-1.0, -0.2, len(names)).astype(np.float32)
    bias = np.float32(1.5)
    averages = {"average_weight": weight, "average_bias": bias}
    weights = {**averages, "weight": weight, "bias": bias, "updates": np.int64(1)}
    arrays = {name: np.asarray(value) for name, value in weights.items()}
    record = {RECORDS: {"comparisons": comparisons.to_json(), "block": "block", "id": "id"}}
    spec = {"name": "linear", "kind": "pairs", "d": len(names)}
    return TrainedModel(spec, arrays, "exp_alpha", names, **CUT, record=record)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    names = np.array(["ann lee", "ann b lee", "bo chan", "b chan", None], dtype=object)
    years = rng.choice([1990.0, 1991.0, 2005.0, np.nan], 60)
    blocks = rng.choice(["a", "b", "c"], 60)
    return pd.DataFrame(
        {"id": np.arange(60), "block": blocks, "name": rng.choice(names, 60), "year": years}
    )


def test_ids_of_several_records_are_counted(
    model: TrainedModel, frame: pd.DataFrame, tmp_path: Path
) -> None:
    for ids, repeated in ((frame["id"] // 2, RepeatedIds(30, "0", 2)), (frame["id"], None)):
        frame.assign(id=ids).to_parquet(tmp_path / "records.parquet")
        done = cluster_table(tmp_path / "records.parquet", model, tmp_path / "clusters.parquet")
        assert done.repeated == repeated


def test_a_frame_is_clustered_as_the_file_is(
    model: TrainedModel, frame: pd.DataFrame, tmp_path: Path
) -> None:
    frame.to_parquet(tmp_path / "records.parquet")
    cluster_table(tmp_path / "records.parquet", model, tmp_path / "clusters.parquet")
    written = pd.read_parquet(tmp_path / "clusters.parquet")["cluster"].to_numpy()
    labelled = label_blocks(frame, model)
    assert list(labelled.columns) == [*frame.columns, "cluster"]
    np.testing.assert_array_equal(labelled["cluster"], written)
    table = label_blocks(pa.Table.from_pandas(frame), model, by="block")
    np.testing.assert_array_equal(table["cluster"].to_numpy(), written)


def test_an_estimator_that_is_loaded_predicts_on_a_frame(
    model: TrainedModel, frame: pd.DataFrame, tmp_path: Path
) -> None:
    estimator = SupervisedHAC.load(model.save(tmp_path / "model"))
    expected = label_blocks(frame, model)["cluster"].to_numpy()
    np.testing.assert_array_equal(estimator.predict(frame), expected)
    np.testing.assert_array_equal(estimator.predict(frame, frame["block"]), expected)
    counts = estimator.predict(frame, n_clusters={"a": 2, "b": 1})
    assert len(set(counts[frame["block"] == "a"])) == 2
    assert len(set(counts[frame["block"] == "b"])) == 1
    assert estimator.score(frame, expected) == 1.0


def test_groups_of_pandas_are_clustered_one_by_one(
    model: TrainedModel, frame: pd.DataFrame
) -> None:
    whole = label_blocks(frame, model).set_index("id")["cluster"]
    for _, group in frame.groupby("block"):
        alone = label_blocks(group.drop(columns="block"), model).set_index("id")["cluster"]
        again = whole.loc[alone.index]
        pairs = set(zip(alone, again, strict=True))
        assert len(pairs) == alone.nunique() == again.nunique()


def test_a_frame_of_vectors(tmp_path: Path) -> None:
    spec = {"name": "mahalanobis", "kind": "vectors", "d": 2}
    weights = {"weight": np.eye(2, dtype=np.float32)}
    points = TrainedModel(spec, weights, "exp_alpha", ("x", "y"), **CUT).save(tmp_path / "model")
    frame = pd.DataFrame({"y": [0.0, 0.1, 0.0], "k": list("aab"), "x": [1.0, 1.2, 1.1]})
    assert label_blocks(frame, points, by="k")["cluster"].tolist() == [0, 0, 1]
    assert label_blocks(frame, points, n_clusters=3)["cluster"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="year"), "'year' is not there"),
        (lambda f: f.assign(cluster=1), "column 'cluster' already"),
        (lambda f: f.head(0), "has no records"),
        (lambda f: f.to_dict(), "received dict"),
        (lambda f: f.assign(block=None), "every record needs a block"),
    ],
)
def test_mistakes_are_explained(
    change, message: str, model: TrainedModel, frame: pd.DataFrame
) -> None:
    with pytest.raises((DataError, ValueError), match=message):
        label_blocks(change(frame), model)
