"""The page of results says what the committed files say, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from supclust.data.files import read_json
from supclust.experiment.reproduction import FOLDER, PAGE, REGIONS, filled
from supclust.tables.split_scores import COLUMNS, read_folder

DOCS = Path(__file__).parents[3] / "docs"


def test_the_tables_of_the_page_are_those_of_the_committed_files() -> None:
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    assert all(f"<!-- begin {name} -->" in page for name in ("runs", "distances", "paper"))
    assert filled(page, DOCS / FOLDER) == page, "run `supclust table OUTPUTS --publish docs`"


def test_every_committed_file_has_its_provenance_and_is_of_real_data() -> None:
    paths = sorted((DOCS / FOLDER).glob("*.csv"))
    assert paths
    for path in paths:
        content = read_json(path.with_suffix(".json"))
        assert content is not None and content["dataset"] == path.stem
        assert content["source"] == ["real"] and content["sessions"]
        assert all("/" not in str(session["machine"]) for session in content["sessions"])
    assert {result["source"] for result in read_folder(DOCS / FOLDER)} == {"real"}


def test_a_changed_score_changes_the_page(tmp_path: Path) -> None:
    page = "x\n<!-- begin paper -->\n<!-- end paper -->\ny\n"
    assert "No results yet." in filled(page, tmp_path)
    header, row = ",".join(COLUMNS), "faces,real,mst,{},0,{},0.5,,9"
    for score in ("0.111", "0.222"):
        rows = [row.format(linkage, score) for linkage in ("single", "exp")]
        (tmp_path / "faces.csv").write_text("\n".join([header, *rows]) + "\n")
        text = filled(page, tmp_path)
        assert f"{100 * float(score):.1f}" in text
        assert filled(text, tmp_path) == text
        assert text.startswith("x\n<!-- begin paper -->\n") and text.endswith("-->\ny\n")


def test_an_unknown_region_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"regions of results\.md are paper, .*received 'papr'"):
        filled("<!-- begin papr -->\n<!-- end papr -->\n", tmp_path)
    assert set(REGIONS) == {"paper", "intervals", "against", "distances", "runs"}
