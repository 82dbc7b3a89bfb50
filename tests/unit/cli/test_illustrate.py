"""``supclust illustrate``: files, numbers on the terminal, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from supclust.cli import main as cli

PNG = b"\x89PNG\r\n\x1a\n"


def test_it_writes_both_formats_and_prints_the_numbers(tmp_path, capsys):
    out = tmp_path / "new" / "folder"
    assert cli.main(["illustrate", "mismatch", "-o", str(out), "--seed", "1"]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["mismatch.png", "mismatch.svg"]
    assert (out / "mismatch.png").read_bytes().startswith(PNG)
    assert ElementTree.parse(out / "mismatch.svg").getroot().tag.endswith("svg")
    said = capsys.readouterr().out.splitlines()
    assert said[1].startswith("mst        single linkage, best cut: pairwise F1 1.000")
    assert said[2:] == [str(out / "mismatch.png"), str(out / "mismatch.svg")]
    # Nothing in the files depends on the time or the run.
    first = [path.read_bytes() for path in sorted(out.iterdir())]
    assert cli.main(["illustrate", "mismatch", "-o", str(out), "--seed", "1"]) == 0
    assert [path.read_bytes() for path in sorted(out.iterdir())] == first


def test_shapes_without_real_data_says_so(tmp_path, capsys):
    arguments = ["illustrate", "shapes", "-o", str(tmp_path), "--format", "png"]
    assert cli.main([*arguments, "--data", str(tmp_path / "none")]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["shapes.png"]
    said = capsys.readouterr().out
    assert said.startswith("generated points: no real set below --data")
    assert "supclust data fetch shapes2d" in said and "learned" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "pdf"], "--format must be one or more of png, svg"),
        (["--format", ","], "--format must be one or more of png, svg"),
        (["--seed", "-1"], "--seed must be at least 0"),
        (["-o", "FILE"], "-o needs a folder"),
    ],
)
def test_mistakes_are_told_before_anything_is_computed(tmp_path, capsys, arguments, message):
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    given = [str(file) if word == "FILE" else word for word in arguments]
    assert cli.main(["illustrate", "mismatch", *given]) == 2
    assert message in capsys.readouterr().err
    assert list(Path(tmp_path).iterdir()) == [file]
