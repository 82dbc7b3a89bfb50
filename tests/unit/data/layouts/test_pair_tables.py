from __future__ import annotations

import itertools

import pandas as pd
import pytest

from supclust.data import DataError, load_dataset
from supclust.data.layouts.pair_tables import read_pair_table

LABELS = pd.DataFrame({"block": list("ppppqq"), "id": list("abcdab"), "label": list("xxyzxx")})


def pairs() -> pd.DataFrame:
    rows = []
    for block, group in LABELS.groupby("block"):
        for k, (a, b) in enumerate(itertools.combinations(group["id"], 2)):
            rows.append((block, b, a, float(k), "text"))
    return pd.DataFrame(rows, columns=["block", "id_a", "id_b", "size", "why"])


def read(tmp_path, frame, labels=LABELS, suffix="csv", **options):
    paths = tmp_path / f"pairs.{suffix}", tmp_path / f"labels.{suffix}"
    for path, table in zip(paths, (frame, labels), strict=True):
        if suffix == "parquet":
            table.to_parquet(path)
        else:
            table.to_csv(path, index=False)
    return read_pair_table(*paths, **options)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_in_any_order_end_up_in_condensed_order(tmp_path, suffix):
    data = read(tmp_path, pairs().iloc[::-1], suffix=suffix)
    assert [block.name for block in data.blocks] == ["p", "q"] and data.unit == "block"
    assert data.blocks[0].features[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
    assert data.blocks[0].labels.tolist() == [0, 0, 1, 2] and data.feature_names == ("size",)
    assert len(data.notes) == 1 and "left out: why (" in data.notes[0]
    assert read(tmp_path, pairs(), suffix=suffix, ignore=["why"]).notes == ()


def test_one_block_needs_no_block_column(tmp_path):
    frame, labels = pairs(), LABELS
    data = read(
        tmp_path,
        frame[frame["block"] == "p"].drop(columns="block"),
        labels[labels["block"] == "p"].drop(columns="block"),
    )
    assert len(data.blocks) == 1 and data.unit == "cluster"


def test_mistakes_are_reported(tmp_path):
    frame = pairs()
    with pytest.raises(
        DataError, match=r"pairs.csv:4: block 'p': id 'e' has no label in .*labels.csv"
    ):
        read(tmp_path, frame.replace({"id_a": {"d": "e"}}))
    repeated = pd.concat([frame, frame.iloc[[0]]])
    with pytest.raises(DataError, match=r"pairs.csv:9: block 'p': the pair 'b', 'a' is repeated"):
        read(tmp_path, repeated)
    with pytest.raises(DataError, match=r"'p': 1 of 6 pairs are missing, the first is 'a', 'c'"):
        read(tmp_path, frame.drop(index=1))
    with pytest.raises(
        DataError, match=r"pairs.csv:2: block 'p': a pair needs two different points"
    ):
        read(tmp_path, frame.assign(id_a=frame["id_b"]))
    with pytest.raises(DataError, match=r"labels.csv:8: id 'a' is repeated in block 'p'"):
        read(tmp_path, frame, pd.concat([LABELS, LABELS.iloc[[0]]]))
    with pytest.raises(DataError, match="column 'id_b' not found"):
        read(tmp_path, frame.drop(columns="id_b"))
    with pytest.raises(DataError, match="no numeric feature column"):
        read(tmp_path, frame.drop(columns="size"))
    mixed = frame.astype({"size": str})
    mixed.loc[3, "size"] = "large"
    with pytest.raises(
        DataError, match=r"pairs.csv:5: column 'size' must hold numbers; received 'large'; correct"
    ):
        read(tmp_path, mixed)
    holes = frame.copy()
    holes.loc[2, "size"] = None
    with pytest.raises(DataError, match=r"pairs.csv:4: column 'size' must be finite"):
        read(tmp_path, holes)


def test_points_without_a_label_are_strangers_where_clusters_are_complete(tmp_path):
    labels = LABELS.assign(label=["x", "x", None, None, "x", "x"])
    with pytest.raises(DataError, match="column 'label' is empty"):
        read(tmp_path, pairs(), labels)
    first, second = read(tmp_path, pairs(), labels, labelled="complete").blocks
    assert first.known_labels.tolist() == [0, 0, -1, -1] and first.n_clusters == 3
    assert second.strangers is None
    with pytest.raises(DataError, match=r"dataset\.labelled belongs to a table of pairs"):
        load_dataset("pairs", path=tmp_path, labelled="complete")
