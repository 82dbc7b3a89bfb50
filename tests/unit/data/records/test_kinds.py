"""Kinds of columns, inferred from what they hold."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from supclust.data.errors import DataError
from supclust.data.records.dates import date_order, day_numbers, is_plausible, parse_date
from supclust.data.records.kinds import checked_kinds, infer_kind
from supclust.data.records.table import UNKNOWN, ColumnChoice, read_records

N = 40
MISTYPED = [
    *(f"18{i}-0{1 + i % 9}-{10 + i % 19}" for i in range(40, 80)),
    *(f"18{i}-{20 + i % 9}-{10 + i % 19}" for i in range(40, 60)),
]
WIDE = [str(70000 + 37 * i % 25000) for i in range(N)]


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("year", ["1990", "1985", None, "2001"], "date"),
        ("published", ["1990", "1985", "2001"], "date"),  # integers between 1800 and 2100
        ("year", ["1995,", "1993.", "(1994)"], "date"),
        ("born", ["1990-01-31", "1991-02-28"], "date"),
        ("born", ["31/01/1990", "28/02/91"], "date"),
        ("born", ["01/31/1990", "02/28/1991"], "date"),
        ("born", ["31 Jan 1990", "Feb 28, 1991", "March 1992"], "date"),
        ("born", ["19900131", "19910228", "19920301"], "date"),
        ("born", ["1990-01-31 00:00:00", "1991-02-28T10:00"], "date"),
        ("born", ["31-JAN-90", "28-Feb-91 00:00:00"], "date"),
        ("expires", ["01/1990", "12/1991"], "date"),
        ("dob", MISTYPED, "date"),  # a third of the distinct values
        ("dob", [*MISTYPED, "unknown", "0000-00-00", "-1836-01-0"], "date"),
        ("dob", [one.replace("-", "") for one in MISTYPED], "date"),
        ("dob", ["/".join(reversed(one.split("-"))) for one in MISTYPED], "date"),
        ("code", [f"{1000 + 97 * i}-{i:02d}-{7 * i % 100:02d}" for i in range(10, 90)] * 2, "code"),
        ("sort", [f"{i}-{7 * i % 100:02d}-{3 * i % 100:02d}" for i in range(10, 90)] * 2, "code"),
        ("number", [f"{10000000 + 997 * i}" for i in range(10, 90)] * 2, "code"),
        ("place", [*(str(1500 + 97 * i) for i in range(20)), "20a7"] * 2, "code"),  # four digits
        ("zip", ["1234", "99"], "code"),
        ("plz", ["01234", "9900"], "code"),  # a zero in front
        ("number", ["01234", "99001"], "code"),
        ("where", WIDE + WIDE, "code"),  # five digits, always
        ("phone", ["(030) 555-1234", "+49 30 5551234"], "code"),
        ("ssn", ["123-45-6789", "987-65-4321"], "code"),
        ("postcode", ["TQ13 8DF", "SW1A 1AA", "E1 6AN"], "code"),
        ("part", ["A-1201", "B-77"], "code"),
        ("price", ["9.99", "120", "3"], "number"),
        ("age", ["31", "7", "102"], "number"),
        ("temperature", ["-3", "4", "20"], "number"),
        ("name", ["Ann Li", "Bob"], "text"),
        ("address", ["12 Main Street", "4 High Street"], "text"),
        ("tags", ["red; green", "green|blue", "red;"], "list"),
        ("at", ["48.137, 11.575", "-33.87,151.21"], "coordinates"),
        ("abstract", ["word " * 40, "other " * 30], "document"),
        ("nothing", [None, " ", ""], "empty"),
        ("country", ["US"] * N, "constant"),
        ("uid", [f"Q{i}-{i % 7}" for i in range(N)], "id"),
        ("row", [str(i) for i in range(N)], "id"),
        ("Unnamed: 0", [str(2 * i) for i in range(N)], "id"),
        ("weight", [str(i * i) for i in range(N)], "number"),  # unique, but not counted through
        ("full_name", [f"{chr(97 + i % 26)}nn {chr(97 + i // 26)}ob" for i in range(N)], "text"),
    ],
)
def test_kinds(name: str, values: list[str | None], kind: str) -> None:
    assert infer_kind(name, values) == kind


def test_lists_of_parquet_are_lists() -> None:
    assert infer_kind("tags", ["a", "b"], is_list=True) == "list"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1990-12-01", (1990, 12, 1)),
        ("1990/2/3", (1990, 2, 3)),
        ("1990-12", (1990, 12, 0)),
        ("1.12.1990", (1990, 12, 1)),
        ("12/13/1990", (1990, 12, 13)),  # there is no month 13
        ("13/12/90", (1990, 12, 13)),
        ("1/2/05", (2005, 2, 1)),
        ("1st December 1990", (1990, 12, 1)),
        ("DEC. 1, 1990", (1990, 12, 1)),
        ("Sept 1990", (1990, 9, 0)),
        ("19901201", (1990, 12, 1)),
        ("01-DEC-90", (1990, 12, 1)),
        ("1-Dec-05 10:30", (2005, 12, 1)),
        ("1 Dec 1990 10:30", (1990, 12, 1)),
        ("12/1990", (1990, 12, 0)),
        ("1990.0", (1990, 0, 0)),
        ("(1990),", (1990, 0, 0)),
        ("1990-13-40", (1990, 13, 40)),  # a typing error is kept
        ("foo 1990", None),
        ("199", None),
        ("", None),
    ],
)
def test_dates_are_read(text: str, parts: tuple[int, int, int] | None) -> None:
    assert parse_date(text) == parts


def test_the_order_of_days_and_months() -> None:
    assert parse_date("1/2/1990", "month first") == (1990, 1, 2)
    assert date_order(["1/2/1990"]) == "day first"
    assert date_order(["1/2/1990", "1/31/1990"]) == "month first"
    assert not is_plausible((1990, 13, 1))


def test_days_are_those_of_the_calendar() -> None:
    dates = np.array([[1970, 1, 1], [1972, 3, 1], [1990, 0, 0], [-1, 0, 0], [1990, 13, 40]])
    days = day_numbers(dates)
    assert days[0] == 0 and days[1] == 790
    assert days[2] == (np.datetime64("1990-07-01") - np.datetime64("1970-01-01")).astype(int)
    assert np.isnan(days[3]) and np.isfinite(days[4])


ROWS = {
    "who": ["a", "", None, " ", "b", "a"],
    " name ": ["Ann", "Bob", "", None, "Cy", "ann"],
    "zip": ["01", "02", "", None, "03", "01"],
}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "npz"])
def test_empty_and_null_are_missing_in_every_format(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"table.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table(ROWS), path)
    elif suffix == "npz":
        np.savez(path, **{k: np.array([v or "" for v in values]) for k, values in ROWS.items()})
    else:
        mark = "," if suffix == "csv" else "\t"
        lines = [mark.join(ROWS), *(mark.join(v or "" for v in r) for r in zip(*ROWS.values()))]  # noqa: B905
        path.write_text("\n".join(lines) + "\n")
    records = read_records(path, ColumnChoice("who", columns=("name", "zip")))
    assert records.labels.tolist() == [0, UNKNOWN, UNKNOWN, UNKNOWN, 1, 0]
    assert records.kinds == {"name": "text", "zip": "code"}
    assert [one.missing for one in records.columns] == [2, 2]


def test_parquet_types_as_they_come(tmp_path: Path) -> None:
    n = 30
    table = pa.table({
        "label": pa.array([None if i % 3 else float(i // 6) for i in range(n)]),
        "year": pa.array([1990 + i % 9 for i in range(n)]),
        "zip": pa.array([float(10000 + 7 * (i // 2)) for i in range(n)]),
        "born": pa.array([date(1990, 1, 1 + i) for i in range(n)]),
        "tags": pa.array([["a", None, "b"], ["c"], [None]] * (n // 3)),
        "size": pa.array([1.5 * i for i in range(n)]),
        "__index_level_0__": pa.array(range(n)),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "t.parquet")
    records = read_records(tmp_path / "t.parquet", ColumnChoice("label"))
    assert records.kinds == {"year": "date", "zip": "code", "born": "date", "tags": "list",
                             "size": "number"}  # fmt: skip
    assert records.label_names == ("0", "1", "2", "3", "4")
    assert records.values["zip"][0] == "10000" and records.values["year"][0] == "1990"
    tags = next(one for one in records.columns if one.name == "tags")
    assert tags.missing == 10 and tags.distinct == 2


def test_kinds_that_a_person_chooses(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,a,b\nx,1990,10\ny,1991,020\n")
    chosen = ColumnChoice("who", kinds={"a": "number"}, text=("b",))
    records = read_records(tmp_path / "t.csv", chosen)
    assert records.kinds == {"a": "number", "b": "text"}
    assert records.values["a"].tolist() == [1990.0, 1991.0]
    with pytest.raises(DataError, match="a kind must be one of text, document"):
        checked_kinds({"a": "colour"})
    (tmp_path / "t.csv").write_text("who,a\nx,many\ny,1991\n")
    with pytest.raises(DataError, match=r"t.csv:2: column 'a' was to be numbers.*'many'"):
        read_records(tmp_path / "t.csv", ColumnChoice("who", kinds={"a": "number"}))
