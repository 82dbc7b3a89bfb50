"""Labels as people have them: complete or partial, judged pairs, gaps, conditions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supclust.data.errors import DataError
from supclust.data.records.audit import audit_labels
from supclust.data.records.judged_pairs import read_judged_pairs
from supclust.data.records.labels import (
    blocks_note,
    choose_labelled,
    count_labels,
    distinct_note,
)
from supclust.data.records.table import ColumnChoice, Records, read_records
from supclust.data.records.where import Where

TABLE = """id,who,block,name,paper,year
1,a,x,ann,p1,1990
2,a,x,ann b,p2,1991
3,b,x,bob,p1,1992
4,,x,cy,p3,
5,a,y,ann,p2,1990
6,a,y,an,p2,1995
"""


@pytest.fixture
def records(tmp_path: Path) -> Records:
    (tmp_path / "t.csv").write_text(TABLE)
    return read_records(tmp_path / "t.csv", ColumnChoice("who", "block", distinct="paper"))


def test_pairs_are_counted_by_label_and_block(records: Records) -> None:
    counts = count_labels(records)
    labels, blocks = ["a", "a", "b", None, "a", "a"], "xxxxyy"
    pairs = [(i, j) for i in range(6) for j in range(i)]
    known = [(i, j) for i, j in pairs if labels[i] and labels[j]]
    together = [(i, j) for i, j in known if blocks[i] == blocks[j]]
    assert counts.same == sum(labels[i] == labels[j] for i, j in together)
    assert counts.strangers == sum(labels[i] != labels[j] for i, j in together)
    assert counts.apart == sum(labels[i] == labels[j] for i, j in known) - counts.same
    assert counts.mixed == 3
    assert "66.7 % are in different blocks" in str(blocks_note(counts))
    assert "3 labelled pairs of one cluster share" in str(distinct_note(records))
    assert records.distinct.tolist() == [0, 1, 0, 2, 1, 1]


def test_complete_or_partial(records: Records) -> None:
    counts = count_labels(records)
    assert choose_labelled("complete", counts) == (True, None)
    assert choose_labelled("partial", counts) == (False, None)
    complete, why = choose_labelled("auto", counts._replace(strangers=0, mixed=90))
    assert complete and "only 0 labelled pairs" in str(why)


@pytest.mark.parametrize(
    ("condition", "ids"),
    [("year<1992", "125"), ("year!=1990", "2346"), ("name=ann", "15"), ("paper >= p2", "2456"),
     ("year>=1992", "36")],
)  # fmt: skip
def test_conditions(condition: str, ids: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    choice = ColumnChoice("who", where=Where.parse(condition))
    assert "".join(read_records(tmp_path / "t.csv", choice).ids) == ids


def test_conditions_on_dates() -> None:
    columns = {"d": ["1990-12-31", "1.1.1991", None, "1991-06-01"], "n": [0, 1, 2, 3]}
    expected = {"d<1991": [0], "d>1990": [1, 3], "d<=1991-01": [0, 1], "d!=1990": [1, 2, 3]}
    for text, rows in expected.items():
        assert Where.parse(text).apply(columns, Path("t"))["n"] == rows, text


def test_conditions_that_are_none() -> None:
    with pytest.raises(DataError, match="a column, a sign and a value"):
        Where.parse("year")
    with pytest.raises(DataError, match="no record meets"):
        Where.parse("a=3").apply({"a": ["1"]}, Path("t"))
    with pytest.raises(DataError, match="holds numbers"):
        Where.parse("a=x").apply({"a": ["1"]}, Path("t"))


PAIRS = "id_a,id_b,match\n1,2,1\n2,1,yes\n3,1,no match\n4,5,\n6,1,0.0\n"


def test_judged_pairs(records: Records, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(PAIRS)
    pairs = read_judged_pairs(tmp_path / "p.csv", records.ids)
    assert pairs.left.tolist() == [0, 0, 0] and pairs.right.tolist() == [1, 2, 5]
    assert pairs.match.tolist() == [True, False, False] and pairs.skipped == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,c,match\n1,2,1\n", "need the columns id_a, id_b and match"),
        ("id_a,id_b,match\n1,9,1\n", "p.csv:2: there is no record with the id '9'"),
        ("id_a,id_b,match\n1,1,1\n", "of two records"),
        ("id_a,id_b,match\n1,2,perhaps\n", "an answer must be 1 or 0"),
        ("id_a,id_b,match\n1,2,1\n2,1,0\n", "p.csv:3: '2' and '1' match in one line"),
        ("id_a,id_b,match\n1,2,\n", "no pair with an answer"),
    ],
)
def test_judged_pairs_that_are_none(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read_judged_pairs(tmp_path / "p.csv", ["1", "2", "3"])


def test_ids_of_judged_pairs_must_be_unique(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("id_a,id_b,match\n1,2,1\n")
    with pytest.raises(DataError, match="several records have the id '1'"):
        read_judged_pairs(tmp_path / "p.csv", ["1", "2", "1"])


def write_reference(path: Path, rng: np.random.Generator, last: int) -> Path:
    """Blocks with one labelled cluster each, of which nothing is labelled after a year."""
    lines = ["who,block,year,place"]
    for block in range(40):
        for _ in range(50):
            year, own = int(rng.integers(2010, 2020)), rng.random() < 0.4
            label = f"c{block}" if own and year <= last else ""
            lines.append(f"{label},b{block},{year},{rng.choice(['here', 'there'])}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_reference_that_stops_is_found(tmp_path: Path, rng: np.random.Generator) -> None:
    path = write_reference(tmp_path / "t.csv", rng, last=2017)
    (gap,) = audit_labels(read_records(path, ColumnChoice("who", "block")))
    assert gap.column == "year" and gap.values == ("2018", "2019") and gap.labelled == 0
    assert gap.where == "year<2018" and "--where 'year<2018'" in str(gap)
    masked = ColumnChoice("who", "block", where=Where.parse(gap.where))
    assert audit_labels(read_records(path, masked)) == []


def test_a_reference_that_stops_is_found_without_blocks(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    path = write_reference(tmp_path / "t.csv", rng, last=2017)
    (gap,) = audit_labels(read_records(path, ColumnChoice("who", ignore=("block",))))
    assert gap.where == "year<2018"
    path = write_reference(tmp_path / "t.csv", rng, last=2020)
    assert audit_labels(read_records(path, ColumnChoice("who", ignore=("block",)))) == []


def test_a_few_large_entities_without_a_label_are_no_gap(tmp_path: Path) -> None:
    """Papers with 30 citations each: of a year with two papers, none may be labelled."""
    lines = ["who,title,year"]
    for paper in range(40):
        for k in range(30):
            lines.append(f"{'' if paper % 20 in (4, 5) else f'p{paper}'},t{k},{1980 + paper // 2}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    assert audit_labels(read_records(tmp_path / "t.csv", ColumnChoice("who"))) == []


def test_a_complete_reference_has_no_gap(tmp_path: Path, rng: np.random.Generator) -> None:
    path = write_reference(tmp_path / "t.csv", rng, last=2020)
    assert audit_labels(read_records(path, ColumnChoice("who", "block"))) == []


def test_a_column_that_is_different_in_every_record_names_the_records(tmp_path: Path) -> None:
    lines = [f"rec-{k},{k // 2},ann {k % 3}" for k in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["key,who,name", *lines]))
    found = read_records(tmp_path / "t.csv", ColumnChoice("who"))
    assert found.choice.id == "key" and found.ids[:2] == ["rec-0", "rec-1"]
    assert list(found.kinds) == ["name"]
    number = [line.removeprefix("rec-") for line in lines]
    (tmp_path / "n.csv").write_text("\n".join(["key,who,name", *number]))
    found = read_records(tmp_path / "n.csv", ColumnChoice("who"))
    assert found.choice.id == "key" and found.ids[:2] == ["0", "1"]
