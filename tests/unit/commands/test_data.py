"""``supclust data``: list, check, fetch."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiment_runs import write_points
from supclust import cli
from supclust.data import fetch as fetching
from supclust.data.download import FetchError


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
