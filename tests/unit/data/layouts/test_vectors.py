from __future__ import annotations

import gzip
import re

import numpy as np
import pandas as pd
import pytest

from supclust.data import DataError, load_dataset
from supclust.data.layouts.vectors import read_vectors

FRAME = pd.DataFrame(
    {
        "id": ["007", "7", "x", "y"],
        "label": ["a", "b", "a", "a"],
        "block": [1, 1, 2, 2],
        "height": [1.5, 2.0, -3.25, 1e-3],
        "note": ["p", "q", "r", "s"],
        "tall": [True, False, True, False],
    }
)


def save(path, frame=FRAME):
    suffix = "".join(path.suffixes)
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, sep="\t" if "tsv" in suffix else ",", index=False)
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.tsv.gz", "t.parquet"])
def test_tables_with_a_header(tmp_path, name):
    data = read_vectors(save(tmp_path / name))
    assert data.source == "file" and data.unit == "block"
    assert data.feature_names == ("height", "tall")
    (note,) = data.notes
    assert note.startswith("columns of text are no features and are left out: note (")
    assert "dataset.ignore=[note]" in note
    first, second = data.blocks
    assert (first.name, second.name) == ("1", "2")
    assert first.ids == ("007", "7") and first.cluster_names == ("a", "b")
    assert second.features.tolist() == [[-3.25, 1.0], [1e-3, 0.0]]
    assert second.labels.tolist() == [0, 0]


def test_an_index_of_pandas_is_no_feature(tmp_path):
    path = tmp_path / "t.parquet"
    FRAME.iloc[[3, 0, 2]].to_parquet(path)
    assert read_vectors(path).feature_names == ("height", "tall")


def test_nan_is_no_label(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"label": [1.0, float("nan")], "x": [1.0, 2.0]}), path)
    with pytest.raises(DataError, match="column 'label' is empty"):
        read_vectors(path)


def test_numbers_are_read_to_the_last_bit(tmp_path, rng):
    x = rng.normal(size=500) * 10.0 ** rng.integers(-30, 30, 500)
    lines = [f"a, {v!r} ,{i % 2 == 0}" for i, v in enumerate(x.tolist())]
    path = tmp_path / "t.csv"
    path.write_text("\n\nlabel,x,even\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    points = read_vectors(path).blocks[0].features
    assert np.array_equal(points[:, 0], x)
    assert points[:, 1].tolist() == [1.0, 0.0] * 250


def test_columns_can_be_chosen(tmp_path):
    path = save(tmp_path / "t.csv", FRAME.rename(columns={"label": "who", "id": "key"}))
    data = read_vectors(path, label="who", id="key", block="note", features=["height"])
    assert len(data.blocks) == 4 and data.feature_names == ("height",) and data.notes == ()
    with pytest.raises(DataError, match="column 'label' not found; the columns are key, who"):
        read_vectors(path)
    with pytest.raises(DataError, match="column 'width' not found"):
        read_vectors(path, label="who", features=["width"])


def test_without_a_block_column_clusters_are_split(tmp_path):
    data = read_vectors(save(tmp_path / "t.csv", FRAME[["label", "height"]]))
    assert data.unit == "cluster" and data.blocks[0].ids == ("0", "1", "2", "3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label,x\na,here\nb,there\n", r"t.csv: no numeric feature column"),
        ("label,x\na,1\nb,\n", r"t.csv:3: column 'x' must be finite; received nan"),
        ("label,x\na,1\n\nb,inf\n", r"t.csv:4: column 'x' must be finite; received inf"),
        ("label,x\na,1\nb,NA\n", r"t.csv:3: column 'x' must be finite; received nan"),
        ("label,x\na,1\n,2\n", r"t.csv:3: column 'label' is empty"),
        ("id,label,x\n1,a,1\n1,b,2\n", r"t.csv:3: id '1' is repeated"),
        ("label,x,x\na,1,2\n", r"t.csv:1: column names must be distinct"),
        ("label,x\na,1\nb,2,3\n", r"t.csv:3: expected 2 fields as in the header; received 3"),
        ("label,x\n", r"t.csv: has a header but no rows"),
        ("", r"t.csv: is empty"),
    ],
)
def test_mistakes_are_reported_with_file_and_line(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_vectors(path)


@pytest.mark.parametrize("text", ["oops", "?", "1,5", "12 kg", "2020-01-01"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv.gz", "t.parquet"])
def test_text_among_the_numbers_of_a_feature_is_a_mistake(tmp_path, text, name):
    frame = pd.DataFrame({"label": list("aab"), "x": ["1", "2.5", text], "y": [1.0, 2.0, 3.0]})
    path = save(tmp_path / name, frame)
    place = "t.parquet: " if name == "t.parquet" else f"{name}:4: "
    message = re.escape(
        f"{place}column 'x' must hold numbers; received {text!r}; correct the cell, or "
    )
    with pytest.raises(DataError, match=message + r"leave the column out with dataset.ignore=\[x"):
        read_vectors(path)
    data = read_vectors(path, ignore=["x"])
    assert data.feature_names == ("y",) and data.notes == ()
    assert read_vectors(path, features=["y"]).feature_names == ("y",)


def test_columns_to_ignore(tmp_path):
    path = save(tmp_path / "t.csv")
    data = read_vectors(path, ignore=["note", "tall", "id"])
    assert data.feature_names == ("height",) and data.notes == ()
    assert data.blocks[0].ids == ("0", "1")
    with pytest.raises(DataError, match="column 'width' not found; the columns are id, label"):
        read_vectors(path, ignore=["width"])
    with pytest.raises(DataError, match="column 'label' not found"):
        read_vectors(path, ignore=["label"])
    with pytest.raises(DataError, match=r"either dataset.features or dataset.ignore"):
        read_vectors(path, features=["height"], ignore=["note"])


def test_names_that_look_like_no_number_but_parse_are_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("label,who,x\na,Nan,1\nb,Inf,2\n")
    data = read_vectors(path)
    assert data.feature_names == ("x",) and "left out: who" in data.notes[0]


def test_a_chosen_feature_has_to_be_a_number(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("label,x\na,1\nb,oops\n")
    with pytest.raises(DataError, match=r"t.csv:3: column 'x' must hold numbers; received 'oops'"):
        read_vectors(path, features=["x"])


@pytest.mark.parametrize("separator", ["\t", " ", ","])
def test_authors_layout(tmp_path, separator):
    rows = ["0 12 1.5 -2", "1 12 0 0", "2 3 7 1e2"]
    path = tmp_path / "faceData.tsv"
    path.write_text("\n".join(rows).replace(" ", separator))
    data = read_vectors(path)
    block = data.blocks[0]
    assert block.ids == ("0", "1", "2") and block.cluster_names == ("12", "3")
    assert block.features.tolist() == [[1.5, -2], [0, 0], [7, 100]] and data.unit == "cluster"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 2.0\n1 1 x\n", r":2: field 3 must be a finite number; received 'x'"),
        ("0 1 2.0\n1 1 2.0 3.0\n", r":2: expected 3 fields .* received 4"),
        ("0 1 2.0\n0 1 3.0\n", r":2: id '0' is repeated"),
    ],
)
def test_mistakes_in_the_authors_layout(tmp_path, text, message):
    path = tmp_path / "t.tsv.gz"
    with gzip.open(path, "wt") as stream:
        stream.write(text)
    with pytest.raises(DataError, match=message):
        read_vectors(path)


def test_npz(tmp_path, rng):
    path = tmp_path / "t.npz"
    X = rng.normal(size=(4, 3)).astype(np.float32)
    np.savez(path, X=X, y=[1, 1, 2, 2], groups=["p", "p", "q", "q"])
    data = read_vectors(path)
    assert [block.name for block in data.blocks] == ["p", "q"]
    assert data.blocks[0].features.dtype == np.float32
    assert np.array_equal(data.blocks[1].features, X[2:])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"y": [1]}, "needs an array features or X or x, holds y"),
        ({"X": [[1.0]]}, "needs an array labels"),
        ({"X": [1.0], "y": [1]}, r"shape \(n, d\)"),
        ({"X": [[1.0]], "y": [1, 2]}, r"labels must have one entry per row, shape \(1,\)"),
        ({"X": [[1.0], [np.nan]], "y": [1, 2]}, "row 1 is not"),
    ],
)
def test_mistakes_in_npz(tmp_path, arrays, message):
    path = tmp_path / "t.npz"
    np.savez(path, **arrays)
    with pytest.raises(DataError, match=message):
        read_vectors(path)


def test_pickled_arrays_are_not_loaded(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=np.array([{"a": 1}], dtype=object), y=[1])
    with pytest.raises(DataError, match="cannot be read"):
        read_vectors(path)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_vectors(tmp_path / "t.csv")
    (tmp_path / "t.docx").write_text("x")
    with pytest.raises(DataError, match=r"a table must end in \.csv"):
        read_vectors(tmp_path / "t.docx")


def test_rows_without_a_label_are_strangers_where_clusters_are_complete(tmp_path):
    frame = FRAME.assign(label=["a", None, "a", None])
    path = save(tmp_path / "t.csv", frame)
    with pytest.raises(DataError, match="column 'label' is empty"):
        read_vectors(path)
    options = {"path": path, "cache_dir": tmp_path / "cache", "labelled": "complete"}
    for _ in range(2):  # built, then from the cache
        first, second = load_dataset("vectors", **options).blocks
        assert first.known_labels.tolist() == second.known_labels.tolist() == [0, -1]
        assert first.strangers.tolist() == [False, True] and first.n_clusters == 2
    np.savez(tmp_path / "t.npz", X=np.zeros((2, 1)), y=["a", "b"])
    with pytest.raises(DataError, match="needs a table with a column of labels"):
        read_vectors(tmp_path / "t.npz", labelled="complete")


def test_numbers_as_labels_are_the_same_with_and_without_gaps(tmp_path):
    path = save(tmp_path / "t.parquet", FRAME.assign(label=[3.0, np.nan, 3.0, 4.0]))
    data = read_vectors(path, labelled="complete")
    assert [block.cluster_names[0] for block in data.blocks] == ["3", "3"]
