"""``supclust data``: list, check, fetch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiment_runs import write_points
from supclust.cli import main as cli
from supclust.data.sets import fetch as fetching
from supclust.data.sets.download import FetchError


def test_list_says_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rexa").mkdir()
    (tmp_path / "rexa" / "something").touch()
    assert cli.main(["data", "list", "--data", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    states = {line.split()[0]: line.split()[1] for line in lines if not line.startswith(" ")}
    assert states["rexa"] == "real" and states["faces"] == "stand-in"
    assert states["vectors"] == "your"
    assert any(str(tmp_path / "rexa") in line for line in lines)


def test_check_reports_and_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "points.csv"
    lines = write_points(path).read_text().splitlines()
    path.write_text("\n".join(line.replace("who", "label") for line in lines) + "\n")
    assert cli.main(["data", "check", str(path)]) == 0
    assert "72 points" in capsys.readouterr().out
    path.write_text(path.read_text().replace("p3,", "p2,", 1))  # an id twice
    assert cli.main(["data", "check", str(path)]) == 2
    assert str(path) in capsys.readouterr().err
    assert cli.main(["data", "check", str(tmp_path / "nothing")]) == 2


def test_fetch_refuses_what_is_not_public_and_reports_failures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.main(["data", "fetch", "np_coref", "--data", str(tmp_path)]) == 2
    assert "not public" in capsys.readouterr().err

    def offline(*_: object, **__: object) -> None:
        raise FetchError("cannot reach it: is this machine offline?")

    monkeypatch.setattr(fetching, "fetch", offline)
    assert cli.main(["data", "fetch", "faces", "--data", str(tmp_path)]) == 1
    assert "offline" in capsys.readouterr().err
    report = fetching.FetchReport(tmp_path, 3, 1, ("jones_s",))
    monkeypatch.setattr(fetching, "fetch", lambda *_, **__: report)
    assert cli.main(["data", "fetch", "faces", "--data", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert "3 files downloaded, 1 were there" in captured.out and "jones_s" in captured.err


POINTS = "id,who,where,x,y\na1,Ann,room 1,0.5,1.2\na2,Ann,room 1,0.7,1.1\nb1,Bob,room 1,4.0,0.3\n"
RECORDS = (
    "id,author,name,title,year,none\n"
    "1,a,smith,of mice,1990,\n2,a,smith,and men,1991,\n3,,smith,more,,\n"
)
PAIRS = "block,id_a,id_b,same\nsmith,1,2,1\nsmith,1,3,0\nsmith,2,3,0\n"
LABELS = "block,id,label\nsmith,1,John\nsmith,2,John\nsmith,3,Jane\n"


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("points.csv", POINTS),
        ("records.csv", RECORDS),
        ("pairs.csv", PAIRS),
        ("labels.csv", LABELS),
        ("plain.csv", "a,Ann,1\nb,Ann,2\n"),
    ):
        Path(name).write_text(text)
    Path("semicolons.csv").write_text("who;name\na;Ann\na;Bo\n")
    Path("sheet.xlsx").write_bytes(b"PK")
    Path("latin.csv").write_text("who,name\na,Änn\na,Bö\n", encoding="latin-1")
    np.savez("points.npz", who=["a", "a", "b"], x=[1.0, 2.0, 3.0])
    folder = Path("blocks/smith")
    folder.mkdir(parents=True)
    (folder / "gtClusters.tsv").write_text("1\tJohn\n2\tJohn\n")
    (folder / "pairFeatures.csv").write_text("1,2,0.5\n")


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("points.csv --label who --block where", ["vectors: 1 block(s), 3 points", "2 features"]),
        ("points.csv --label who --ignore where,y", ["3 points, 2 clusters", "1 features"]),
        ("points.csv --label who --block where --columns x", ["1 features"]),
        (
            "points.csv --label who --block where --text x",
            ["x       text      0.0 %       3  0.5 | 0.7", "y       number"],
        ),
        (
            "records.csv --label author --block name",
            ["3 records, 2 with a label", "title   text", "33.3 %       2  1990 | 1991"],
        ),
        (
            "records.csv --label author",
            ["1 clusters; no blocks: supclust fit chooses which pairs of records are compared"],
        ),
        ("points.csv", ["no column of clusters is named", "who     text", "y       number"]),
        ("records.csv --where year<1991 --kind year=number", ["1 records", "year    number"]),
        ("points.npz --label who", ["3 records, 3 with a label", "x       number"]),
        ("pairs.csv --labels labels.csv", ["a table of pairs", "3 points, 2 clusters, 3 pairs"]),
        ("blocks --no-flag", ["2 points, 1 clusters, 1 pairs, 1 features"]),
    ],
)
def test_check_takes_the_options_of_fit(
    words: str, parts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["data", "check", *words.split()]) == 0
    shown = capsys.readouterr().out
    assert all(part in shown for part in parts), shown
    assert ("with a label" in shown) <= ("--label" in words)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("points.csv --label whom", "column 'whom' not found"),
        ("semicolons.csv --label who", "Separate columns by commas, or by tabs in a .tsv file"),
        ("semicolons.csv", "semicolons.csv:1: a header must separate columns by commas or tabs"),
        ("records.csv --label id", "column 'id' has no value twice (values: 3). Give records of"),
        ("records.csv --label none", "column 'none' has no value in any record. Fill in the"),
        (
            "records.csv --label author --block title",
            "in one block; column 'author' has them in different blocks only. Name another column "
            "of blocks than 'title'",
        ),
        ("points.csv --label id --ignore who,where", "each alone with its label. Give points"),
        ("sheet.xlsx", "save this .xlsx file as CSV (UTF-8) in the spreadsheet program"),
        ("latin.csv --label who", "save it as UTF-8"),
        ("points.csv --label who --block there", "column 'there' not found"),
        ("pairs.csv", "with --labels"),
        ("pairs.csv --labels labels.csv --label who", "--label is for records"),
        ("points.csv --labels labels.csv", "--labels goes with a table of pairs"),
        ("plain.csv --label who", "has no header that --label could mean"),
        ("blocks --label who", "--label goes with a table"),
        ("point.csv --label who", "Did you mean points.csv"),
    ],
)
def test_check_says_which_option_is_wrong(
    words: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["data", "check", *words.split()]) == 2
    assert part in capsys.readouterr().err
