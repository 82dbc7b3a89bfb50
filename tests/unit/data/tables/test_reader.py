"""Tables in batches: every format gives the same, and writing is all or nothing."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from supclust.data.errors import DataError
from supclust.data.tables import formats
from supclust.data.tables.reader import numbers_of, open_table
from supclust.data.tables.writer import require_writable, write_table

ROWS = [("007", "Ann, Li", 1.5), ("8", "two\nlines", None), ("9", None, -2.0)]


def read(path: Path, **kinds: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [] for name in kinds}
    for batch in open_table(path).batches(kinds):
        for name in kinds:
            found[name] += batch.column(name).to_pylist()
    return found


def written(folder: Path, suffix: str) -> Path:
    path = folder / f"table{suffix}"
    if suffix == ".parquet":
        columns = {n: [row[i] for row in ROWS] for i, n in enumerate(("id", "name", "x"))}
        pq.write_table(pa.table(columns), path)
        return path
    separator = "\t" if "tsv" in suffix else ","
    lines = [separator.join(("id", "name", "x"))]
    for id, name, x in ROWS:
        quoted = "" if name is None else f'"{name}"'
        lines.append(separator.join((id, quoted, "" if x is None else str(x))))
    text = "\n".join(lines) + "\n"
    if suffix.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_every_format_gives_the_same(tmp_path: Path, suffix: str) -> None:
    found = read(written(tmp_path, suffix), x="number", id="text", name="text")
    assert found == {
        "x": [1.5, None, -2.0], "id": ["007", "8", "9"], "name": ["Ann, Li", "two\nlines", None]
    }  # fmt: skip


def test_npz_columns_and_matrices(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    np.savez(path, X=np.arange(6.0).reshape(3, 2), who=np.array(["a", "", "c"]))
    assert open_table(path).names == ("x1", "x2", "who")
    found = read(path, x2="number", who="text")
    assert found == {"x2": [1.0, 3.0, 5.0], "who": ["a", None, "c"]}


def test_parquet_lists_and_numbers_as_text(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(
        pa.table({"authors": [["a", "b"], ["c"]], "zip": [1, 2], "ok": [True, None]}), path
    )
    found = read(path, authors="text", zip="text", ok="number")
    assert found == {"authors": ["a\x1fb", "c"], "zip": ["1", "2"], "ok": [1.0, None]}


def test_numbers_of_slices_and_missing_values() -> None:
    column = pa.array([9.0, 1.0, None, 3.0]).slice(1)
    assert np.array_equal(numbers_of(column), [1.0, np.nan, 3.0], equal_nan=True)


def test_batches_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_BATCH_BYTES", 64)
    monkeypatch.setattr(formats, "BATCH_ROWS", 10)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i}\n" for i in range(100)))
    sizes = [batch.num_rows for batch in open_table(path).batches({"b": "number"})]
    assert sum(sizes) == 100 and max(sizes) < 30


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "is empty"),
        ("a.docx", "x", r"must end in \.csv.*; rename or convert it"),
        *(
            (f"a{end}", "x", r"save this \S+ file as CSV \(UTF-8\) in the spreadsheet program")
            for end in (".xls", ".xlsx", ".XLSX", ".ods")
        ),
        *(
            (
                "a.csv",
                f"id{mark}source{mark}flow\n1{mark}2,5{mark}3\n",
                "Separate columns by commas, or by tabs in a .tsv file",
            )
            for mark in (";", "|")
        ),
        ("a.csv", "a,a\n1,2\n", "distinct, 'a' is repeated"),
        ("a.parquet", "no parquet", "cannot be read"),
        ("a.npz", "no npz", "cannot be read"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(DataError, match=message) as refused:
        open_table(path)
    assert str(refused.value).startswith(str(path))


def test_the_marks_of_other_separators_may_be_in_one_of_several_names(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a;b,c\n1,2\n")
    assert open_table(path).names == ("a;b", "c")


def test_bad_columns_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,x\n")
    with pytest.raises(DataError, match=r"column 'c' not found; the columns are a, b\."):
        read(path, c="text")
    with pytest.raises(DataError, match="invalid value 'x'"):
        read(path, b="number")
    with pytest.raises(DataError, match="no such file"):
        open_table(tmp_path / "none.csv")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".npz"])
def test_what_is_written_is_read_again(tmp_path: Path, suffix: str) -> None:
    batch = pa.RecordBatch.from_pydict({"id": ['a,"b', "c\td"], "n": [1, 2]})
    path = tmp_path / f"new/out{suffix}"
    write_table(path, batch.schema, [batch, batch])
    assert read(path, id="text", n="number") == {
        "id": ['a,"b', "c\td"] * 2, "n": [1.0, 2.0] * 2
    }  # fmt: skip
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_failing_writer_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    batch = pa.RecordBatch.from_pydict({"id": ["a"]})

    def batches() -> Any:
        yield batch
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        write_table(path, batch.schema, batches())
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(DataError, match="the output must end in"):
        require_writable(tmp_path / "out.xlsx")


def test_what_programs_write_for_missing_values_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('name,age\nNA,1\n"N/A",NULL\nNadia,#N/A\n')
    table = open_table(path)
    batch = next(iter(table.batches({"name": "text", "age": "number"})))
    assert batch.column("name").to_pylist() == [None, None, "Nadia"]
    assert batch.column("age").to_pylist() == [1.0, None, None]
